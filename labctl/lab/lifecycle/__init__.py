"""The start and the end of a lab: services, ports, seeding."""
