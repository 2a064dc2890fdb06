"""Rules of types, and what the kept reports have seen of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from labctl.conformance.cases import ValueClass
from labctl.conformance.conformance_report import ConformanceReport
from labctl.conformance.evidence import contradictions, evidence, kept_reports, rule_of
from labctl.conformance.judging import End, Phase
from labctl.conformance.matrix import MatrixCell
from labctl.engine_names import EngineName
from labctl.sources import ENGINES

REPORTS = Path(__file__).parents[3] / "docs" / "benchmarks"


@pytest.mark.parametrize("path", sorted(REPORTS.glob("conformance*.json")), ids=lambda p: p.name)
def test_no_kept_report_contradicts_a_rule(path: Path) -> None:
    assert contradictions(ConformanceReport.load(path)) == []


def report_of(*cells: MatrixCell) -> ConformanceReport:
    kept = ConformanceReport.load(REPORTS / "conformance.json")
    return kept.model_copy(update={"matrix": cells, "blames_values": True})


def cell(
    declared: str, end: End, values: ValueClass = ValueClass.NULL, tables: int = 3
) -> MatrixCell:
    return MatrixCell(
        engine="postgres", type=declared, values=values, phase=Phase.LOAD, end=end, tables=tables
    )


@pytest.mark.parametrize(
    ("declared", "values", "end", "contradicts"),
    [
        ("bigint", ValueClass.EXTREME, End.EQUAL, False),
        ("bigint", ValueClass.EXTREME, End.UNCOMPARED, True),
        ("bigint", ValueClass.EXTREME, End.PUT_ASIDE, True),
        ("bigint", ValueClass.EXTREME, End.FAILED, True),
        ("numeric", ValueClass.BEYOND, End.PUT_ASIDE, False),
        ("numeric", ValueClass.BEYOND, End.FAILED, True),
        ("money", ValueClass.EXTREME, End.UNCOMPARED, False),
        ("money", ValueClass.EXTREME, End.FAILED, True),
        ("citext", ValueClass.EXTREME, End.UNCOMPARED, False),
    ],
)
def test_an_exact_rule_is_contradicted_by_everything_but_equal(
    declared: str, values: ValueClass, end: End, contradicts: bool
) -> None:
    assert bool(contradictions(report_of(cell(declared, end, values)))) is contradicts


def test_evidence_has_each_end_with_its_kinds_of_values() -> None:
    report = report_of(
        cell("numeric(8,2)", End.EQUAL),
        cell("numeric", End.EQUAL, ValueClass.EXTREME, 5),
        cell("numeric", End.PUT_ASIDE, ValueClass.BEYOND),
    )
    assert evidence([report]) == {
        ("postgres", "numeric"): "equal: null, extreme; put aside: beyond (5)"
    }


@pytest.mark.parametrize(
    ("engine", "declared", "rule"),
    [
        ("postgres", "varchar(100)", "character varying"),
        ("postgres", '"char"', '"char"'),
        ("postgres", "timestamp(3)", "timestamp without time zone"),
        ("postgres", "mood", "enum"),
        ("postgres", "integer[]", None),
        ("mysql", "tinyint(1)", "tinyint(1)"),
        ("mysql", "int(6) unsigned zerofill", "int unsigned"),
        ("mysql", "varchar(50) CHARACTER SET latin1", "varchar"),
        ("mysql", "char(10) CHARACTER SET binary", None),
        ("mysql", "bit(1)", "bit(1)"),
        ("mysql", "bit(9)", "bit"),
        ("mysql", "enum('a','b, c')", None),
        ("mysql", "enum('sad','so so','it''s, odd')", None),
        ("mysql", "enum('sad','it''s')", "enum"),
        ("sqlserver", "int SPARSE", "int"),
        ("sqlserver", "datetime2(7)", "datetime2"),
    ],
)
def test_a_declared_type_has_its_rule(engine: EngineName, declared: str, rule: str | None) -> None:
    assert rule_of(engine, declared) == rule


def test_nearly_all_rules_have_a_generated_type() -> None:
    for engine, record in ENGINES.items():
        kinds = record.conformance().column_types
        seen = {rule_of(engine, kind.declared) for kind in kinds}
        assert len(set(record.types()) - seen) <= len(record.types()) // 5, engine


def test_kept_reports_are_in_the_order_of_their_seeds() -> None:
    seeds = [report.first_seed for report in kept_reports().values()]
    assert seeds == sorted(seeds)
