"""The view, the prepared statement and the named query, which are created if they are missing."""

from __future__ import annotations

import logging
from threading import Lock
from uuid import NAMESPACE_URL, uuid5

from botocore.exceptions import BotoCoreError, ClientError

from lakeapi import statements
from lakeapi.athena import Athena
from lakeapi.problems import LakeUnavailableError
from lakeapi.settings import Settings

__all__ = ["Definitions"]

log = logging.getLogger("lakeapi")


class Definitions:
    """The definitions that the service keeps in Athena. It is thread-safe."""

    def __init__(self, settings: Settings, athena: Athena) -> None:
        self._settings = settings
        self._athena = athena
        self._making = Lock()
        self._likes: str | None = None
        """The text of the named query; None until all three are known to exist."""

    def ensure(self) -> str:
        """Create the definitions that are missing. Return the named query's text.

        This queries Athena only once until `forget` is called. Other threads wait for the one that
        does. Another worker may do the same at that time: creating a definition twice has the same
        result as creating it once. Raises LakeUnavailableError.
        """
        likes = self._likes
        if likes is not None:
            return likes
        with self._making:
            if self._likes is None:
                try:
                    self._view()
                    self._prepared_statement()
                    self._likes = self._named_query()
                except (BotoCoreError, ClientError) as error:
                    raise LakeUnavailableError(str(error)) from error
            return self._likes

    def forget(self) -> None:
        """Make the next `ensure` check again: somebody may have dropped a definition."""
        self._likes = None

    def _view(self) -> None:
        client = self._athena.client
        for name in statements.VIEWS:
            try:
                client.get_table_metadata(
                    CatalogName=self._settings.catalog,
                    DatabaseName=self._settings.database,
                    TableName=name,
                )
            except client.exceptions.MetadataException:
                log.info("view %s is made", name)
                text = statements.sales_by_category(self._settings.tables)
                self._athena.rows(f'CREATE OR REPLACE VIEW "{name}" AS {text}')

    def _prepared_statement(self) -> None:
        client, group = self._athena.client, self._settings.workgroup
        try:
            client.get_prepared_statement(StatementName=statements.SELLER, WorkGroup=group)
        except client.exceptions.ResourceNotFoundException:
            log.info("prepared statement %s is made", statements.SELLER)
            try:
                client.create_prepared_statement(
                    StatementName=statements.SELLER,
                    WorkGroup=group,
                    QueryStatement=statements.sales_by_seller(self._settings.tables),
                )
            except client.exceptions.InvalidRequestException:
                # another worker may have created it meanwhile
                client.get_prepared_statement(StatementName=statements.SELLER, WorkGroup=group)

    def _named_query(self) -> str:
        client = self._athena.client
        if id_ := self._settings.named_query_id:
            return client.get_named_query(NamedQueryId=id_)["NamedQuery"]["QueryString"]
        pages = client.get_paginator("list_named_queries").paginate(
            WorkGroup=self._settings.workgroup
        )
        for page in pages:
            if ids := page["NamedQueryIds"]:
                for query in client.batch_get_named_query(NamedQueryIds=ids)["NamedQueries"]:
                    same = query["Database"] == self._settings.database
                    if same and query["Name"] == statements.LIKES:
                        return query["QueryString"]
        log.info("named query %s is made", statements.LIKES)
        text = statements.likes(self._settings.tables)
        client.create_named_query(
            Name=statements.LIKES,
            Database=self._settings.database,
            QueryString=text,
            WorkGroup=self._settings.workgroup,
            # two workers that create it at the same time create it once
            ClientRequestToken=str(
                uuid5(NAMESPACE_URL, f"{self._settings.workgroup}/{self._settings.database}/{text}")
            ),
        )
        return text
