"""Importing a user's own files into a project, with the edits that they need there.

Files are written only after every file has been read and nothing is left to decide.
"""

from __future__ import annotations

from labctl.importing.import_changes import Change, Import, ImportedFile
from labctl.importing.imported_connectors import import_connectors
from labctl.importing.imported_tables import import_tables
from labctl.importing.project import open_project

__all__ = [
    "Change",
    "Import",
    "ImportedFile",
    "import_connectors",
    "import_tables",
    "open_project",
]
