"""The pytest plugin: what it says without a lab, how its lab goes back, what a failure leaves."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from labctl.errors import ExitCode, LabError, did_you_mean
from labctl.lab.lab import Lab
from labctl.scaffolding.examples import example_source
from labctl.scaffolding.project import new_project, write_project
from labctl.state.lab_state import lab_names
from labctl.state.sockets import RANGE_VARIABLE, own_range
from labctl.testing import failure_report, plugin, session_lab
from labctl.testing.eventually import Eventually, StuckError
from labctl.testing.failure_report import add_account, failures_with_lab, write_page
from labctl.testing.plugin import pytest_configure
from labctl.testing.session_lab import SessionLab, make_lab, running_lab
from labctl.testing.workers import take_ports

EXAMPLE = Path(__file__).parents[2] / "examples" / "orders"


@pytest.fixture
def project(tmp_path: Path, state_home: Path) -> Path:
    """A new project, and no lab on this machine."""
    del state_home
    write_project(tmp_path, new_project("shop", [example_source("orders", "postgres")]))
    return tmp_path


def test_without_a_lab_it_says_what_to_run(project: Path, pytestconfig: pytest.Config) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest"],
        cwd=project,
        env={**os.environ, "LABCTL_PROJECT": str(project)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "There is no lab named 'shop' on this machine" in done.stdout
    assert "next: `labctl up` starts it; `pytest --lab=` makes a lab" in done.stdout
    assert "session_lab.py" not in done.stdout
    with pytest.raises(LabError) as other:
        running_lab("other", project, pytestconfig)
    assert "`labctl up --lab other` starts it" in (other.value.hint or "")


class NothingWritten:
    """A lake without a table."""

    def table_names(self) -> list[str]:
        return []


def test_a_misspelt_table_is_an_error_and_one_without_a_commit_is_empty(project: Path) -> None:
    lab = Lab.find(project=project)
    silver = inspect.unwrap(plugin.silver)(lab, NothingWritten())
    assert silver("customer") == []
    with pytest.raises(LabError, match="There is no table 'custmer' in this lab") as caught:
        silver("custmer")
    assert caught.value.exit_code is ExitCode.USAGE
    assert (caught.value.hint or "").startswith("did you mean shop.customer? tables: ")
    with pytest.raises(LabError, match="There is no table 'custmer'"):
        Eventually(lab)(lambda: True, row=("custmer", {"id": 1}))
    added = project / "spark" / "properties" / "orders.public.invoice.properties"
    (customer,) = added.parent.glob("orders.public.*.properties")
    added.write_text(customer.read_text().replace("customer", "invoice"))
    assert silver("invoice") == []


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("sael", "did you mean tickit.sale? "),
        ("tickit.sael", "did you mean tickit.sale? "),
        ("tickt.sale", "did you mean tickit.sale? "),
        ("xyz", ""),
    ],
)
def test_a_name_that_is_like_another_is_asked_about(name: str, hint: str) -> None:
    assert did_you_mean(name, ["tickit.sale", "moma.artists"]) == hint


def config_of(**options: str) -> pytest.Config:
    by_name = {f"--{name.replace('_', '-')}": value for name, value in options.items()}
    return cast("pytest.Config", SimpleNamespace(getoption=by_name.get))


def test_a_running_lab_does_not_begin_as_a_snapshot() -> None:
    pytest_configure(config_of(lab="", lab_snapshot="loaded"))
    with pytest.raises(pytest.UsageError, match="--lab shop stays as it is"):
        pytest_configure(config_of(lab="shop", lab_snapshot="loaded"))


def test_a_profile_that_is_not_there_is_named(project: Path) -> None:
    with pytest.raises(LabError, match="no profile 'other' with runtime native"):
        make_lab(project, config_of(lab_runtime="native", lab_profile="other"))
    assert lab_names() == []


def test_workers_have_ports_that_no_other_has(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = []
    for worker in ("gw0", "gw1", "gw2"):
        monkeypatch.setenv(RANGE_VARIABLE, "21000-21999")
        take_ports(worker, 2)
        shares.append(own_range())
    assert shares == [range(21000, 21500), range(21500, 22000), range(21000, 21500)]


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is done to the lab and its snapshots, in order."""
    steps: list[str] = []

    def save(_lab: Lab, name: str, *, replace: bool) -> SimpleNamespace:
        assert replace
        steps.append(f"save {name}")
        return SimpleNamespace(name=name)

    monkeypatch.setattr(session_lab, "verify_lab", lambda _: steps.append("settle"))
    monkeypatch.setattr(session_lab, "save_snapshot", save)
    monkeypatch.setattr(session_lab, "find_snapshot", lambda name: name)
    monkeypatch.setattr(session_lab, "restore_snapshot", lambda _, n: steps.append(f"restore {n}"))
    monkeypatch.setattr(session_lab, "up", lambda *_: steps.append("up"))
    monkeypatch.setattr(session_lab, "delete_snapshot", lambda name: steps.append(f"delete {name}"))
    monkeypatch.setattr(session_lab, "destroy", lambda _: steps.append("destroy"))
    return steps


def lab_named(name: str) -> Lab:
    return cast("Lab", SimpleNamespace(name=name, state=SimpleNamespace(exists=True), runtime=None))


def test_a_lab_of_the_sessions_own_goes_back_only_after_a_test_had_it(done: list[str]) -> None:
    session = SessionLab(lab_named("pytest-shop"), is_own=True)
    session.save_start()
    session.go_back()
    assert done == ["settle", "save pytest-shop.start"]
    session.is_touched = True
    session.go_back()
    session.go_back()
    assert done[2:] == ["restore pytest-shop.start", "up"]
    session.is_touched = True
    session.end(keep=False)
    assert done[4:] == ["destroy", "delete pytest-shop.start"]


def test_a_lab_of_the_users_is_put_back_at_the_end(done: list[str]) -> None:
    session = SessionLab(lab_named("shop"), is_own=False)
    session.go_back()
    session.is_touched = True
    session.end(keep=False)
    assert done[2:] == ["restore shop.start", "up", "delete shop.start"]


def test_a_lab_of_the_users_is_left_alone_where_no_test_asked(done: list[str]) -> None:
    session = SessionLab(lab_named("shop"), is_own=False, is_touched=True)
    session.end(keep=False)
    assert done == []


def test_a_named_snapshot_stays(done: list[str]) -> None:
    session = SessionLab(
        lab_named("pytest-shop"), is_own=True, start="loaded", start_stays=True, is_touched=True
    )
    session.go_back()
    session.end(keep=True)
    assert done == ["restore loaded", "up"]


def test_workers_that_share_a_lab_do_not_take_it_from_each_other() -> None:
    assert SessionLab(lab_named("pytest-shop-gw1"), is_own=True).why_no_way_back is None
    shared = SessionLab(lab_named("shop"), is_own=False, is_shared=True)
    assert "--lab=" in (shared.why_no_way_back or "")


def failed_report(error: BaseException) -> pytest.TestReport:
    report = pytest.TestReport(
        nodeid="tests/test_shop.py::test_update",
        location=("tests/test_shop.py", 1, "test_update"),
        keywords={},
        outcome="failed",
        longrepr=f"E  {error}",
        when="call",
    )
    service = SimpleNamespace(name="kafka")
    logs = SimpleNamespace(tail=lambda _name, _lines: ["<last line>"])
    runtime = SimpleNamespace(logs=logs)
    lab: Any = SimpleNamespace(name="shop", services=[service], runtime=runtime)
    add_account(report, lab, error)
    return report


def test_a_failure_has_the_state_of_its_lab_and_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failure_report, "trace_row", lambda _lab, row: ["states: kafka", str(row)])
    report = failed_report(AssertionError("1 < 2"))
    assert report.sections == [("lab shop", "states: kafka\nNone")]
    # As pytest-xdist hands it on.
    handed_on = pytest.TestReport._from_json(report._to_json())
    other = pytest.TestReport("other", ("", 0, ""), {}, "failed", None, "call")
    assert failures_with_lab([other, handed_on]) == [handed_on]
    text = write_page(tmp_path, [handed_on]).read_text()
    assert "tests/test_shop.py::test_update (call)" in text
    assert "E  1 &lt; 2" in text
    assert "states: kafka" in text
    assert "&lt;last line&gt;" in text


def test_a_wait_that_failed_has_told_it_already(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failure_report, "trace_row", lambda *_: pytest.fail("asked twice"))
    assert failed_report(StuckError("not so after 1 s\nstates: kafka")).sections == []


def test_the_example_is_what_init_writes_but_for_its_own_tables() -> None:
    sources = [example_source(name, "postgres") for name in ("orders", "stock")]
    written = new_project("shop", sources).files
    own = (
        "lab.toml",
        "lab.schema.json",
        "Makefile",
        "db/",
        "tests/",
        "spark/properties/orders.",
        "spark/properties/s",
    )
    shared = {name: text for name, text in written.items() if not name.startswith(own)}
    assert len(shared) == 6
    assert {name: (EXAMPLE / name).read_text() for name in shared} == shared
