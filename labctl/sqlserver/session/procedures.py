"""System procedures with their parameters and PostgreSQL functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from psycopg.sql import SQL, Composable, Identifier, Literal

from labctl.sqlserver.client_errors import SqlError
from labctl.sqlserver.wire.request import Parameter

__all__ = ["PROCEDURES", "SystemProcedure"]


@dataclass(frozen=True, slots=True)
class SystemProcedure:
    """A system procedure. `parameters` are names and PostgreSQL types in the order in which the
    function takes them after the database's name. `rows` says whether it returns a result set."""

    function: str
    parameters: tuple[tuple[str, str], ...]
    rows: bool = True
    polling: bool = False

    def query(
        self, database: str, arguments: Sequence[Parameter], polling_seconds: float
    ) -> tuple[Composable, list[str | None]]:
        """Return the call as SQL, and the values of its parameters."""
        given: dict[str, str | None] = {}
        order = [name for name, _ in self.parameters]
        for position, argument in enumerate(arguments):
            name = argument.name.lower().lstrip("@")
            if not name:
                if position >= len(order):
                    raise SqlError(8144, f"Procedure or function {self.function} has too many "
                                   "arguments specified.", state=2)  # fmt: skip
                name = order[position]
            if name not in order:
                raise SqlError(8145, f"@{name} is not a parameter for procedure {self.function}.",
                               state=2)  # fmt: skip
            given[name] = argument.value
        values = [given.get(name) for name in order]
        items: list[Composable] = [Literal(database)]
        for number, (_, kind) in enumerate(self.parameters, start=1):
            place = SQL("${}::text::{}").format(Literal(number), Identifier(kind))
            items.append(place)
        if self.polling:
            items.append(SQL("{}::numeric").format(Literal(polling_seconds)))
        select = SQL("SELECT * FROM {}({})" if self.rows else "SELECT {}({})")
        function = Identifier("mssql", self.function)
        return select.format(function, SQL(", ").join(items)), values


def _texts(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, "text") for name in names)


_COLUMNS = (
    *_texts("table_name", "table_owner", "table_qualifier", "column_name"),
    ("namescope", "int4"), ("odbcver", "int4"), ("fusepattern", "int4"),
)  # fmt: skip
_STATISTICS = _texts("table_name", "table_owner", "table_qualifier", "index_name", "is_unique",
                     "accuracy")  # fmt: skip
_LEVELS = ("level0type", "level0name", "level1type", "level1name", "level2type", "level2name")
_DATATYPES = (("data_type", "int4"), ("odbcver", "int4"))
_RANGE = (("maxtrans", "int4"), ("maxscans", "int4"), ("continuous", "int4"),
          ("pollinginterval", "numeric"), ("retention", "int8"), ("threshold", "int8"))  # fmt: skip

PROCEDURES: dict[str, SystemProcedure] = {
    "sp_tables": SystemProcedure(
        "sp_tables",
        (*_texts("table_name", "table_owner", "table_qualifier", "table_type"),
         ("fusepattern", "int4")),
    ),
    "sp_columns": SystemProcedure("sp_columns", _COLUMNS),
    "sp_columns_90": SystemProcedure("sp_columns", _COLUMNS),
    "sp_columns_100": SystemProcedure("sp_columns", _COLUMNS),
    "sp_pkeys": SystemProcedure("sp_pkeys", _texts("table_name", "table_owner", "table_qualifier")),
    "sp_fkeys": SystemProcedure(
        "sp_fkeys",
        _texts("pktable_name", "pktable_owner", "pktable_qualifier", "fktable_name",
               "fktable_owner", "fktable_qualifier"),
    ),
    "sp_statistics": SystemProcedure("sp_statistics", _STATISTICS),
    "sp_statistics_100": SystemProcedure("sp_statistics", _STATISTICS),
    "sp_datatype_info": SystemProcedure("sp_datatype_info", _DATATYPES),
    "sp_datatype_info_90": SystemProcedure("sp_datatype_info", _DATATYPES),
    "sp_datatype_info_100": SystemProcedure("sp_datatype_info", _DATATYPES),
    "sp_databases": SystemProcedure("sp_databases", ()),
    "sp_rename": SystemProcedure("sp_rename", _texts("objname", "newname", "objtype"), rows=False),
    "sp_helptext": SystemProcedure("sp_helptext", _texts("objname", "columnname")),
    "sp_addextendedproperty": SystemProcedure(
        "sp_addextendedproperty", _texts("name", "value", *_LEVELS), rows=False
    ),
    "sp_updateextendedproperty": SystemProcedure(
        "sp_updateextendedproperty", _texts("name", "value", *_LEVELS), rows=False
    ),
    "sp_dropextendedproperty": SystemProcedure(
        "sp_dropextendedproperty", _texts("name", *_LEVELS), rows=False
    ),
    "sp_cdc_enable_db": SystemProcedure("cdc_enable_db", (), rows=False, polling=True),
    "sp_cdc_disable_db": SystemProcedure("cdc_disable_db", (), rows=False),
    "sp_cdc_enable_table": SystemProcedure(
        "cdc_enable_table",
        (*_texts("source_schema", "source_name", "capture_instance", "role_name"),
         ("supports_net_changes", "int4"), ("index_name", "text"),
         ("captured_column_list", "text"), ("filegroup_name", "text"),
         ("allow_partition_switch", "int4")),
        rows=False,
    ),
    "sp_cdc_disable_table": SystemProcedure(
        "cdc_disable_table", _texts("source_schema", "source_name", "capture_instance"),
        rows=False,
    ),
    "sp_cdc_help_change_data_capture": SystemProcedure(
        "sp_cdc_help_change_data_capture", _texts("source_schema", "source_name")
    ),
    "sp_cdc_help_jobs": SystemProcedure("sp_cdc_help_jobs", ()),
    "sp_cdc_change_job": SystemProcedure(
        "sp_cdc_change_job", (("job_type", "text"), *_RANGE), rows=False
    ),
    "sp_cdc_add_job": SystemProcedure(
        "sp_cdc_change_job",
        (("job_type", "text"), *_RANGE), rows=False,
    ),
    "sp_cdc_start_job": SystemProcedure("sp_cdc_start_job", _texts("job_type"), rows=False),
    "sp_cdc_stop_job": SystemProcedure("sp_cdc_stop_job", _texts("job_type"), rows=False),
    "sp_cdc_get_captured_columns": SystemProcedure(
        "sp_cdc_get_captured_columns", _texts("capture_instance")
    ),
    "sp_cdc_get_ddl_history": SystemProcedure(
        "sp_cdc_get_ddl_history", _texts("capture_instance")
    ),
    "sp_cdc_cleanup_change_table": SystemProcedure(
        "sp_cdc_cleanup_change_table",
        (("capture_instance", "text"), ("low_water_mark", "bytea"), ("threshold", "int8")),
        rows=False,
    ),
}  # fmt: skip
"""The system procedures that clients may call, by name."""
