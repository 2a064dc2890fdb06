# Written by `make compose` from the service's record in labctl: change it there.
# Sourced once by the image's entrypoint, when the data folder is made; labctl's setup does the same
# on a server that it starts. One statement per line.
docker_process_sql <<SQL
CREATE USER 'labctl_admin'@'%' IDENTIFIED BY '$(cat /run/secrets/mysql-admin)';
GRANT ALL ON *.* TO 'labctl_admin'@'%' WITH GRANT OPTION;
CREATE USER 'labctl'@'%' IDENTIFIED BY '$(cat /run/secrets/mysql)';
GRANT ALL ON $MYSQL_DATABASE.* TO 'labctl'@'%';
CREATE USER 'debezium'@'%' IDENTIFIED BY '$(cat /run/secrets/cdc)';
GRANT RELOAD, SHOW DATABASES, REPLICATION SLAVE, REPLICATION CLIENT, LOCK TABLES ON *.* TO 'debezium'@'%';
SQL
