"""Carrying a plan out, looking at what is there, and taking it away again."""
