"""The figures of `labctl bench floor`: each beside the floor that it stands on."""

from __future__ import annotations

from labctl.floor.report import figures_of


def test_a_figure_says_how_far_it_is_from_its_floor() -> None:
    taken = {
        "message": [0.01, 0.02, 0.03],
        "writer": [0.1, 0.1, 0.1],
        "direct": [0.2, 0.1, 0.3],
        "debezium": [0.05],
        "end_to_end": [0.3, 0.3],
    }
    found = {figure.name: figure for figure in figures_of(taken)}
    assert [*found] == [*taken]
    assert found["writer"].ratio is None
    assert (found["direct"].to, found["direct"].ratio) == ("writer", 2.0)
    assert found["debezium"].ratio == 2.5
    assert found["end_to_end"].ratio == 2.0
    assert found["direct"].percentiles.maximum == 0.3


def test_what_was_not_measured_has_no_figure() -> None:
    assert figures_of({"put": []}) == []
