"""TDS 7.4 on the wire: packets, login, tokens, types and TLS, independent of SQL."""
