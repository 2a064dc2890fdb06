"""A batch: many tables in one lab at a time, each judged after its load and after its history."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from labctl.conformance.case_sql import Script, table_name
from labctl.conformance.cases import Case, Change
from labctl.conformance.comparing import (
    independent_differences,
    letters_of,
    settled,
    silver_states,
    verified,
)
from labctl.conformance.judging import End, Phase, Result, equal_but_for, judged
from labctl.conformance.missing import missing_kinds
from labctl.conformance.per_engine import for_each_engine
from labctl.conformance.stage import Stage
from labctl.engine_names import EngineName
from labctl.errors import LabError
from labctl.kafkaconnect.opening import connect_client
from labctl.kafkaconnect.traces import cause
from labctl.lab.connectors.backfill import ReloadRefusedError, backfill_table
from labctl.lab.connectors.connector_states import (
    check_files,
    check_sink_files,
    restart_failed_tasks,
    snapshot_again,
)
from labctl.lab.lab import Lab
from labctl.scaffolding.new_connectors import connector_name
from labctl.scaffolding.new_tables import new_files
from labctl.sources import Source, connect
from labctl.sources.base import TableRef
from labctl.state.file_changes import change_files
from labctl.tables import LabTable
from labctl.verify import TableVerdict

__all__ = ["Batches"]

Say = Callable[[str], None]
_STOPPED = "its connector stopped"
_SAID = 200
"""Longest reason in a progress message, in characters."""


@dataclass
class _Table:
    """A case in the lab."""

    case: Case
    ref: TableRef
    script: Script
    result: Result
    file: Path | None = None
    """Properties file of the table, once the product has written one."""
    silver: LabTable | None = None
    unapplied: str | None = None
    """Reason that its connector could not be applied again; None if it could, or need not be."""

    @property
    def engine(self) -> EngineName:
        return self.case.engine


class Batches:
    """Batches of one stage. Tables get names that no earlier batch used."""

    def __init__(self, stage: Stage, say: Say = lambda _: None) -> None:
        self._stage = stage
        self._say = say
        # Parts of the lab may still know a name from an earlier run.
        run = f"{int(time.time()) % 0x10000000:x}"
        self._tokens = (f"t{run}_{number}" for number in count())
        self._open = ExitStack()
        self._sources: dict[EngineName, Source] = {}
        self.missing_kinds: dict[EngineName, list[str]] = {}
        """Types that a server of the lab lacks, by engine."""

    def __enter__(self) -> Batches:
        for engine in self._stage.engines:
            self._connect(engine)
            schema = Stage.ref(engine, "").schema
            self.missing_kinds[engine] = missing_kinds(self._source(engine), engine, schema)
        return self

    def _connect(self, engine: EngineName) -> None:
        source = connect(self._stage.lab.endpoints, Stage.source(engine))
        self._sources[engine] = self._open.enter_context(source)

    def _source(self, engine: EngineName) -> Source:
        """Return the engine's connection; replace it if it was lost."""
        if self._sources[engine].closed:
            self._connect(engine)
        return self._sources[engine]

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def run(self, cases: Sequence[Case]) -> list[Result]:
        """Run all cases at once, and return their results.

        A table that stops its connector also stops the other tables of its engine. They are run
        again in halves until that table is found.
        """
        results = self._run(cases)
        blocked = [r for r in results if r.end is End.FAILED and r.reason.startswith(_STOPPED)]
        for engine in self._stage.engines:
            of_engine = [r.case for r in blocked if r.case.engine == engine]
            if len(of_engine) < 2:
                continue
            why = next(r.reason for r in blocked if r.case.engine == engine)
            self._say(f"a table of {engine} stops its connector: looking for it ({_short(why)})")
            half = len(of_engine) // 2
            again = [*self.run(of_engine[:half]), *self.run(of_engine[half:])]
            by_case = {id(result.case): result for result in again}
            results = [by_case.get(id(result.case), result) for result in results]
        return results

    def _run(self, cases: Sequence[Case]) -> list[Result]:
        begun = time.monotonic()
        # Choose names before starting threads, so that they follow the order of the cases.
        made = [self._table(case) for case in cases]
        try:
            for_each_engine(made, self._make)
            self._add([table for table in made if table.result.end is not End.INVALID])
            live = [table for table in made if table.silver is not None]
            if live:
                self._follow(live)
        finally:
            self._stage.clear()
            for engine in {table.engine for table in made}:
                self._stage.drop_connector(engine)
            for_each_engine(made, self._drop)
        for table in made:
            table.result.seconds = time.monotonic() - begun
        return [table.result for table in made]

    def _table(self, whole: Case) -> _Table:
        missing = self.missing_kinds[whole.engine]
        case = whole.without_types(missing)
        ref = Stage.ref(case.engine, table_name(case, next(self._tokens)))
        return _Table(case, ref, Script(case, ref), Result(whole, End.FAILED))

    def _make(self, table: _Table) -> None:
        """Create and fill the table in its database."""
        try:
            for statement in table.script.creates():
                self._source(table.engine).execute(statement)
        except LabError as error:
            table.result.end, table.result.reason = End.INVALID, str(error)
            return
        for statement in table.script.load():
            self._execute(table, statement)

    def _drop(self, table: _Table) -> None:
        for statement in table.script.drops():
            with suppress(LabError):
                self._source(table.engine).execute(statement)

    def _execute(self, table: _Table, statement: str) -> None:
        try:
            self._source(table.engine).execute(statement)
        except LabError as error:
            table.result.declined.append(f"{statement[:200]}: {error.what[:200]}")

    def _add(self, tables: Sequence[_Table]) -> None:
        """Have the product accept the tables or refuse them."""
        labs = {table.engine: self._stage.fresh() for table in tables}

        def write(table: _Table) -> None:
            lab = labs[table.engine]
            source = Stage.source(table.engine)
            try:
                files = new_files(lab, source, self._source(table.engine), table.ref)
                change_files(lab.project, files)
            except LabError as error:
                _refused(table, error)
                if table.result.end is End.REFUSED:
                    self._drop(table)
                return
            table.result.reason = ""
            table.file = next(path for path in files if path.parent == self._stage.folder)
            if len(files) > 1:
                # The file of its connector has changed.
                labs[table.engine] = self._stage.fresh()

        for_each_engine(tables, write)
        # A table that would stop its connector made the product refuse the connector's others, too.
        others = [t for t in tables if t.file is None and t.result.end is not End.REFUSED]
        for_each_engine(others, write)
        written = [table for table in tables if table.file is not None]
        try:
            self._check()
        except LabError:
            self._check_each(written)
        found = {
            (one.engine, TableRef(one.db_schema, one.source_name)): one
            for one in self._stage.own_tables()
        }
        for table in written:
            table.silver = found.get((table.engine, table.ref))
            if table.silver is None and not table.result.reason:
                table.result.reason = "its properties file is written, and is of no table"

    def _check(self) -> None:
        lab = self._stage.fresh()
        check_files(lab)
        check_sink_files(lab)

    def _check_each(self, tables: Sequence[_Table]) -> None:
        """Find the tables whose files prevent the lab from starting, and remove these files."""
        texts = {table.file: table.file.read_bytes() for table in tables if table.file is not None}
        for path in texts:
            path.unlink()
        for table in tables:
            if table.file is None:
                continue
            table.file.write_bytes(texts[table.file])
            try:
                self._check()
            except LabError as error:
                table.file.unlink()
                _refused(table, error)

    def _follow(self, tables: Sequence[_Table]) -> None:
        """Load, compare, run the histories, and compare again."""
        engines = list(dict.fromkeys(table.engine for table in tables))
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
        for_each_engine(going, self._history)
        if any(change.what == "fault" for table in going for change in table.case.history):
            self._stage.wait_ready()
        self._judge(going, Phase.STREAM, {})
        again = [t for t in going if t.result.end is End.FAILED and t.script.needs_backfill]
        for_each_engine(again, self._load_again)
        self._judge([table for table in again if not table.result.reason], Phase.STREAM, {})

    def _load_again(self, table: _Table) -> None:
        """Backfill the table, as docs/schema-changes.md requires after such a schema change."""
        assert table.silver is not None  # noqa: S101 - only such tables are judged
        table.result.reason = ""
        lab = replace(self._stage.lab)
        try:
            try:
                backfill_table(lab, table.silver.name)
            except ReloadRefusedError:
                snapshot_again(lab, connector_name(Stage.source(table.engine)))
        except LabError as error:
            table.result.reason = f"it is not loaded again: {error}"

    def _history(self, table: _Table) -> None:
        for change in table.case.history:
            if change.what == "fault":
                self._stage.kill(change.text)
            self._step(table, change)
        if (due := table.script.unseen) is not None:
            # A shrunk history may lack it.
            self._step(table, Change(due))

    def _step(self, table: _Table, change: Change) -> None:
        applies = change.what == "apply" and table.script.unseen == "apply"
        for statement in table.script.statements(change):
            self._execute(table, statement)
        if applies:
            try:
                self._stage.apply(table.engine)
            except LabError as error:
                table.unapplied = f"its connector is not applied: {error}"

    def _judge(
        self, tables: Sequence[_Table], phase: Phase, failed: Mapping[EngineName, LabError]
    ) -> None:
        """Set each table's end and reason, from all information that the product gives."""
        if not tables:
            return
        by_name = {table.silver.name: table for table in tables if table.silver}
        lab = self._stage.fresh()
        stopped = {engine: str(error) for engine, error in failed.items()}
        stopped |= self._stopped_connectors()
        held = settled(self._stage, [n for n, t in by_name.items() if t.engine not in stopped])
        stopped |= self._stopped_connectors()
        names = [n for n, t in by_name.items() if t.engine not in stopped and n not in held]
        verdicts, crashed = verified(lab, names)
        stopped |= self._stopped_connectors()
        states = silver_states(self._stage)

        def judge(table: _Table) -> None:
            assert table.silver is not None  # noqa: S101 - only such tables are judged
            name, result = table.silver.name, table.result
            before = result.end, result.reason
            verdict = verdicts.get(name)
            result.phase = phase
            result.end, result.reason = self._judged(lab, table, verdict, states.get(name, {}))
            if table.unapplied is not None:
                result.end, result.reason = End.FAILED, table.unapplied
            if result.end is End.FAILED and table.engine in stopped:
                result.reason = f"{_STOPPED}: {stopped[table.engine]}"
            if name in crashed:
                result.end, result.reason = End.FAILED, f"labctl verify crashes: {crashed[name]}"
            if before[0] is End.PUT_ASIDE and result.end in (End.EQUAL, End.UNCOMPARED):
                # An update has since written a value that silver can hold.
                result.end, result.reason = before

        for_each_engine(by_name.values(), judge)
        restart_failed_tasks(connect_client(lab.endpoints.connect))

    def _judged(
        self,
        lab: Lab,
        table: _Table,
        verdict: TableVerdict | None,
        state: Mapping[str, object],
    ) -> tuple[End, str]:
        assert table.silver is not None  # noqa: S101 - only such tables are judged
        left_out = verdict.diff.columns_uncaptured if verdict and verdict.diff else ()
        source = self._source(table.engine)
        other = independent_differences(
            lab, source, table.script, (table.ref, table.silver.name), left_out
        )
        # The reasons for records put aside matter only if the table is not equal.
        letters = [] if equal_but_for(verdict) is not None else letters_of(lab, table.silver)
        once = table.script.seen_once(left_out)
        return judged(sorted(table.script.ever_called), verdict, other, state, letters, once)

    def _stopped_connectors(self) -> dict[EngineName, str]:
        found: dict[EngineName, str] = {}
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


def _short(reason: str) -> str:
    return " ".join(reason.removeprefix(_STOPPED).split())[:_SAID].lstrip(": ")


def _refused(table: _Table, error: LabError) -> None:
    table.result.end, table.result.reason = End.REFUSED, str(error)
    if table.ref.name not in str(error):
        table.result.end = End.FAILED
        table.result.reason = f"refused without the table's name: {error}"
