# Usage: kafka.sh PORT.
# Succeeds when the broker answers a request. It opens its port to clients only once it has
# registered with the controller, and a Java client for every look would keep a core busy.
exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 1
# ApiVersions (18), version 0, correlation id 1, no client id: 10 bytes after their length.
printf '\0\0\0\012\0\022\0\0\0\0\0\001\377\377' >&3
# The answer begins with a length of 4 bytes.
answer=$(timeout 4 head -c 4 <&3 | wc -c)
[ "$answer" -eq 4 ]
