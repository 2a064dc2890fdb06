# Usage: http.sh PORT PATH. Succeeds when this container answers PATH with 200.
# Bash alone, because the images have no HTTP client in common.
exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 1
printf 'GET %s HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' "$2" >&3
read -r -t 4 _ status _ <&3 && [ "$status" = 200 ]
