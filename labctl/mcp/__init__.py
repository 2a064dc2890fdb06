"""A server of the Model Context Protocol: the lab's commands as tools for coding agents."""
