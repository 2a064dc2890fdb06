"""The shell of `labctl sql`."""
