"""The views that a lab's catalog has, for `labctl query`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labctl.lab.lab import Lab

if TYPE_CHECKING:
    import pyarrow as pa

    from labctl.lake.catalog_views import CatalogViews
    from labctl.lake.lake import SparkView
    from labctl.lake.view import View

__all__ = ["LabViews"]


@dataclass(frozen=True)
class LabViews:
    """Views of the lab's catalog, which is asked only if a query reads what is no table."""

    lab: Lab

    def rows(self, names: Iterable[str], view: View) -> Mapping[str, pa.Table]:
        """Return the views' rows: see `labctl.lake.lake.Views`. Raises LabError."""
        with self._views() as views:
            return views.rows(names, view)

    def for_spark(self, names: Iterable[str], view: View) -> Sequence[SparkView]:
        """Return the views for Spark: see `labctl.lake.lake.Views`. Raises LabError."""
        with self._views() as views:
            return views.for_spark(names, view)

    @contextmanager
    def _views(self) -> Iterator[CatalogViews]:
        # Imported here because they load boto3 and Athena's SQL, and most queries read no view.
        from labctl.lab.catalog.athena_connection import connection_of
        from labctl.lake.catalog_views import CatalogViews
        from labctl.lake.lake import Lake

        connection = connection_of(self.lab, "glue")
        with connection.explained():
            lake = Lake(self.lab.endpoints.objectstore)
            yield CatalogViews(connection.client, lake)
