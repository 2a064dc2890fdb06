"""Databases and tables: those that were defined by Glue's API, and those of the source."""
