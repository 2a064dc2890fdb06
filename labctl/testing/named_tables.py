"""Names of tables as tests write them: a misspelt one must not read as a table without rows."""

from __future__ import annotations

from labctl.lab.lab import Lab
from labctl.tables import full_name, lab_tables

__all__ = ["known_table"]


def known_table(lab: Lab, name: str) -> str:
    """Return the full name of a table of the project.

    The project's files are read again: the test may have added a table. Raise LabError (USAGE).
    """
    known = {table.name for table in lab_tables(lab.project, lab.config)}
    return full_name(name, sorted(known), place=" in this lab")
