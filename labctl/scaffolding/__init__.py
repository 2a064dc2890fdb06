"""Writing the files of a project: connectors, tables' properties, a whole new folder."""
