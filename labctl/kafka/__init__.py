"""This program's own Kafka clients, which read topics and their end offsets."""
