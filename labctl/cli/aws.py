"""`labctl aws`."""

from __future__ import annotations

from labctl.cli.app import Invocation, command, root
from labctl.cli.passing_on import PassedOn, become
from labctl.lab.programs import aws

__all__ = ["aws_command"]


@command(root, "aws", example="labctl aws s3 ls s3://tickit-lake/ --recursive", passes_on=True)
def aws_command(invocation: Invocation, arguments: PassedOn = None) -> None:
    """Run the machine's AWS CLI on the lab's object store, with its keys.

    Of a lab on this machine no request leaves it, whatever the service: the object store knows S3.
    On a promoted profile it is the account that you are logged in to.
    """
    become(aws(invocation.lab().require_running()), arguments)
