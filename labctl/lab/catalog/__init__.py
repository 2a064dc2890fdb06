"""The catalog of a lab, Athena's API, and the lake API."""
