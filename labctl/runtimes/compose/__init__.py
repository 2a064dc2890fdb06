"""The Compose runtime: the same services in containers, by the file in `compose/`."""
