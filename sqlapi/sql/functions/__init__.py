"""The functions known to agree with Trino's; any other fails with an error that names it."""

from sqlapi.sql.functions import (  # noqa: F401 - they register what they define
    arrays,
    best,
    bits,
    dates,
    formats,
    lambdas,
    maps,
    numbers,
    patterns,
    statistics,
    texts,
)
from sqlapi.sql.functions.aggregates import AGGREGATES, WINDOWS
from sqlapi.sql.functions.registry import LAMBDAS, SCALARS

__all__ = ["AGGREGATES", "LAMBDAS", "SCALARS", "WINDOWS"]
