# Run once, when the data folder is made; labctl's setup (labctl/services/postgres.py) does the same
# on a server that it starts. Passwords come from files, never from the command line.
psql --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname=postgres <<SQL
CREATE ROLE debezium LOGIN REPLICATION PASSWORD '$(cat /run/secrets/cdc)';
CREATE ROLE registry LOGIN NOREPLICATION PASSWORD '$(cat /run/secrets/registry)';
CREATE DATABASE registry OWNER registry;
REVOKE CONNECT, TEMPORARY ON DATABASE postgres, template1, $POSTGRES_DB, registry FROM PUBLIC;
GRANT CONNECT ON DATABASE $POSTGRES_DB TO debezium;
SQL
