# Usage: cache.sh PORT FILE. Succeeds when the server takes the password of FILE, `requirepass …`, and
# answers. Bash alone: the image that is built here has no client.
read -r _ password <"$2" || exit 1
exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 1
printf 'AUTH %s\r\nPING\r\nQUIT\r\n' "$password" >&3
timeout 4 cat <&3 | grep -q '^+PONG'
