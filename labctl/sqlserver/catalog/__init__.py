"""Types, functions, catalog views and system procedures, kept as SQL in PostgreSQL."""
