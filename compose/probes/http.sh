# Usage: http.sh PORT PATH [USERS]. Succeeds when this container answers PATH with 200. USERS is a
# file of which the first line, `user=password`, is the login.
# Bash alone, because the images have no HTTP client in common.
login=
if [ -n "${3:-}" ]; then
  IFS='=' read -r user password <"$3" || exit 1
  login="Authorization: Basic $(printf '%s:%s' "$user" "$password" | base64 -w 0)"$'\r\n'
fi
exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 1
printf 'GET %s HTTP/1.0\r\nHost: 127.0.0.1\r\n%s\r\n' "$2" "$login" >&3
# To its end: who hangs up early leaves an error in the server's log.
read -r _ status _ < <(timeout 4 cat <&3 | tr -d '\0') && [ "$status" = 200 ]
