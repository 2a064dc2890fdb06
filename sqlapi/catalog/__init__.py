"""Databases and tables that clients define by Glue's API, and those of the source."""
