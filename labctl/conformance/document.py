# ruff: noqa: E501 - a row of a table is one line
"""Writing docs/conformance.md: `python -m labctl.conformance.document > docs/conformance.md`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce

from labctl.conformance.appending import added
from labctl.conformance.cases import ValueClass
from labctl.conformance.conformance_report import ConformanceReport
from labctl.conformance.evidence import kept_reports
from labctl.conformance.judging import End, Phase
from labctl.conformance.matrix import MatrixCell
from labctl.engine_names import EngineName
from labctl.sources import ENGINES

__all__ = ["render"]

_MARKS = {
    End.EQUAL: "=",
    End.UNCOMPARED: "~",
    End.REFUSED: "refused",
    End.PUT_ASIDE: "aside",
    End.FAILED: "**failed**",
    End.INVALID: "-",
}
_INTRODUCTION = """\
# Conformance: which values arrive

`labctl test conformance` makes tables at random, loads them into a running lab, changes them while they
stream, and compares each with its source twice: by `labctl verify`, and by a second comparison that
shares no code with it. Each table has to end in one of these states:

| state | what it means |
| --- | --- |
| equal (`=`) | both comparisons find each row and value of the source in silver |
| uncompared (`~`) | equal, but for columns of types that `labctl verify` names because it cannot compare them ([types.md](types.md)), or that it alone compares |
| refused | `labctl table add` says why it does not capture the table, before anything is captured |
| put aside (`aside`) | the record is put aside by name ([bad-records.md](bad-records.md)), or the table stops with its column named |
| **failed** | none of these |

While changes stream, a table's history changes rows and columns. A copy takes the place of some
tables, and others have another name for a while (PostgreSQL, MySQL). Some have partitions that are
added, attached, detached and dropped (PostgreSQL). The run takes each step that
[schema-changes.md](schema-changes.md) demands after such a change, as SQL Server's second capture
instance, and compares after it.

The same seed makes the same table: `labctl test conformance --engine mysql --seed 12` repeats one, and
`--minutes 60` makes as many as an hour holds. With `--append`, a run goes on from the seeds of the
report that `--json` names, and adds to it; code, services and machine must be the same.
Failing tables are made smaller, by columns, rows and steps of their history, and are printed as
SQL. The command uses databases of its own, and removes them again with topics, files and
connectors; only their schemas stay, because the registry deletes none. Your project's files and
tables stay as they are; the Spark application restarts for each batch. `--faults` kills Kafka Connect or the Spark application within each history.

Ctrl-C, or SIGTERM, ends a run; it removes the same things first. After SIGKILL they stay, and the
lab runs for the run's copy of your project: the next `labctl test conformance` removes them.
"""
_NAMES = {
    ValueClass.NULL: "null",
    ValueClass.DEFAULT: "default",
    ValueClass.EXTREME: "extreme",
    ValueClass.SPECIAL: "special",
    ValueClass.BEYOND: "beyond",
}


def render(reports: Mapping[str, ConformanceReport]) -> str:
    """Return the whole page of reports by file name; without any, only the introduction."""
    if not reports:
        return _INTRODUCTION
    whole = reduce(added, reports.values())
    parts = (_INTRODUCTION, *_runs(reports, whole), *_matrices(whole), *_failures(whole))
    return "\n".join(parts)


def _runs(reports: Mapping[str, ConformanceReport], whole: ConformanceReport) -> Iterator[str]:
    yield "## The runs that this page shows\n"
    yield (
        f"Made by `python -m labctl.conformance.document > docs/conformance.md`: {whole.tables:,} "
        f"tables,\n{whole.tables_per_minute:.0f} per minute.\n"
    )
    for name, report in reports.items():
        where = report.environment
        commit = "" if where.commit.startswith("unknown") else f" commit {where.commit},"
        runs = f", in {report.runs} runs" if report.runs > 1 else ""
        yield (
            f"- [{name}](benchmarks/{name}): {report.tables:,} tables from seed "
            f"{report.first_seed} on{runs}, {where.at[:10]},{commit} {where.cores} cores, load "
            f"{where.load_1_5_15[0]:.0f} before"
        )
    yield ""
    yield from _counts(whole)


def _counts(report: ConformanceReport) -> Iterator[str]:
    yield "| engine | equal | uncompared | refused | put aside | failed |"
    yield "| --- | --: | --: | --: | --: | --: |"
    for engine, counts in report.engines.items():
        numbers = (counts.equal, counts.uncompared, counts.refused, counts.put_aside, counts.failed)
        cells = " | ".join(map(str, numbers))
        yield f"| {ENGINES[engine].title} | {cells} |"
    for engine, types in report.missing_types.items():
        if types:
            listed = ", ".join(f"`{one}`" for one in types)
            yield f"\nThe lab's {ENGINES[engine].title} does not have {listed}."
    yield ""


def _matrices(report: ConformanceReport) -> Iterator[str]:
    yield "## By type\n"
    yield (
        "Each cell has the worst that a table showed: in the first load, then in the stream. An\n"
        "empty one was in no table that tells something of it. *Beyond* are values that silver\n"
        "cannot hold, such as PostgreSQL's `infinity`.\n"
    )
    for engine in report.engines:
        yield f"### {ENGINES[engine].title}\n"
        yield f"| type | {' | '.join(_NAMES.values())} |"
        yield f"| --- |{' --- |' * len(_NAMES)}"
        cells = {(c.type, c.values, c.phase): c for c in report.matrix if c.engine == engine}
        for declared in dict.fromkeys(c.type for c in report.matrix if c.engine == engine):
            row = " | ".join(_pair(cells, declared, values) for values in _NAMES)
            yield f"| `{declared.replace('|', '&#124;')}` | {row} |"
        yield ""


def _pair(
    cells: dict[tuple[str, ValueClass, Phase], MatrixCell], declared: str, values: ValueClass
) -> str:
    found = [cells.get((declared, values, phase)) for phase in Phase]
    if not any(found):
        return ""
    return " / ".join(_MARKS[cell.end] if cell else "·" for cell in found)


def _failures(report: ConformanceReport) -> Iterator[str]:
    counts: dict[tuple[EngineName, str], list[int]] = {}
    for failure in report.failures:
        counts.setdefault((failure.engine, failure.reason), []).append(failure.seed)
    yield "## Failures\n"
    yield (
        "Of the commits above. The [changelog](../CHANGELOG.md) says what has been corrected since.\n"
    )
    if not counts:
        yield "None.\n"
        return
    for (engine, reason), seeds in counts.items():
        listed = ", ".join(map(str, seeds))
        text = " ".join(reason.split())[:300].replace("`", "'")
        yield f"- {ENGINES[engine].title}, seed {listed}: `{text}`"
    yield ""


if __name__ == "__main__":
    print(render(kept_reports()), end="")
