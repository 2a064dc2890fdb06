"""Evidence for the rules of types: what the kept reports have seen of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from labctl.conformance.cases import ValueClass
from labctl.conformance.conformance_report import ConformanceReport
from labctl.conformance.judging import End
from labctl.conformance.matrix import WORST, MatrixCell
from labctl.engine_names import EngineName
from labctl.sources import ENGINES

__all__ = ["contradictions", "evidence", "kept_reports", "rule_of"]

_REPORTS = Path("docs", "benchmarks")
_NAMES_OF_REPORTS = "conformance*.json"
"""Kept reports: of successive seeds, perhaps of several commits."""
_TOLD = (End.EQUAL, End.UNCOMPARED, End.FAILED)
_SIZE = re.compile(r"\([^)]*\)")
_COMMA_IN_NAME = re.compile(r"^enum\((?:'(?:[^',]|'')*',)*'(?:[^',]|'')*,[^']")
_CHARACTERS = re.compile(r" (?:character set|collate|zerofill|sparse)\b.*")


def kept_reports() -> dict[str, ConformanceReport]:
    """Return the kept reports by file name in docs/benchmarks, in the order of their seeds."""
    paths = sorted(_REPORTS.glob(_NAMES_OF_REPORTS))
    reports = {path.name: ConformanceReport.load(path) for path in paths}
    return dict(sorted(reports.items(), key=lambda item: item[1].first_seed))


def rule_of(engine: EngineName, declared: str) -> str | None:
    """Return the name of the rule for a generated table's type; None for a type without one.

    An ENUM with a comma in a name has none, because its column is left out of capture.
    """
    record = ENGINES[engine]
    rules, other_names = record.types(), record.conformance().rule_names
    if "character set binary" in declared.lower() or _COMMA_IN_NAME.search(declared):
        return None
    plain = _CHARACTERS.sub("", declared.lower())
    unsized = " ".join(_SIZE.sub(" ", plain).split())
    for name in (declared, plain, unsized):
        if (rule := other_names.get(name, name)) in rules:
            return rule
    return None


def evidence(reports: Iterable[ConformanceReport]) -> dict[tuple[EngineName, str], str]:
    """Return what the reports have seen of each rule, in words, by engine and rule."""
    found: dict[tuple[EngineName, str], dict[End, set[str]]] = {}
    tables: dict[tuple[EngineName, str], int] = {}
    for report in reports:
        for cell, rule in _of_rules(report):
            place = (cell.engine, rule)
            found.setdefault(place, {}).setdefault(cell.end, set()).add(cell.values)
            tables[place] = max(tables.get(place, 0), cell.tables)
    return {place: _words(ends, tables[place]) for place, ends in found.items()}


def _words(ends: dict[End, set[str]], tables: int) -> str:
    """Return each end with its classes of values, the worst last."""
    parts = []
    for end in reversed(WORST):
        if end in ends:
            classes = [value for value in ValueClass if value in ends[end]]
            parts.append(f"{end}: {', '.join(classes)}")
    return f"{'; '.join(parts)} ({tables})"


def _of_rules(report: ConformanceReport) -> Iterator[tuple[MatrixCell, str]]:
    """Yield the cells that tell something of a rule.

    An older report's matrix also blames values for their column's name, key and other values.
    """
    for cell in report.matrix:
        is_told = cell.end in _TOLD or report.blames_values or cell.values is ValueClass.BEYOND
        if is_told and (rule := rule_of(cell.engine, cell.type)) is not None:
            yield cell, rule


def contradictions(report: ConformanceReport) -> list[str]:
    """Return the cells of a report's matrix that contradict the rule of their type.

    A failure contradicts each rule. Every other end but `equal` contradicts a rule by which silver
    has the exact value, unless the values are beyond what it holds.
    """
    wrong = []
    for cell, rule in _of_rules(report):
        is_lossy = ENGINES[cell.engine].types()[rule].is_lossy
        is_beyond = cell.values is ValueClass.BEYOND
        if cell.end is End.FAILED or (cell.end is not End.EQUAL and not is_lossy and not is_beyond):
            wrong.append(f"{cell.engine} {cell.type}, {cell.values}, {cell.phase}: {cell.end}")
    return wrong
