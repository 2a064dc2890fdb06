"""PostgreSQL: connections, results as they come, and what their columns are."""
