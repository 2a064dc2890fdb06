"""`labctl client aws`."""

from __future__ import annotations

from labctl.cli.app import Invocation, command, group
from labctl.cli.passing_on import PassedOn, become
from labctl.lab.clients.client_programs import aws

__all__ = ["aws_command"]


@command(
    group("client"),
    "aws",
    example="labctl client aws s3 ls s3://tickit-lake/ --recursive",
    passes_on=True,
)
def aws_command(invocation: Invocation, arguments: PassedOn = None) -> None:
    """Run the machine's AWS CLI on the lab's object store, with its keys.

    With a lab on this machine, no request goes to AWS, whatever the service. With a promoted
    profile, requests go to the account that you are logged in to.
    """
    become(aws(invocation.lab().require_running()), arguments)
