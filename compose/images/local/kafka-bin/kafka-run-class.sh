#!/usr/bin/env bash
# Runs a class of Kafka's: what the script of this name in Kafka's own distribution does of it.
set -euo pipefail
home=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck disable=SC2086 # the options are several words each
exec java ${KAFKA_HEAP_OPTS:-} ${KAFKA_JVM_PERFORMANCE_OPTS:-} ${KAFKA_LOG4J_OPTS:-} ${KAFKA_OPTS:-} \
  -cp "$home/libs/*" "$@"
