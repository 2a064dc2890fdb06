"""Addresses of a lab's services, for people to open or connect to."""

from __future__ import annotations

from rich.table import Table

from labctl.lab.lab import Lab

__all__ = ["addresses", "addresses_table"]


def addresses_table(lab: Lab) -> Table:
    """Show the address of every endpoint."""
    table = Table(box=None, pad_edge=False)
    for title in ("service", "endpoint", "address"):
        table.add_column(title)
    for name, urls in addresses(lab).items():
        for label, url in urls.items():
            table.add_row(name, label, url)
    return table


def addresses(lab: Lab) -> dict[str, dict[str, str]]:
    """Return the addresses of every service by endpoint."""
    return {s.name: dict(s.urls(lab.endpoints, lab.ports[s.name])) for s in lab.services}
