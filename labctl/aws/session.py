"""Sessions with AWS: one client per service, retries when throttled, readable errors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from labctl.errors import ExitCode, LabError

__all__ = ["Aws", "Tell", "aws_errors", "wait_until"]

ATTEMPTS = 8
"""Attempts per request that AWS throttles or cannot answer; botocore's waits grow each time."""

Tell = Callable[[str], None]
"""Callback that receives a message about each step."""


class Aws:
    """Clients of one account and region. `session` is boto3's; tests pass their own."""

    def __init__(self, region: str, session: Any = None, *, poll_seconds: float = 5.0) -> None:
        self.region = region
        self.poll_seconds = poll_seconds
        self._session = session
        self._clients: dict[str, Any] = {}

    def client(self, service: str) -> Any:
        if service not in self._clients:
            import boto3
            from botocore.config import Config

            session: Any = self._session or boto3.Session(region_name=self.region)
            config = Config(
                region_name=self.region, retries={"mode": "standard", "max_attempts": ATTEMPTS}
            )
            self._clients[service] = session.client(service, config=config)
        return self._clients[service]

    def pages(self, service: str, operation: str, key: str, **request: Any) -> Iterator[Any]:
        """Yield the items of every page of a list."""
        for page in self.client(service).get_paginator(operation).paginate(**request):
            yield from page.get(key, [])


@contextmanager
def aws_errors() -> Iterator[None]:
    """Turn boto3's errors into a LabError with AWS's message and a hint."""
    from botocore.exceptions import (
        BotoCoreError,
        ClientError,
        EndpointConnectionError,
        NoCredentialsError,
        NoRegionError,
    )

    try:
        yield
    except NoCredentialsError:
        raise LabError(
            "There are no AWS credentials",
            hint="set AWS_PROFILE, or sign in with `aws sso login`",
            exit_code=ExitCode.ENVIRONMENT,
        ) from None
    except (EndpointConnectionError, NoRegionError) as error:
        raise LabError(str(error), hint="is there a network?", exit_code=ExitCode.FAILED) from None
    except ClientError as error:
        said = error.response.get("Error", {})
        code = said.get("Code", "?")
        hint = "labctl promote apply goes on where it stopped"
        if code.startswith(("AccessDenied", "Unauthorized", "ExpiredToken", "InvalidClientToken")):
            hint = "docs/aws.md lists the permissions that are needed"
        raise LabError(
            f"AWS refused {error.operation_name}: {code}: {said.get('Message', '')}", hint=hint
        ) from None
    except BotoCoreError as error:
        raise LabError(f"A request to AWS failed: {error}") from None


def wait_until(
    look: Callable[[], str],
    done: Callable[[str], bool],
    *,
    aws: Aws,
    seconds: float,
    tell: Tell,
) -> str:
    """Call `look` until `done` accepts its answer, and return that. Pass each new answer to `tell`.

    Raises LabError with the last answer after `seconds`.
    """
    deadline = time.monotonic() + seconds
    last = ""
    while True:
        state = look()
        if state != last:
            tell(state)
            last = state
        if done(state):
            return state
        if time.monotonic() > deadline:
            raise LabError(
                f"Not done after {seconds:.0f} s: {state}",
                hint="labctl promote apply goes on where it stopped",
                exit_code=ExitCode.NOT_READY,
            )
        time.sleep(aws.poll_seconds)
