"""Kafka Connect's REST interface. https://kafka.apache.org/documentation/#connect_rest"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import requests
from tenacity import (
    Retrying,
    retry_if_exception_message,
    retry_if_exception_type,
    stop_after_delay,
    wait_exponential,
)

from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.redaction import hide_secrets

__all__ = ["SECONDS", "ConnectClient", "FieldErrors", "RebalanceError"]

Action = Literal["restart", "pause", "resume", "stop"]
FieldErrors = dict[str, list[str]]
"""Validation errors, by configuration key."""

SECONDS = 30
"""Timeout of a request: validation opens a connection to the source database, which may be slow."""
_READING = "incremental_snapshot_"
"""First letters of the keys under which a position has Debezium's notes on such a snapshot."""
_REBALANCE = "a rebalance is expected"
"""Part of a worker's error message shortly before a rebalance."""


class RebalanceError(LabError):
    """An error during a rebalance of the workers' tasks; the request must be repeated."""


class ConnectClient:
    """A client for connectors, by name. Every method raises LabError if Connect refuses.

    `login` is the REST interface's user and password; `seconds` is the timeout of a request and
    of a rebalance.
    """

    tells_offsets = True
    """True if `offsets` is supported."""

    def __init__(
        self, url: str, login: tuple[str, str] | None = None, *, seconds: float = SECONDS
    ) -> None:
        self._url = url.rstrip("/")
        self._seconds = seconds
        self._session = requests.Session()
        self._session.auth = login

    def names(self) -> list[str]:
        found: list[str] = self._call("GET", "/connectors")
        return sorted(found)

    def plugins(self) -> list[str]:
        """Return the classes of the installed connectors."""
        return sorted(str(p["class"]) for p in self._call("GET", "/connector-plugins"))

    def config(self, name: str) -> dict[str, str] | None:
        """Return Connect's configuration of `name`; None if it has no such connector."""
        if name not in self.names():
            return None
        found: dict[str, str] = self._call("GET", f"/connectors/{name}/config")
        return found

    def configs(self) -> dict[str, dict[str, str]]:
        """Return Connect's configuration of every connector, by name."""
        found: dict[str, Any] = self._call("GET", "/connectors", params={"expand": "info"})
        return {name: about["info"]["config"] for name, about in sorted(found.items())}

    def task_configs(self, name: str) -> list[dict[str, str]]:
        """Return the configurations with which a connector's tasks were started."""
        found: list[dict[str, Any]] = self._call("GET", f"/connectors/{name}/tasks")
        return [task["config"] for task in found]

    def status(self, name: str) -> dict[str, Any]:
        """Return `{"connector": {"state"…}, "tasks": [{"id", "state", "trace"?}…]}`."""
        return _shown(self._call("GET", f"/connectors/{name}/status"))

    def statuses(self) -> dict[str, dict[str, Any]]:
        """Return the `status` of every connector, by name."""
        found: dict[str, Any] = self._call("GET", "/connectors", params={"expand": "status"})
        return {name: _shown(about["status"]) for name, about in sorted(found.items())}

    def offsets(self, name: str) -> list[dict[str, Any]]:
        """Return source positions: `[{"partition": …, "offset": …}]`.

        Debezium's notifications are records without a position; they are left out.
        """
        found: list[dict[str, Any]] = self._call("GET", f"/connectors/{name}/offsets")["offsets"]
        return [position for position in found if position["offset"]]

    def validate(self, config: dict[str, str]) -> FieldErrors:
        """Return the connector's own validation errors for `config`; empty if it is valid."""
        plugin = config["connector.class"]
        answer = self._call("PUT", f"/connector-plugins/{plugin}/config/validate", json=config)
        return {
            entry["value"]["name"]: [hide_secrets(e, config) for e in entry["value"]["errors"]]
            for entry in answer["configs"]
            # Connect also lists keys that the connector defines but did not validate.
            if entry["value"] and entry["value"]["errors"]
        }

    def put(self, name: str, config: dict[str, str]) -> None:
        """Create `name`, or update its configuration."""
        self._call("PUT", f"/connectors/{name}/config", json=config)

    def delete(self, name: str) -> None:
        self._call("DELETE", f"/connectors/{name}")

    def act(self, name: str, action: Action) -> None:
        """Pause, resume or stop a connector, or restart it with its failed tasks."""
        if action == "restart":
            self._call(
                "POST",
                f"/connectors/{name}/restart",
                params={"includeTasks": "true", "onlyFailed": "false"},
            )
        else:
            self._call("PUT", f"/connectors/{name}/{action}")

    def forget_offsets(self, name: str) -> None:
        """Stop `name` and delete its source positions; once resumed, it starts over."""
        path = f"/connectors/{name}/offsets"
        self._once_stopped(name, lambda: self._call("DELETE", path))

    def forget_reading(self, name: str) -> None:
        """Restart `name` without the incremental snapshot that it has begun; it streams on."""

        def forget() -> None:
            kept = [
                {**position, "offset": _without_reading(position["offset"])}
                for position in self.offsets(name)
            ]
            self._call("PATCH", f"/connectors/{name}/offsets", json={"offsets": kept})

        self._once_stopped(name, forget)
        self.act(name, "resume")

    def _once_stopped(self, name: str, change: Callable[[], None]) -> None:
        """Stop `name`, and change what Connect lets change only then."""
        self.act(name, "stop")
        for attempt in Retrying(
            retry=retry_if_exception_message(match=r"(?s).*STOPPED.*"),
            wait=wait_exponential(multiplier=0.1, max=1),
            stop=stop_after_delay(SECONDS),
            reraise=True,
        ):
            with attempt:
                change()

    def _call(self, method: str, path: str, **options: Any) -> Any:
        for attempt in Retrying(
            retry=retry_if_exception_type(RebalanceError),
            wait=wait_exponential(multiplier=0.2, max=2),
            stop=stop_after_delay(self._seconds),
            reraise=True,
        ):
            with attempt:
                return self._call_once(method, path, **options)
        raise AssertionError  # Retrying either returns or raises

    def _call_once(self, method: str, path: str, **options: Any) -> Any:
        try:
            response = self._session.request(
                method, f"{self._url}{path}", timeout=self._seconds, **options
            )
        except requests.ReadTimeout:
            raise LabError(
                f"Kafka Connect took {method} {path} and has not answered for {self._seconds:g} s",
                hint="a task that waits for Kafka or for its database holds it up: "
                "`labctl connectors status` and `labctl logs connect` show which, "
                "`labctl restart connect` ends it",
                exit_code=ExitCode.NOT_READY,
            ) from None
        except requests.RequestException as error:
            raise LabError(
                f"Kafka Connect does not answer at {self._url}: {type(error).__name__}",
                hint="`labctl status` shows whether it runs",
                exit_code=ExitCode.NOT_READY,
            ) from None
        if response.status_code == 409 or (not response.ok and _REBALANCE in _message(response)):
            raise RebalanceError(
                f"Kafka Connect is dealing out its tasks, and took no {method} {path}",
                hint="try again; `labctl logs connect` shows what holds it up",
                exit_code=ExitCode.NOT_READY,
            )
        if response.status_code == 401:
            raise LabError(
                f"Kafka Connect at {self._url} refused the login",
                hint="a worker reads its password when it starts: `labctl restart connect`",
            )
        if _is_starting(response):
            raise LabError(
                f"Kafka Connect is starting, and took no {method} {path}",
                hint="try again; `labctl logs connect` shows what holds it up",
                exit_code=ExitCode.NOT_READY,
            )
        if not response.ok:
            # Connect's message repeats the values that it rejects.
            said = hide_secrets(_message(response), options.get("json"))
            raise LabError(f"Kafka Connect refused {method} {path}: {said}")
        return response.json() if response.content else None


def _without_reading(offset: Mapping[str, Any]) -> dict[str, Any]:
    """Return a position without Debezium's notes on an incremental snapshot."""
    return {key: value for key, value in offset.items() if not key.startswith(_READING)}


def _is_starting(response: requests.Response) -> bool:
    """Return whether the worker does not serve its paths yet. It adds them last, and its HTTP
    server answers 404 until then. Connect's own answers have an `error_code`.
    """
    if response.status_code != 404:
        return False
    try:
        return "error_code" not in response.json()
    except ValueError:
        return True


def _shown(status: dict[str, Any]) -> dict[str, Any]:
    """Return the status, with passwords in its traces hidden."""
    for part in (status["connector"], *status["tasks"]):
        if "trace" in part:
            part["trace"] = hide_secrets(part["trace"])
    return status


def _message(response: requests.Response) -> str:
    try:
        return str(response.json()["message"])
    except (ValueError, KeyError, TypeError):
        return f"{response.status_code} {response.reason}"
