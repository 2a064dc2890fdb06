"""This program's own Kafka clients: what topics hold, and where they end."""
