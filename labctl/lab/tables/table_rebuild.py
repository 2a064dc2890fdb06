"""Rebuild of a silver table from its bronze files."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import requests
from botocore.exceptions import BotoCoreError, ClientError

from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import silver_status
from labctl.lab.tables.table_requests import said
from labctl.lake.objectstore import s3_client
from labctl.services import silver_service
from lakecontract.rebuild_request import ASKED, refusal

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

__all__ = ["cancel_rebuild", "rebuild_table"]

POLL_SECONDS = 0.2
TIMEOUT_SECONDS = 600.0
ANSWER_SECONDS = 10.0


def rebuild_table(lab: Lab, name: str) -> float:
    """Rebuild one table while the others continue. Returns the seconds it took.

    The request stays in the lake until it is fulfilled: if the application dies in the meantime, it
    resumes the request. Raises LabError, and withdraws the request, if the application refuses it
    or cannot be reached.
    """
    name = lab.table(name).name
    request = _Request.of(lab, name)
    begun = time.monotonic()
    request.put()
    try:
        told = _tell(lab, name)
    except LabError:
        request.withdraw()
        raise
    while (content := request.content()) is not None:
        if reason := refusal(content):
            request.withdraw()
            raise LabError(f"{name} was not rebuilt: {reason}")
        if time.monotonic() - begun > TIMEOUT_SECONDS:
            raise LabError(
                f"{name} is still not rebuilt after {TIMEOUT_SECONDS:.0f} s; it goes on"
                f"{_why_not_yet(lab, name)}",
                hint=f"labctl status, labctl logs silver; labctl table rebuild {name} --cancel",
            )
        time.sleep(POLL_SECONDS)
        told = told or _is_told(lab, name)
    return time.monotonic() - begun


def cancel_rebuild(lab: Lab, name: str) -> bool:
    """Withdraw a request to rebuild a table. Returns whether there was one.

    A rebuild that has begun is completed. A table that has stopped or waits for its next try
    continues at once.
    """
    name = lab.table(name).name
    request = _Request.of(lab, name)
    if request.content() is None:
        return False
    request.withdraw()
    _is_told(lab, name)
    return True


def _tell(lab: Lab, name: str) -> bool:
    """Have the application check for the request. Return False if it did not answer in time.

    Raises LabError if it cannot be reached, or does not write this table.
    """
    application = lab.endpoints.silver
    url = f"{application.status_url}/tables/{name}/restart"
    try:
        answer = requests.post(url, headers=application.headers, timeout=ANSWER_SECONDS)
        answer.raise_for_status()
    except requests.Timeout:
        return False
    except requests.RequestException as error:
        raise LabError(
            f"The Spark application did not take the request for {name}: {said(error) or error}",
            hint="Nothing was changed: labctl status",
            exit_code=ExitCode.NOT_READY,
        ) from None
    return True


def _is_told(lab: Lab, name: str) -> bool:
    """Return `_tell`; False while the application restarts: it then finds the request itself."""
    try:
        return _tell(lab, name)
    except LabError:
        return False


def _why_not_yet(lab: Lab, name: str) -> str:
    """Return what the table waits for, or its last error, as the end of a sentence."""
    try:
        state = silver_status(lab)["tables"][name]
    except (requests.RequestException, KeyError):
        return ", and the Spark application does not answer"
    if state["waiting_for"]:
        return f", and waits for {state['waiting_for']}"
    return f", after this error: {state['error']}" if state["error"] else ""


@dataclass(frozen=True)
class _Request:
    """The object in the lake that requests the rebuild of a table."""

    client: S3Client
    bucket: str
    key: str

    @classmethod
    def of(cls, lab: Lab, name: str) -> Self:
        store = lab.endpoints.objectstore
        context = lab.context(lab.service(silver_service.SERVICE.name))
        path = silver_service.options(context).rebuild_request_path(name)
        return cls(s3_client(store), store.bucket, path.removeprefix(f"s3a://{store.bucket}/"))

    def put(self) -> None:
        """Write the request. Raises LabError if the object store does not accept it."""
        try:
            self.client.put_object(Bucket=self.bucket, Key=self.key, Body=ASKED)
        except (BotoCoreError, ClientError) as error:
            raise LabError(
                f"The request to rebuild could not be written to the object store: {error}",
                hint="Nothing was changed: labctl status",
                exit_code=ExitCode.NOT_READY,
            ) from None

    def content(self) -> bytes | None:
        """Return the content of the object; None if it does not exist."""
        try:
            return self.client.get_object(Bucket=self.bucket, Key=self.key)["Body"].read()
        except self.client.exceptions.NoSuchKey:
            return None

    def withdraw(self) -> None:
        self.client.delete_object(Bucket=self.bucket, Key=self.key)
