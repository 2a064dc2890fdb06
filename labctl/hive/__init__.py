"""Hive's metastore beside the lab's own catalog: its class path, a client, and its schema."""
