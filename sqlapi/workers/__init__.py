"""Queries in processes of their own, which can be ended, and have a limit of memory each."""
