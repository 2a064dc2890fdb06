"""The database engines, a folder each: its `ENGINE` is all that the rest of labctl knows of it."""
