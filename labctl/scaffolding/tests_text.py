"""The first test of a new project."""

from __future__ import annotations

from labctl.scaffolding.new_source import NewSource

__all__ = ["tests_text"]

_EVERY_ROW = '''\
"""The project's tests, on the lab that runs: `labctl up`, then `pytest`.

The fixtures `lab`, `clean_lab`, `source`, `silver`, `eventually` and `faults` come with labctl; its
docs/testing.md explains them.
"""

from labctl.lab.tables.verification import verify_lab


def test_every_row_is_in_silver(lab):
    report = verify_lab(lab)
    assert report.equal, [(table.silver, table.state, table.reason) for table in report.tables]
'''
_UPDATE = """

def test_a_change_arrives(source, silver, eventually):
    database = source("{source}")
    (row,) = database.execute("SELECT email FROM {table} WHERE customer_id = 1")
    email = "ada@example.org" if row[0] != "ada@example.org" else "ada@example.com"
    database.execute("UPDATE {table} SET email = %s WHERE customer_id = 1", (email,))
    eventually(
        lambda: [row["email"] for row in silver("{silver}", "customer_id = 1")] == [email],
        row=("{silver}", {{"customer_id": 1}}),
    )
"""


def tests_text(example: NewSource | None, silver: str) -> str:
    """Return the test, which updates the table of `example`; `silver` is its name in silver."""
    if example is None:
        return _EVERY_ROW
    (table,) = example.tables
    return _EVERY_ROW + _UPDATE.format(source=example.name, table=table.ref, silver=silver)
