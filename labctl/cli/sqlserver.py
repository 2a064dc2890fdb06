"""`labctl tools sqlserver`: the SQL Server stand-in on its own."""

from __future__ import annotations

import asyncio
import logging
import signal
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from labctl.cli.app import Invocation, command, group
from labctl.errors import ExitCode, LabError
from labctl.sqlserver import Settings, serve
from labctl.sqlserver.limits import limit_memory

__all__ = ["serve_command"]


class LogLevel(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


app = group("sqlserver")


@command(
    app,
    "serve",
    example='labctl tools sqlserver serve --dsn "host=127.0.0.1 dbname=sqlserver user=postgres" '
    "--password-file secrets/sa",
)
def serve_command(
    _: Invocation,
    password_file: Annotated[Path, typer.Option(help="A file with the login's password.")],
    dsn: Annotated[
        str | None, typer.Option(help="PostgreSQL's connection string, without a password.")
    ] = None,
    dsn_file: Annotated[
        Path | None, typer.Option(help="A file with the connection string.")
    ] = None,
    user: Annotated[str, typer.Option(help="The login.")] = "sa",
    host: Annotated[str, typer.Option(help="A loopback address.")] = "127.0.0.1",
    in_container: Annotated[
        bool, typer.Option("--in-container", help="Allow the addresses of a container.")
    ] = False,
    port: Annotated[int, typer.Option(help="0 picks a free one.", min=0, max=65535)] = 1433,
    port_file: Annotated[
        Path | None, typer.Option(help="Written once clients may connect.")
    ] = None,
    tls_cert: Annotated[
        Path | None, typer.Option(help="PEM certificate; without it no TLS.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(help="PEM key, if not in the certificate's file.")
    ] = None,
    require_encryption: Annotated[
        bool, typer.Option("--require-encryption", help="Refuse clients that do not encrypt.")
    ] = False,
    polling_interval: Annotated[
        float,
        typer.Option(
            help="Seconds between the capture job's looks, in databases enabled from now on; "
            "SQL Server's own default is 5.",
            min=0.0,
        ),
    ] = 0.0,
    log_level: Annotated[LogLevel, typer.Option(help="What is logged.")] = LogLevel.INFO,
) -> None:
    """Serve SQL Server's clients from a PostgreSQL database, until stopped."""
    if (dsn is None) == (dsn_file is None):
        raise LabError("Give either --dsn or --dsn-file", exit_code=ExitCode.USAGE)
    logging.basicConfig(
        level=log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    settings = Settings(
        dsn=dsn or _secret(dsn_file),
        password=_secret(password_file),
        user=user,
        host=host,
        in_container=in_container,
        port=port,
        certificate=tls_cert,
        key=tls_key,
        require_encryption=require_encryption,
        polling_seconds=polling_interval,
    )
    limit_memory()
    asyncio.run(_serve(settings, port_file))


async def _serve(settings: Settings, port_file: Path | None) -> None:
    def announce(port: int) -> None:
        if port_file is not None:
            port_file.write_text(str(port), encoding="utf-8")

    task = asyncio.create_task(serve(settings, ready=announce))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        return


def _secret(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        return path.read_text("utf-8").strip()
    except OSError as error:
        raise LabError(
            f"{path} cannot be read: {error.strerror}", exit_code=ExitCode.USAGE
        ) from None
