"""The Compose runtime: the same services in containers, defined by the files in `compose/`."""
