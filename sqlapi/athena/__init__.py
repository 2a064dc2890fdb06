"""Athena: query executions, workgroups, named queries and prepared statements."""
