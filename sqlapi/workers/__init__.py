"""Worker processes for queries, which can be ended and have a memory limit each."""
