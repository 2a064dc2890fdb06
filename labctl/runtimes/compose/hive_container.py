"""Entry point that starts Hive's metastore or Spark's Thrift server inside its container.

It is run as `python -m labctl.runtimes.compose.hive_container metastore`. The command line is
that of the native service record. The lab's own settings are mounted, as for the Spark application.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from labctl.artifacts import ArtifactStore
from labctl.config.lab_config import LabConfig
from labctl.runtimes.compose.container_addresses import network_endpoints
from labctl.runtimes.compose.silver_container import ANY_ADDRESS, CONF, PROJECT
from labctl.services import metastore_service, thriftserver_service
from labctl.services.container import SECRETS
from labctl.services.lab_services import PASSWORDS
from labctl.services.service import Context, Process, Service

__all__ = ["main"]

_SERVICES: dict[str, tuple[Service, Callable[..., Process]]] = {
    module.SERVICE.name: (module.SERVICE, module.process)
    for module in (metastore_service, thriftserver_service)
}


def main(name: str) -> None:
    """Replace this process by the service."""
    service, as_process = _SERVICES[name]
    config = LabConfig.load(PROJECT / "lab.toml")
    # This service does not get the other passwords.
    passwords = dict.fromkeys(PASSWORDS, "") | {
        role: (SECRETS / role).read_text(encoding="utf-8") for role in service.passwords
    }
    context = Context(
        service=service,
        lab=os.environ["LAB_NAME"],
        project=PROJECT,
        config=config,
        # The application's user owns the image's folder only if a volume is mounted there.
        data=CONF / "data",
        conf=CONF,
        temp=CONF / "scratch",
        secrets=SECRETS,
        ports=service.ports,
        passwords=passwords,
        endpoints=network_endpoints(config, passwords),
        artifacts=ArtifactStore(),
        build=lambda: "",
    )
    service.native_form.prepare(context)
    process = as_process(context, host=ANY_ADDRESS)
    os.chdir(process.cwd or context.data)
    os.execvpe(process.argv[0], process.argv, {**os.environ, **process.env})  # noqa: S606


if __name__ == "__main__":
    main(sys.argv[1])
