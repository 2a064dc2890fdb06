#!/usr/bin/env bash
# Makes the data folder the first time, as the official image does, then becomes the server.
set -euo pipefail

if [ "$(id -u)" = 0 ]; then
  chown mysql /var/lib/mysql
  exec setpriv --reuid=mysql --regid=mysql --init-groups -- bash "$0" "$@"
fi

data=/var/lib/mysql/data
libraries=/opt/mysql/usr/lib/x86_64-linux-gnu
mysqld=("$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" /opt/mysql/usr/sbin/mysqld
  --no-defaults --socket=mysql.sock --pid-file=mysql.pid)
options=("${@:2}")

initialise() {
  # Under another name until it is whole: an interrupted start leaves nothing to trip over.
  local new=$data.new sql=/tmp/init.sql script
  rm -rf "$new"
  mkdir "$new"
  (umask 077 && : >"$sql")
  # There is no client in this image: the server reads the statements while it initialises.
  docker_process_sql() { cat >>"$sql"; }
  docker_process_sql <<SQL
ALTER USER 'root'@'localhost' IDENTIFIED BY '$(cat "$MYSQL_ROOT_PASSWORD_FILE")';
CREATE DATABASE $MYSQL_DATABASE;
SQL
  for script in /docker-entrypoint-initdb.d/*.sh; do
    # shellcheck disable=SC1090 # scripts are mounted
    . "$script"
  done
  "${mysqld[@]}" "${options[@]}" --datadir="$new" --initialize-insecure --init-file="$sql" \
    --skip-log-bin
  rm "$sql"
  # Else a power cut could leave the new name, and not what is in the files.
  sync --file-system "$new"
  mv "$new" "$data"
  sync "$(dirname "$data")"
}
[ -d "$data" ] || initialise
exec "${mysqld[@]}" "${options[@]}" --datadir="$data"
