"""The connectors of a lab, and what they capture of the sources."""
