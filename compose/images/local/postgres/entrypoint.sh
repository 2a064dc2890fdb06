#!/usr/bin/env bash
# Makes the data folder the first time, as the official image does, then becomes the server.
set -euo pipefail

if [ "$(id -u)" = 0 ]; then
  chown postgres /var/lib/postgresql
  exec setpriv --reuid=postgres --regid=postgres --init-groups -- bash "$0" "$@"
fi

socket=/tmp
initialise() {
  # Under another name until it is whole: an interrupted start leaves nothing to trip over.
  local new=$PGDATA.new script
  rm -rf "$new"
  mkdir -p "$(dirname "$new")"
  # shellcheck disable=SC2086 # the arguments are several words
  initdb --pgdata="$new" --username="$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" \
    --auth-local=trust ${POSTGRES_INITDB_ARGS:-}
  echo "host all all all scram-sha-256" >>"$new/pg_hba.conf"
  pg_ctl --pgdata="$new" --wait -o "-c listen_addresses= -c unix_socket_directories=$socket" start
  export PGHOST=$socket
  createdb --username="$POSTGRES_USER" "$POSTGRES_DB"
  for script in /docker-entrypoint-initdb.d/*.sh; do
    bash -e "$script"
  done
  unset PGHOST
  pg_ctl --pgdata="$new" --wait --mode=fast stop
  # Else a power cut could leave the new name, and not what is in the files.
  sync --file-system "$new"
  mv "$new" "$PGDATA"
  sync "$(dirname "$PGDATA")"
}
[ -s "$PGDATA/PG_VERSION" ] || initialise
exec "$@" --data-directory="$PGDATA" --config-file="$PGDATA/postgresql.conf" \
  --unix-socket-directories="$socket"
