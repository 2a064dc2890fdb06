"""Athena: executions of statements, and what is kept beside them."""
