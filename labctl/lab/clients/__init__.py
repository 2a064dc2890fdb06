"""Other programs' access to a lab."""
