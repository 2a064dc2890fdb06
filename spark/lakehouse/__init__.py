"""The silver application: change records from Kafka (or bronze files) into Hudi tables.

It is refused here, before any other import, if the contract beside it is of another version: names
that it imports from the contract may be missing then.
"""

from __future__ import annotations

from lakecontract import VERSION

__all__ = ["CONTRACT"]

CONTRACT = 1
"""The version of `lakecontract` that this application needs."""

if VERSION != CONTRACT:
    raise ImportError(
        f"this application needs version {CONTRACT} of the package lakecontract, and version "
        f"{VERSION} is installed: use the labctl that the application was made for"
    )
