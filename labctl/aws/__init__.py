"""Sessions with AWS, and the endpoints of a promoted lab's services."""
