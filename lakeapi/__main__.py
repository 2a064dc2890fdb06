"""`python -m lakeapi`: the service, configured by environment variables (docs/lake-api.md)."""

from __future__ import annotations

import os
import sys
import tempfile

import uvicorn
from pydantic import ValidationError

from lakeapi.connections import BoundedProtocol
from lakeapi.settings import of_environment


def main() -> None:
    try:
        settings = of_environment()
    except ValidationError as error:
        for one in error.errors():
            name = "__".join(map(str, one["loc"])).upper() or "settings"
            print(f"lakeapi: {name}: {one['msg']}", file=sys.stderr)
        sys.exit(2)
    with tempfile.TemporaryDirectory(prefix="lakeapi-") as folder:
        if settings.workers > 1:
            # the workers share their metrics in this folder
            os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", folder)
        uvicorn.run(
            "lakeapi.app:create",
            factory=True,
            host=settings.host,
            port=settings.port,
            workers=settings.workers,
            http=BoundedProtocol,
            ws="none",
            access_log=False,
            log_config=None,
        )


if __name__ == "__main__":
    main()
