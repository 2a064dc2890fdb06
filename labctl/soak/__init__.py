"""Soak: numbered changes at every source while faults happen, and a count of lost changes.

One seed decides the changes, the faults and their order.
"""
