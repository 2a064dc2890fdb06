#!/usr/bin/env bash
# Starts Kafka from the folder that apache/kafka has it in.
set -euo pipefail
properties=/tmp/server.properties
# It holds the password.
umask 077
{
  cat /lab/kafka/server.properties
  cat /run/secrets/login.properties
  echo "advertised.listeners=INTERNAL://kafka:$LAB_INTERNAL_PORT,EXTERNAL://127.0.0.1:$KAFKA_BROKER_PORT"
} >"$properties"
# A cluster id is 16 bytes in URL-safe base 64; this one follows from the lab's name.
cluster=$(printf '%s' "$LAB_NAME" | md5sum | cut -c1-16 | tr -d '\n' | base64 | tr '+/' '-_' | tr -d '=')
/opt/kafka/bin/kafka-storage.sh format --ignore-formatted --cluster-id "$cluster" --config "$properties"
exec /opt/kafka/bin/kafka-server-start.sh "$properties"
