"""Change data capture, kept as SQL in PostgreSQL."""
