"""The state of a lab: services, pipeline, problems."""
