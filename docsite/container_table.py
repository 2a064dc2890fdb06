"""The table of the services of the Compose file."""

from __future__ import annotations

import re
from typing import Any

import yaml

from labctl.runtimes.compose.compose_file import written_files

__all__ = ["containers_table"]

_DEFAULT = re.compile(r"\$\{\w+:-([^}]*)\}")


def containers_table() -> str:
    """Return the table: image, memory limit, ports on the host, and profiles of each service."""
    services: dict[str, Any] = yaml.safe_load(written_files()["compose.yaml"])["services"]
    heads = ("service", "image", "memory limit", "port on 127.0.0.1", "only with `--profile`")
    rows = [heads, ("---",) * len(heads)]
    rows += [
        (
            f"`{name}`",
            _image(service),
            _DEFAULT.sub(r"\1", service["mem_limit"]).replace("m", " MiB"),
            ", ".join(_DEFAULT.findall(" ".join(service.get("ports", [])))),
            " or ".join(f"`{profile}`" for profile in service.get("profiles", [])),
        )
        for name, service in services.items()
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _image(service: dict[str, Any]) -> str:
    """Return the default image without its digest; for one that is built here, its first base."""
    image = _DEFAULT.sub(r"\1", service["image"]).partition("@")[0]
    bases = [
        _DEFAULT.sub(r"\1", base) for base in service.get("build", {}).get("args", {}).values()
    ]
    return f"`{image}`, built on `{bases[0]}`" if bases else f"`{image}`"
