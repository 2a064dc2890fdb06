"""Proof by generated tables: each is equal to its source, refused, or put aside by name."""
