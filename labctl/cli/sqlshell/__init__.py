"""The shell of `labctl athena shell`."""
