"""PostgreSQL: connections, streamed results and the types of their columns."""
