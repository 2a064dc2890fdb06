"""The services of a lab: a record each, which every runtime starts from."""
