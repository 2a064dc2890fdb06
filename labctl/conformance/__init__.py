"""Conformance tests with generated tables: each must be equal to its source, refused, or put aside
by name."""
