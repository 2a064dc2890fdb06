"""Hive's metastore beside the lab's own catalog: its program, a client of it, and its settings."""
