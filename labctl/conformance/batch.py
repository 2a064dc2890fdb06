"""One batch: many tables in one lab at a time, each judged after its load and after its history."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import requests

from labctl.config.model import SourceEngine
from labctl.conformance.judging import End, Phase, Result, judged
from labctl.conformance.kinds import KINDS
from labctl.conformance.model import Case
from labctl.conformance.reading import differences, read_silver, read_source
from labctl.conformance.stage import Stage
from labctl.conformance.statements import Script, table_name
from labctl.errors import LabError
from labctl.home.changes import change_files
from labctl.kafkaconnect.opening import connect_client
from labctl.kafkaconnect.traces import cause
from labctl.lab.connectors import check_files, check_sink_files, restart_failed_tasks
from labctl.lab.in_flight import records_behind
from labctl.lab.lab import Lab
from labctl.lab.pipeline import HELD_UP, silver_status
from labctl.lab.table_requests import lab_dead_letters
from labctl.lab.verification import verify_lab
from labctl.scaffolding.tables import new_files
from labctl.sources import Source, connect
from labctl.sources.base import TableRef
from labctl.tables import LabTable
from labctl.verify import TableVerdict

__all__ = ["Batches", "missing_kinds", "verified"]

Say = Callable[[str], None]
_PATIENCE = 4.0
_SECONDS = 90.0
_ALONE_SECONDS = 15.0
_HELD_SECONDS = 3.0
_POLL_SECONDS = 0.3


@dataclass
class _Table:
    """A case in the lab."""

    case: Case
    ref: TableRef
    script: Script
    result: Result
    silver: LabTable | None = None


class Batches:
    """Runs batches in one stage. Tables have names that no earlier batch had."""

    def __init__(self, stage: Stage, say: Say = lambda _: None) -> None:
        self._stage = stage
        self._say = say
        # A name that an earlier run had may still be known to a part of the lab.
        run = f"{int(time.time()) % 0x10000000:x}"
        self._tokens = (f"t{run}_{number}" for number in count())
        self._open = ExitStack()
        self._sources: dict[SourceEngine, Source] = {}
        self.missing_kinds: dict[SourceEngine, list[str]] = {}
        """Types that a server of the lab does not have."""

    def __enter__(self) -> Batches:
        for engine in self._stage.engines:
            source = connect(self._stage.lab.endpoints, Stage.source(engine))
            self._sources[engine] = self._open.enter_context(source)
            self.missing_kinds[engine] = missing_kinds(source, engine, Stage.ref(engine, "").schema)
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def run(self, cases: Sequence[Case]) -> list[Result]:
        """Run all cases at once, and say how each ended.

        A table that stops its connector takes the others of its engine along: they are run again in
        halves until the one is found.
        """
        results = self._run(cases)
        blocked = [r for r in results if r.end is End.FAILED and r.reason.startswith(_STOPPED)]
        for engine in self._stage.engines:
            of_engine = [r.case for r in blocked if r.case.engine == engine]
            if len(of_engine) < 2:
                continue
            self._say(f"a table of {engine} stops its connector: looking for it")
            half = len(of_engine) // 2
            again = [*self.run(of_engine[:half]), *self.run(of_engine[half:])]
            by_case = {id(result.case): result for result in again}
            results = [by_case.get(id(result.case), result) for result in results]
        return results

    def _run(self, cases: Sequence[Case]) -> list[Result]:
        begun = time.monotonic()
        made = [self._make(case) for case in cases]
        try:
            for table in made:
                if table.result.end is not End.INVALID:
                    self._add(table)
            live = [table for table in made if table.silver is not None]
            if live:
                self._follow(live)
        finally:
            self._stage.clear()
            for engine in {case.engine for case in cases}:
                self._stage.drop_connector(engine)
            for table in made:
                with suppress(LabError):
                    self._sources[table.case.engine].execute(table.script.drop())
        for table in made:
            table.result.seconds = time.monotonic() - begun
        return [table.result for table in made]

    def _make(self, case: Case) -> _Table:
        """Create and fill the table in its database."""
        whole = case
        missing = self.missing_kinds[case.engine]
        case = case.with_columns([c.name for c in case.columns if c.kind.declared not in missing])
        ref = Stage.ref(case.engine, table_name(case, next(self._tokens)))
        script = Script(case, ref)
        table = _Table(case, ref, script, Result(whole, End.FAILED))
        source = self._sources[case.engine]
        try:
            source.execute(script.create())
        except LabError as error:
            table.result.end, table.result.reason = End.INVALID, str(error)
            return table
        for statement in script.load():
            self._execute(table, statement)
        return table

    def _execute(self, table: _Table, statement: str) -> None:
        try:
            self._sources[table.case.engine].execute(statement)
        except LabError as error:
            table.result.declined.append(f"{statement[:200]}: {error.what[:200]}")

    def _add(self, table: _Table) -> None:
        """Have the product take the table in, or refuse it."""
        stage, engine = self._stage, table.case.engine
        lab = stage.fresh()
        files: dict[Path, bytes | None] = {}
        try:
            files = new_files(lab, Stage.source(engine), self._sources[engine], table.ref)
            change_files(lab.project, files)
            lab = stage.fresh()
            check_files(lab)
            check_sink_files(lab)
        except LabError as error:
            for path in files:
                if path.parent == stage.folder:
                    path.unlink(missing_ok=True)
            table.result.end, table.result.reason = End.REFUSED, str(error)
            if table.ref.name not in str(error):
                table.result.end = End.FAILED
                table.result.reason = f"refused without the table's name: {error}"
            return
        table.silver = next(
            (
                one
                for one in stage.own_tables()
                if TableRef(one.db_schema, one.source_name) == table.ref and one.engine == engine
            ),
            None,
        )
        if table.silver is None:
            table.result.reason = "its properties file is written, and is of no table of the lab"

    def _follow(self, tables: Sequence[_Table]) -> None:
        """Load, compare, run the histories, and compare again."""
        engines = list(dict.fromkeys(table.case.engine for table in tables))
        try:
            failed = self._stage.capture(engines)
        except LabError as error:
            for table in tables:
                table.result.reason = f"the lab does not start with it: {error}"
            return
        self._judge(tables, Phase.LOAD, failed)
        going = [t for t in tables if t.result.end in (End.EQUAL, End.UNCOMPARED, End.PUT_ASIDE)]
        if not going:
            return
        for table in going:
            self._history(table)
        self._judge(going, Phase.STREAM, {})

    def _history(self, table: _Table) -> None:
        for change in table.case.history:
            if change.what == "fault":
                self._stage.lab.runtime.kill(change.text)
            elif statement := table.script.change(change):
                self._execute(table, statement)

    def _judge(
        self, tables: Sequence[_Table], phase: Phase, failed: Mapping[SourceEngine, LabError]
    ) -> None:
        """Say how each table stands, with all that the product says of it."""
        by_name = {table.silver.name: table for table in tables if table.silver}
        lab = self._stage.fresh()
        stopped = {engine: str(error) for engine, error in failed.items()}
        stopped |= self._stopped_connectors()
        held = _settled(
            self._stage, [n for n, t in by_name.items() if t.case.engine not in stopped]
        )
        stopped |= self._stopped_connectors()
        names = [
            n for n, table in by_name.items() if table.case.engine not in stopped and n not in held
        ]
        verdicts, crashed = verified(lab, names)
        stopped |= self._stopped_connectors()
        states = _silver_states(self._stage)
        for name, table in by_name.items():
            result = table.result
            before = result.end
            result.phase = phase
            verdict = next((v for s, v in verdicts.items() if s.endswith(name)), None)
            other = self._independent(table, name, verdict)
            result.end, result.reason = judged(
                [*table.script.names.values()],
                verdict,
                other,
                states.get(name, {}),
                self._letters(table),
            )
            if result.end is End.FAILED and table.case.engine in stopped:
                result.reason = f"{_STOPPED}: {stopped[table.case.engine]}"
            if name in crashed:
                result.end, result.reason = End.FAILED, f"labctl verify crashes: {crashed[name]}"
            if before is End.PUT_ASIDE and result.end is End.EQUAL:
                result.end = End.PUT_ASIDE
        restart_failed_tasks(connect_client(lab.endpoints.connect))

    def _stopped_connectors(self) -> dict[SourceEngine, str]:
        found: dict[SourceEngine, str] = {}
        statuses = connect_client(self._stage.lab.endpoints.connect).statuses()
        for engine in self._stage.engines:
            name = f"source_connector_{Stage.source(engine)}"
            status = statuses.get(name)
            if status is None:
                continue
            parts = [status["connector"], *status["tasks"]]
            if failed := next((p for p in parts if p["state"] == "FAILED"), None):
                found[engine] = cause(failed.get("trace", ""), name)
        return found

    def _independent(self, table: _Table, name: str, verdict: TableVerdict | None) -> list[str]:
        script = table.script
        left_out = verdict.diff.columns_uncaptured if verdict and verdict.diff else ()
        forms = {
            script.names[n]: form
            for n, form in script.forms.items()
            if n in script.names and script.names[n] not in left_out
        }
        keys = [script.names[key] for key in table.case.keys]
        if any(forms[key] is None for key in keys):
            return []
        lab = self._stage.lab
        try:
            source = read_source(self._sources[table.case.engine], table.ref, forms, keys)
            silver = read_silver(lab.endpoints.objectstore, name, forms, keys)
        except Exception as error:
            # A reader that gives up has found something, too.
            return [f"cannot be read: {error}"[:300]]
        return differences(source, silver)

    def _letters(self, table: _Table) -> list[str]:
        assert table.silver is not None  # noqa: S101 - only such tables are judged
        try:
            return [
                letter.reason
                for letter in lab_dead_letters(self._stage.lab).of_topic(table.silver.topic)
            ]
        except (LabError, FileNotFoundError):
            return []


_STOPPED = "its connector stopped"


def verified(
    lab: Lab, names: Sequence[str], *, seconds: float = _SECONDS
) -> tuple[dict[str, TableVerdict], dict[str, str]]:
    """Return what verify says of tables, and of which it crashes, with the error.

    One table's values may crash the whole comparison: each is compared by itself then.
    """
    if not names:
        return {}, {}
    try:
        report = verify_lab(lab, names, timeout=seconds, patience=_PATIENCE)
    except Exception as error:
        if len(names) == 1:
            return {}, {names[0]: repr(error)}
        parts = [verified(lab, [name], seconds=_ALONE_SECONDS) for name in names]
        return (
            {name: verdict for found, _ in parts for name, verdict in found.items()},
            {name: reason for _, crashed in parts for name, reason in crashed.items()},
        )
    return {verdict.silver: verdict for verdict in report.tables}, {}


def _settled(stage: Stage, names: Sequence[str]) -> set[str]:
    """Wait until each table has taken its topic in, or is held up; return those held up.

    A table that is only retrying may go on, so it counts as held up when it still is after a while.
    """
    begun = time.monotonic()
    tables = {table.name: table for table in stage.own_tables() if table.name in names}
    since: dict[str, float] = {}
    while True:
        now = time.monotonic()
        states = _silver_states(stage)
        for name in tables:
            if states.get(name):
                since.setdefault(name, now)
        try:
            behind = {n for n, t in tables.items() if records_behind(stage.lab, t)}
        except LabError:
            behind = {*tables}
        # In between two tries it is not held up; it has nothing more than before, though.
        held = {n for n, first in since.items() if n in behind and now - first > _HELD_SECONDS}
        if behind <= held or now - begun > _SECONDS:
            return held
        time.sleep(_POLL_SECONDS)


def _silver_states(stage: Stage) -> Mapping[str, Mapping[str, object]]:
    try:
        tables: Mapping[str, Mapping[str, object]] = silver_status(stage.lab)["tables"]
    except requests.RequestException:
        return {}
    return {name: state if state["state"] in HELD_UP else {} for name, state in tables.items()}


def missing_kinds(source: Source, engine: SourceEngine, schema: str) -> list[str]:
    """Make the types that need it, and return those that this server does not have."""
    missing = []
    table = source.qualified(TableRef(schema, "probe"))
    for kind in KINDS[engine]:
        try:
            for statement in kind.setup:
                with suppress(LabError):
                    source.execute(statement)
            source.execute(f"CREATE TABLE {table} (c {kind.declared})")
        except LabError:
            missing.append(kind.declared)
            continue
        try:
            source.execute(f"INSERT INTO {table} VALUES ({kind.typical})")  # noqa: S608 - our own
        except LabError:
            missing.append(kind.declared)
        source.execute(f"DROP TABLE {table}")
    return missing
