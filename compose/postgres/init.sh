# Written by `make compose` from the service's record in labctl: change it there.
# Run once, when the data folder is made; labctl's setup does the same on a server that it starts.
psql --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname=postgres <<SQL
CREATE ROLE labctl_owner LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD '$(cat /run/secrets/postgres-owner)';
ALTER DATABASE $POSTGRES_DB OWNER TO labctl_owner;
CREATE ROLE debezium LOGIN REPLICATION BYPASSRLS PASSWORD '$(cat /run/secrets/cdc)';
ALTER ROLE debezium SET bytea_output = 'hex';
ALTER ROLE debezium SET intervalstyle = 'postgres';
REVOKE CONNECT, TEMPORARY ON DATABASE postgres, template1, $POSTGRES_DB FROM PUBLIC;
GRANT CONNECT ON DATABASE $POSTGRES_DB TO debezium;
SQL
# Databases of other services, and the passwords of the roles of the same names.
while IFS='=' read -r name password; do
  psql --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname=postgres <<SQL
CREATE ROLE $name LOGIN NOREPLICATION PASSWORD '$password';
CREATE DATABASE $name OWNER $name;
REVOKE CONNECT, TEMPORARY ON DATABASE $name FROM PUBLIC;
SQL
done </run/secrets/databases
