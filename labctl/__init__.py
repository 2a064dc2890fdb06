"""A local-first lab and test harness for a change-data-capture lakehouse."""
