"""The page of a lab."""
