#!/usr/bin/env bash
exec "$(dirname "$0")/kafka-run-class.sh" org.apache.kafka.connect.cli.ConnectDistributed "$@"
