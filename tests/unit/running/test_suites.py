"""The table of suites is read from markers."""

from __future__ import annotations

from docsite.suites import suites_of


def test_a_marker_decides_and_the_last_of_several_counts() -> None:
    assert suites_of(
        """
import pytest
def helper(): pass
def test_plain(): pass
@pytest.mark.long
def test_long(): pass
@pytest.mark.soak
@pytest.mark.long
def test_both(): pass
@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.soak)])
def test_some(n): pass
"""
    ) == [{""}, {"long"}, {"soak"}, {"", "soak"}]


def test_a_module_s_marker_is_all_its_tests() -> None:
    assert suites_of(
        """
pytestmark = [pytest.mark.long]
def test_a(): pass
@pytest.mark.soak
def test_b(): pass
"""
    ) == [{"long"}, {"soak"}]
