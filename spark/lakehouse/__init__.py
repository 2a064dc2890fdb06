"""The silver application: change records from Kafka (or bronze files) into Hudi tables."""

from __future__ import annotations

__all__ = ["CONTRACT"]

CONTRACT = 1
"""The version of `lakecontract` that this application needs."""
