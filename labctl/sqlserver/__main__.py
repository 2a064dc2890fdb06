"""`python -m labctl.sqlserver serve …`"""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
from pathlib import Path

from labctl.errors import ExitCode, LabError
from labctl.sqlserver.server import Settings, serve

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM; returns the exit code."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=options.log_level, format="%(asctime)s %(levelname)s %(message)s")
    try:
        asyncio.run(_run(options))
    except LabError as error:
        print(f"error: {error}", *error.details, sep="\n  ", file=sys.stderr)
        return error.exit_code
    return ExitCode.OK


async def _run(options: argparse.Namespace) -> None:
    settings = Settings(
        dsn=_secret(options.dsn_file) if options.dsn_file else options.dsn,
        password=_secret(options.password_file),
        user=options.user,
        host=options.host,
        port=options.port,
        certificate=options.tls_cert,
        key=options.tls_key,
        require_encryption=options.require_encryption,
        polling_seconds=options.polling_interval,
    )

    def announce(port: int) -> None:
        if options.port_file is not None:
            options.port_file.write_text(str(port))

    task = asyncio.create_task(serve(settings, ready=announce))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        return


def _secret(path: Path) -> str:
    try:
        return path.read_text("utf-8").strip()
    except OSError as error:
        raise LabError(f"cannot read {path}: {error.strerror}", exit_code=ExitCode.USAGE) from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("labctl.sqlserver", description=__doc__)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("serve", help="serve SQL Server clients from PostgreSQL")
    where = command.add_mutually_exclusive_group(required=True)
    where.add_argument("--dsn", help="PostgreSQL's connection string, without a password")
    where.add_argument("--dsn-file", type=Path, help="a file with the connection string")
    command.add_argument("--password-file", type=Path, required=True, help="the login's password")
    command.add_argument("--user", default="sa")
    command.add_argument("--host", default="127.0.0.1")
    command.add_argument("--port", type=int, default=1433, help="0 picks a free one")
    command.add_argument("--port-file", type=Path, help="written once clients may connect")
    command.add_argument("--tls-cert", type=Path, help="PEM certificate; without it no TLS")
    command.add_argument("--tls-key", type=Path, help="PEM key, if not in the certificate's file")
    command.add_argument("--require-encryption", action="store_true")
    command.add_argument(
        "--polling-interval", type=float, default=0.0, metavar="SECONDS",
        help="the capture job's interval in newly enabled databases (SQL Server: 5; default 0)",
    )  # fmt: skip
    command.add_argument("--log-level", default="INFO")
    return parser


if __name__ == "__main__":
    sys.exit(main())
