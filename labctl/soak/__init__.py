"""Soak: numbered changes at every source while faults happen, and a count of what was lost.

What is changed and which faults happen, in which order, follows from one seed.
"""
