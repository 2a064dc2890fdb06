"""Connection to Athena's API: the lab's own endpoint, or AWS."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from labctl.aws.session import Aws, aws_errors
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.services.sqlapi_service import SqlApi, api_client

__all__ = ["AT_ONCE", "WORKGROUP", "Connection", "connection_of", "first_database"]

WORKGROUP = "primary"
AT_ONCE = 50
"""Maximum number of executions or saved statements per request."""
_OF_THE_USER = ("InvalidRequestException", "MetadataException", "ResourceNotFoundException")
"""Error codes with which Athena rejects a request."""
_MAKES_IT = "is it there? `labctl promote apply` makes the profile's workgroup"


@dataclass(frozen=True)
class Connection:
    """A client of Athena's API, or of Glue's."""

    client: Any
    """The boto3 client."""
    workgroup: str = WORKGROUP
    """Athena's workgroup, which determines where results are stored."""
    place: str = "the lab's SQL API"
    """Name of the endpoint, for messages."""
    on_aws: bool = False

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Raise LabError if the API refuses a request of the block or does not answer."""
        from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError

        try:
            yield
        except ClientError as error:
            told = error.response.get("Error", {})
            users = told.get("Code") in _OF_THE_USER
            message = str(told.get("Message") or error)
            raise LabError(
                message,
                hint=_MAKES_IT if self.on_aws and "workgroup" in message.lower() else None,
                exit_code=ExitCode.USAGE if users else ExitCode.NOT_READY,
            ) from None
        except ParamValidationError as error:
            # The client did not send the request: an empty statement, or a name that is too long.
            raise LabError(str(error), exit_code=ExitCode.USAGE) from None
        except BotoCoreError as error:
            if self.on_aws:
                with aws_errors():
                    raise
            raise LabError(
                f"The SQL API does not answer: {error}",
                hint="labctl status",
                exit_code=ExitCode.NOT_READY,
            ) from None


def connection_of(lab: Lab, service: str = "athena") -> Connection:
    """Connect to a running lab's endpoint or, on a promoted profile, to Athena or Glue on AWS.

    Raises LabError if the lab does not run.
    """
    if (profile := lab.promoted) is not None:
        return Connection(
            Aws(profile.region).client(service),
            workgroup=profile.workgroup,
            place=f"Athena in {profile.region}",
            on_aws=True,
        )
    endpoint = lab.require_running().endpoints.others["sqlapi"]
    assert isinstance(endpoint, SqlApi)  # noqa: S101 - this service's own endpoint
    return Connection(api_client(endpoint, service), place=f"Athena's API at {endpoint.url}")


def first_database(lab: Lab) -> str:
    """Return the default database of unqualified names: the first table's, else `default`."""
    return lab.tables[0].name.partition(".")[0] if lab.tables else "default"
