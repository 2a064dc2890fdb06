"""TDS 7.4 on the wire: packets, login, tokens, types and TLS. Knows nothing of SQL."""
