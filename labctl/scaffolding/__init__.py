"""Generation of a project's files: connectors, tables' properties, a whole new folder."""
