# Usage: mysql.sh PORT.
# Succeeds when MySQL greets a client on the network: protocol 10 follows the 4 bytes of the
# packet's header. While it initialises itself it listens on its socket only, and a server that
# refuses clients answers with an error packet instead.
exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 1
greeting=$(timeout 4 head -c 5 <&3 | tail -c 1 | od -An -tu1)
[ "${greeting//[[:space:]]/}" = 10 ]
