"""T-SQL: scripts are parsed into statements, and queries rewritten for PostgreSQL with sqlglot."""
