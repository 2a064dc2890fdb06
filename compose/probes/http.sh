# Usage: http.sh PORT PATH. Succeeds when this container answers PATH with 200.
# Bash alone, because the images have no HTTP client in common.
exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 1
printf 'GET %s HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' "$2" >&3
# To its end: who hangs up early leaves an error in the server's log.
read -r _ status _ < <(timeout 4 cat <&3 | tr -d '\0') && [ "$status" = 200 ]
