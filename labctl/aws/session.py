"""Talking to AWS: one client per service, throttling waited out, errors a person can use."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from labctl.errors import ExitCode, LabError

__all__ = ["Aws", "Tell", "aws_errors", "wait_until"]

ATTEMPTS = 8
"""Of a request that AWS throttled or could not answer; botocore waits longer before each."""

Tell = Callable[[str], None]
"""Told each step, in words."""


class Aws:
    """Clients of one account and region. `session` is boto3's; tests give one of their own."""

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
        """The members of every page of a list."""
        for page in self.client(service).get_paginator(operation).paginate(**request):
            yield from page.get(key, [])


@contextmanager
def aws_errors() -> Iterator[None]:
    """Turn what boto3 raises into a LabError: what AWS said, and what to do."""
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
    """Call `look` until `done` says so of its answer; the answer. `tell` hears each new one.

    Raises LabError after `seconds`, saying how it was then.
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
