"""The endpoints' queries of the lake. Every value is a parameter; none is part of the SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TypeVar

from pydantic import ValidationError

from lakeapi import statements
from lakeapi.athena import Athena, Row
from lakeapi.definitions import Definitions
from lakeapi.models import BuyerLikes, Model, SaleBySeller, SalesByCategory
from lakeapi.problems import LakeUnavailableError
from lakeapi.settings import Settings
from lakeapi.statements import Resource

__all__ = ["Repository"]

M = TypeVar("M", bound=Model)


class Repository:
    """Queries, one per method. The methods raise LakeUnavailableError and LakeTimeoutError."""

    def __init__(self, settings: Settings, athena: Athena, definitions: Definitions) -> None:
        self._tables = settings.tables
        self._athena = athena
        self._definitions = definitions

    def page(self, resource: Resource, offset: int, limit: int) -> list[Model]:
        """Return the rows of a page, ordered by key."""
        sql = statements.page(resource, self._tables)
        return _models(resource.model, self._athena.rows(sql, [str(offset), str(limit)]))

    def one(self, resource: Resource, id_: int) -> Model | None:
        """Return the row with this key, or None."""
        sql = statements.one(resource, self._tables)
        found = _models(resource.model, self._athena.rows(sql, [str(id_)]))
        return found[0] if found else None

    def sales_by_category(self, day: date | None, offset: int, limit: int) -> list[SalesByCategory]:
        """Return a page of one day's sales, or of all, ordered by day, group and name."""
        self._definitions.ensure()
        sql = statements.sales_of_day(dated=day is not None)
        dates = [] if day is None else [f"'{day.isoformat()}'"]
        rows = self._kept(sql, [*dates, str(offset), str(limit)])
        return _models(SalesByCategory, rows)

    def sales_by_seller(self, id_: int) -> list[SaleBySeller]:
        """Return all sales of a seller, ordered by day and event."""
        self._definitions.ensure()
        return _models(SaleBySeller, self._kept(f"EXECUTE {statements.SELLER}", [str(id_)]))

    def buyer_likes(self) -> list[BuyerLikes]:
        """Return the counts, as a list of one object."""
        return _models(BuyerLikes, self._kept(self._definitions.ensure(), []))

    def _kept(self, sql: str, parameters: Sequence[str]) -> list[Row]:
        """Run SQL that uses Athena's definitions. If it fails, the next call checks them again."""
        try:
            return self._athena.rows(sql, parameters)
        except LakeUnavailableError:
            self._definitions.forget()
            raise


def _models(model: type[M], rows: Sequence[Row]) -> list[M]:
    names = tuple(model.model_fields)
    try:
        return [model.model_validate(dict(zip(names, row, strict=True))) for row in rows]
    except (ValidationError, ValueError) as error:
        raise LakeUnavailableError(f"The lake has no {model.__name__}: {error}") from error
