#!/usr/bin/env bash
# Starts a Connect worker from the folder that debezium/connect has Kafka in.
set -euo pipefail
# Only the plugins the lab uses, one folder each: Connect gives each a class loader of its own. The Avro
# converter lies beside the connectors in debezium/connect; the S3 sink is there only if it could be
# fetched when the image was built.
plugins=$LAB_PLUGIN_PATH
rm -rf "$plugins"
mkdir -p "$plugins/apicurio"
ln -s /lab/plugin "$plugins/labctl"
ln -s /kafka/external_libs/apicurio "$plugins/apicurio/jars"
ln -s /lab/converter/manifest.jar "$plugins/apicurio/"
# Debezium finds a converter of columns only among its own jars. Connect sorts jars by the paths that
# links lead to; labctl's is to come before Debezium's, one of whose classes it replaces.
for name in $LAB_PLUGINS; do
  # Artefacts are called debezium-NAME, and the image's folders debezium-connector-NAME.
  plugin="/kafka/connect/${name/#debezium-/debezium-connector-}"
  mkdir "$plugins/${plugin##*/}"
  cp -r "$plugin" "$plugins/${plugin##*/}/jars"
  cp /lab/plugin/0-labctl-connect.jar "$plugins/${plugin##*/}/"
done
for plugin in /kafka/sink/*/; do
  [ ! -d "$plugin" ] || ln -s "${plugin%/}" "$plugins/"
done
properties=/tmp/worker.properties
{
  cat /lab/worker.properties
  echo
  cat /lab/connect/worker.properties
  echo "group.id=connect-$LAB_NAME"
  # Whether a sink has manifests depends on its version. Of two lines the last one counts.
  ! compgen -G "/kafka/sink/*/" >/dev/null || echo "plugin.discovery=hybrid_warn"
} >"$properties"
exec /kafka/bin/connect-distributed.sh "$properties"
