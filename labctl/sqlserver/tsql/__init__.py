"""T-SQL: parsing of scripts into statements, and translation to PostgreSQL with sqlglot."""
