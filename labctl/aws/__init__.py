"""Sessions with AWS, and where the services of a promoted lab answer."""
