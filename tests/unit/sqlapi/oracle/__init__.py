"""Trino itself, asked for the answer to every case: `make trino-oracle`."""
