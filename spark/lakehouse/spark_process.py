"""The process: one Spark session, and the application in it, which can be suspended.

A suspended application uses no data, so that they may be replaced, as by a snapshot. When
resumed, it starts with the data that are there then. The session stays open, because creating it
takes most of the time of a start.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from lakecontract.errors import ConfigurationError, PermanentError
from lakecontract.options import Options
from lakecontract.properties import TableConfig, load_tables
from lakehouse.application import Application
from lakehouse.jvm import (
    allow_null_elements,
    estimate_sizes_inside,
    forget_yarn,
    remember_classes,
)
from lakehouse.progress import now
from lakehouse.status_server import StatusServer
from lakehouse.termination import on_termination

__all__ = ["main"]

_log = logging.getLogger("lakehouse")
_NAME = "silver"
_FAILED = 1
_USAGE = 2


def main() -> int:
    """Run until stopped. Exit code: 0 when stopped or done, 1 for failed tables, 2 for usage."""
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    logging.getLogger("py4j").setLevel(logging.WARNING)
    try:
        options = Options.parse()
        tables = _tables(options)
        token = options.status_token()
        spark = _session()
        sound = _Driver(spark, options, token, Application(spark, options, tables)).run()
    except PermanentError as error:
        _log.error("%s", error)
        return _USAGE
    return 0 if sound or not options.once else _FAILED


def _session() -> SparkSession:
    spark = SparkSession.builder.appName(_NAME).getOrCreate()
    remember_classes(spark)
    forget_yarn(spark)
    allow_null_elements(spark)
    estimate_sizes_inside(spark)
    return spark


def _tables(options: Options) -> list[TableConfig]:
    """Load the tables with their current properties. Raises ConfigurationError."""
    tables = load_tables(
        map(Path, options.properties), only=options.tables, overrides=options.hoodie_conf
    )
    for sentence in (each for table in tables for each in table.older_keys):
        _log.info("%s", sentence)
    return tables


class _Wanted(Enum):
    """The state that the process should be in."""

    RUNNING = "running"
    SUSPENDED = "suspended"
    ENDED = "ended"


class _Driver:
    """A runner of one application after another in a session."""

    def __init__(
        self, spark: SparkSession, options: Options, token: str | None, first: Application
    ) -> None:
        self._spark = spark
        self._options = options
        self._token = token
        self._started_at = now()
        self._changed = threading.Condition()
        self._wanted = _Wanted.RUNNING
        self._application: Application | None = first
        """The current application; None while none runs or one is being created."""
        self._at_rest = False
        """True if the process is suspended and uses none of the data."""

    def run(self) -> bool:
        """Run applications until stopped or done. Return whether no table has failed.

        Raises ConfigurationError when the configuration found on resuming cannot be run.
        """
        on_termination(self._spark, self._end)
        server = self._server()
        if server is not None:
            server.start()
        try:
            application = self._application
            while application is not None:
                sound = application.run()
                application = self._after(application)
        finally:
            if server is not None:
                server.stop()
            self._spark.stop()
        return sound

    def _server(self) -> StatusServer | None:
        if self._options.status_port is None:
            return None
        return StatusServer(
            self._options.status_host,
            self._options.status_port,
            self._status,
            {
                "restart": lambda table: self._running().restart(table),
                "refill": lambda table: self._running().refill(table),
                "replay": lambda table: self._running().replay(table),
                "register": lambda table: self._running().register(table),
            },
            {"suspend": self._suspend, "resume": self._resume},
            self._token,
        )

    def _after(self, application: Application) -> Application | None:
        """Return the application to run next; None to end. Blocks while suspended."""
        if not self._is(_Wanted.SUSPENDED):
            return None
        application.let_go()
        self._spark.catalog.clearCache()
        with self._changed:
            self._application, self._at_rest = None, True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._is(_Wanted.SUSPENDED))
            self._at_rest = False
            if self._is(_Wanted.ENDED):
                return None
        _log.info("resumed with the data that are there now")
        application = Application(self._spark, self._options, _tables(self._options))
        with self._changed:
            self._application = application
            if not self._is(_Wanted.RUNNING):
                application.stop()
        return application

    def _end(self) -> None:
        with self._changed:
            self._want(_Wanted.ENDED)

    def _suspend(self) -> None:
        """Suspend the application, and block until nothing uses the data any more."""
        with self._changed:
            if self._is(_Wanted.RUNNING):
                self._want(_Wanted.SUSPENDED)
            self._wait_until_at_rest()
            if not self._at_rest:
                raise ConfigurationError("The application is ending", hint="Start it again")

    def _resume(self) -> None:
        """Resume the application; do nothing if it is not suspended."""
        with self._changed:
            self._wait_until_at_rest()
            if self._is(_Wanted.SUSPENDED):
                self._want(_Wanted.RUNNING)

    def _wait_until_at_rest(self) -> None:
        self._changed.wait_for(lambda: self._at_rest or not self._is(_Wanted.SUSPENDED))

    def _want(self, wanted: _Wanted) -> None:
        self._wanted = wanted
        if not self._is(_Wanted.RUNNING) and self._application is not None:
            self._application.stop()
        self._changed.notify_all()

    def _is(self, wanted: _Wanted) -> bool:
        return self._wanted is wanted

    def _running(self) -> Application:
        application = self._application
        if application is None:
            raise ConfigurationError("The application is suspended", hint="`labctl up` resumes it")
        return application

    def _status(self) -> Mapping[str, Any]:
        """Return the response of `GET /status`."""
        application = self._application
        return {
            "application": _NAME,
            "started_at": self._started_at,
            "source": self._options.source,
            "suspended": application is None or self._is(_Wanted.SUSPENDED),
            **({"tables": {}} if application is None else application.status()),
        }
