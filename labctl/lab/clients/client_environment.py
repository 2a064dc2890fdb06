"""Settings that point ordinary clients (psql, mysql, sqlcmd, aws, kafka tools) at a lab."""

from __future__ import annotations

from pathlib import Path

from labctl.config.endpoints import ObjectStore
from labctl.config.kafka_clients import client_settings, java_settings
from labctl.lab.lab import Lab
from labctl.sources import ENGINES
from labctl.state.lab_secrets import properties_text
from labctl.state.lab_state import write_private

__all__ = [
    "client_environment",
    "clients_folder",
    "object_store_variables",
]


def clients_folder(lab: Lab) -> Path:
    """Return the folder with the files from which clients read passwords."""
    return lab.state.secrets / "clients"


def client_environment(lab: Lab) -> dict[str, str]:
    """Return environment variables by name. Passwords go into files that the variables name."""
    endpoints, folder = lab.endpoints, clients_folder(lab)
    values = {
        "KAFKA_BOOTSTRAP_SERVERS": endpoints.kafka.bootstrap_servers,
        "CONNECT_URL": endpoints.connect.url,
        "REGISTRY_URL": endpoints.registry.url,
    }
    # For `--command-config` of Kafka's tools. The address serves tools without an option for it.
    java = {
        "bootstrap.servers": endpoints.kafka.bootstrap_servers,
        **java_settings(endpoints.kafka),
    }
    write_private(folder / "kafka-client.properties", properties_text(java))
    values["KAFKA_CLIENT_PROPERTIES"] = str(folder / "kafka-client.properties")
    # For clients that use librdkafka. A login by our own function (IAM) does not fit into a file.
    if "oauth_cb" not in (settings := client_settings(endpoints.kafka)):
        lines = "".join(f"{key}={value}\n" for key, value in settings.items())
        write_private(folder / "librdkafka.properties", lines)
        values["KCAT_CONFIG"] = str(folder / "librdkafka.properties")
    if login := endpoints.connect.login:
        # For `curl --config`.
        write_private(folder / "connect-curl", f'user = "{":".join(login)}"\n')
        values["CONNECT_CURL_CONFIG"] = str(folder / "connect-curl")
    for engine in ENGINES.values():
        if client := endpoints.client_of(engine.name):
            values |= engine.client_variables(client, folder)
    for other in endpoints.others.values():
        values |= other.variables
        for variable, secret in other.secrets.items():
            write_private(folder / variable.lower(), secret)
            values[variable] = str(folder / variable.lower())
    store = endpoints.objectstore
    return values | object_store_variables(store, folder) | {"LAKE_BUCKET": store.bucket}


def object_store_variables(store: ObjectStore, folder: Path) -> dict[str, str]:
    """Return the variables for AWS clients; write their key (S3, Athena, Glue) into a file."""
    # Python's SDK reads only the second name, the other SDKs the first.
    values = {"AWS_REGION": store.region, "AWS_DEFAULT_REGION": store.region}
    if store.access_key and store.secret_key:
        write_private(
            folder / "aws-credentials",
            "[default]\n"
            f"aws_access_key_id={store.access_key.get_secret_value()}\n"
            f"aws_secret_access_key={store.secret_key.get_secret_value()}\n",
        )
        values["AWS_SHARED_CREDENTIALS_FILE"] = str(folder / "aws-credentials")
    if store.endpoint_url:
        values["AWS_ENDPOINT_URL_S3"] = store.endpoint_url
    return values
