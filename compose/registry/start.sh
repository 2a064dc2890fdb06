#!/usr/bin/env bash
# Starts Apicurio Registry from the folder that its own image has it in, with the lab's heap and flags.
set -euo pipefail
cd /deployments
# shellcheck disable=SC2086 # the flags are several words
exec java $JAVA_HEAP $JAVA_FLAGS -Djava.util.logging.manager=org.jboss.logmanager.LogManager \
  -jar apicurio-registry-app-*-runner.jar
