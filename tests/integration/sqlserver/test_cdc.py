# ruff: noqa: S311 - chance, not secrets
"""Change data capture: instances, images, masks, functions, LSN order, the capture job, cleanup."""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest

from tests.integration.sqlserver.conftest import Postgres, Sql, StandIn, eventually

_TABLE = "CREATE TABLE dbo.t (id int PRIMARY KEY, a varchar(10), b bit, c int)"
_ALL = (
    "DECLARE @f binary(10) = sys.fn_cdc_get_min_lsn('dbo_t'), @t binary(10) = "
    "sys.fn_cdc_get_max_lsn() SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_t(@f, @t, N'{}') "
    "ORDER BY [__$start_lsn], [__$seqval], [__$operation]"
)
_NET = (
    "DECLARE @f binary(10) = sys.fn_cdc_get_min_lsn('dbo_t'), @t binary(10) = "
    "sys.fn_cdc_get_max_lsn() SELECT [__$operation], [__$update_mask], id, a, c "
    "FROM cdc.fn_cdc_get_net_changes_dbo_t(@f, @t, N'{}') ORDER BY id"
)
_ENABLE = (
    "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', "
    "@role_name = NULL, @supports_net_changes = 1"
)


@pytest.fixture
def captured(sql: Sql) -> Sql:
    """A database with a captured table `dbo.t`."""
    sql(_TABLE)
    sql("EXEC sys.sp_cdc_enable_db")
    sql(_ENABLE)
    return sql


def _changes(sql: Sql, option: str = "all update old") -> list[tuple[Any, ...]]:
    """(operation, mask, id, a, b, c) of every change."""
    return [row[2:] for row in sql(_ALL.format(option))]


@pytest.mark.parametrize("first", ["dbo_t", "again"])
def test_a_change_of_a_table_waits_for_readers_of_both_instances(
    first: str, captured: Sql, standin: StandIn, postgres: Postgres
) -> None:
    """Whichever a transaction reads first, nobody is a deadlock's victim."""
    captured(_ENABLE.replace("@role", "@capture_instance = N'again', @role"))
    second = {"dbo_t": "again", "again": "dbo_t"}[first]
    database = captured("SELECT DB_NAME()")[0][0]
    reader = standin.connect(database, autocommit=False)
    change = threading.Thread(target=captured, args=("ALTER TABLE t ADD d int",))
    with reader.cursor() as cursor:
        cursor.execute(f"SELECT * FROM cdc.{first}_CT")
        cursor.fetchall()
        change.start()
        waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event IN ('PgSleep', 'relation')"
        eventually(lambda: bool(postgres.sql(waiting)), "the change waits")
        cursor.execute(f"SELECT * FROM cdc.{second}_CT")
        cursor.fetchall()
    assert change.is_alive()
    reader.rollback()
    reader.close()
    change.join()
    assert captured("SELECT d FROM t") == []


def test_no_job_scans_a_log(captured: Sql) -> None:
    """Debezium asks for the last scan."""
    last = "SELECT TOP 1 start_lsn FROM sys.dm_cdc_log_scan_sessions ORDER BY session_id DESC"
    assert captured(last) == []


def test_images_and_masks(captured: Sql) -> None:
    captured("INSERT INTO t VALUES (1, 'x', 1, NULL)")
    captured("UPDATE t SET a = 'y', c = 5 WHERE id = 1")
    captured("UPDATE t SET a = 'y' WHERE id = 1")
    captured("UPDATE t SET id = 2 WHERE id = 1")
    captured("DELETE FROM t")
    assert _changes(captured) == [
        (2, b"\x0f", 1, "x", True, None),
        (3, b"\x0a", 1, "x", True, None),
        (4, b"\x0a", 1, "y", True, 5),
        (1, b"\x0f", 1, "y", True, 5),
        (2, b"\x0f", 2, "y", True, 5),
        (1, b"\x0f", 2, "y", True, 5),
    ]
    assert 3 not in {row[0] for row in _changes(captured, "all")}
    assert captured(
        "SELECT sys.fn_cdc_is_bit_set(2, 0x0A), sys.fn_cdc_is_bit_set(3, 0x0A), "
        "sys.fn_cdc_has_column_changed('dbo_t', 'c', 0x0A), "
        "sys.fn_cdc_get_column_ordinal('dbo_t', 'b')"
    ) == [(True, False, True, 3)]


def test_a_transaction_has_one_lsn_and_rollback_leaves_nothing(captured: Sql) -> None:
    captured("BEGIN TRAN INSERT INTO t (id) VALUES (1) INSERT INTO t (id) VALUES (2) COMMIT")
    captured("BEGIN TRAN INSERT INTO t (id) VALUES (3) ROLLBACK")
    captured(
        "BEGIN TRAN SAVE TRAN s INSERT INTO t (id) VALUES (4) ROLLBACK TRAN s "
        "INSERT INTO t (id) VALUES (5) COMMIT"
    )
    rows = captured(_ALL.format("all"))
    assert [row[4] for row in rows] == [1, 2, 5]
    assert rows[0][0] == rows[1][0] < rows[2][0]
    assert captured("SELECT COUNT(*) FROM cdc.lsn_time_mapping WHERE tran_id <> 0x00") == [(3,)]


def test_net_changes(captured: Sql) -> None:
    captured("INSERT INTO t VALUES (1, 'a', 1, 1), (2, 'b', 1, 1), (3, 'c', 1, 1)")
    start = captured("SELECT sys.fn_cdc_increment_lsn(sys.fn_cdc_get_max_lsn())")[0][0]
    captured("UPDATE t SET a = 'z' WHERE id = 1")
    captured("UPDATE t SET c = 9 WHERE id = 1")
    captured("DELETE FROM t WHERE id = 2")
    captured("INSERT INTO t VALUES (4, 'd', 0, 0)")
    captured("DELETE FROM t WHERE id = 4")
    captured("DELETE FROM t WHERE id = 3")
    captured("INSERT INTO t VALUES (3, 'new', 0, 0)")
    since = _NET.replace("sys.fn_cdc_get_min_lsn('dbo_t')", "0x" + start.hex())
    assert captured(since.format("all")) == [
        (4, None, 1, "z", 9),
        (1, None, 2, "b", 1),
        (4, None, 3, "new", 0),
    ]
    assert captured(since.format("all with mask"))[0] == (4, b"\x0a", 1, "z", 9)
    assert [row[0] for row in captured(since.format("all with merge"))] == [5, 1, 5]


def test_a_range_outside_what_is_kept_is_error_313(captured: Sql) -> None:
    captured("INSERT INTO t (id) VALUES (1)")
    call = "SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_t({}, {}, N'{}')"
    top = "sys.fn_cdc_get_max_lsn()"
    bottom = "sys.fn_cdc_get_min_lsn('dbo_t')"
    assert captured.error(call.format("0x00", top, "all")) == 313
    assert captured.error(call.format(bottom, f"sys.fn_cdc_increment_lsn({top})", "all")) == 313
    assert captured.error(call.format(bottom, top, "every")) == 313


def test_help_views_and_errors(captured: Sql) -> None:
    row = captured("EXEC sys.sp_cdc_help_change_data_capture")[0]
    assert row[:3] == ("dbo", "t", "dbo_t")
    assert row[14] == "[id], [a], [b], [c]"
    assert captured("SELECT is_cdc_enabled FROM sys.databases WHERE name = DB_NAME()") == [(True,)]
    assert captured("SELECT is_tracked_by_cdc FROM sys.tables WHERE name = 't'") == [(True,)]
    names = captured("SELECT column_name FROM cdc.captured_columns ORDER BY column_ordinal")
    assert names == [("id",), ("a",), ("b",), ("c",)]
    assert captured.error(_ENABLE) == 22926
    assert captured.error("TRUNCATE TABLE t") == 4711
    captured("EXEC sys.sp_cdc_disable_table N'dbo', N't', N'dbo_t'")
    assert captured.error("EXEC sys.sp_cdc_disable_table N'dbo', N't', N'dbo_t'") == 22911
    captured("EXEC sys.sp_cdc_disable_db")
    assert captured.error(_ENABLE) == 22901
    assert captured.error("SELECT * FROM cdc.change_tables") == 208


def test_a_second_instance_after_a_schema_change(captured: Sql) -> None:
    captured("INSERT INTO t VALUES (1, 'a', 1, 1)")
    captured("ALTER TABLE t ADD d nvarchar(5) NULL")
    captured("ALTER TABLE t DROP COLUMN c")
    captured(_ENABLE + ", @capture_instance = N'dbo_t_v2'")
    captured("INSERT INTO t VALUES (2, 'b', 0, N'new')")
    assert captured("SELECT id, c FROM cdc.dbo_t_CT ORDER BY id") == [(1, 1), (2, None)]
    assert captured("SELECT id, d FROM cdc.dbo_t_v2_CT") == [(2, "new")]
    assert captured.error(_ENABLE + ", @capture_instance = N'third'") == 22962
    assert len(captured("EXEC sys.sp_cdc_get_ddl_history N'dbo_t'")) == 2
    captured("DROP TABLE t")
    assert captured("SELECT COUNT(*) FROM cdc.change_tables") == [(0,)]


def test_time_and_lsn(captured: Sql) -> None:
    captured("INSERT INTO t (id) VALUES (1)")
    assert captured(
        "SELECT CASE WHEN sys.fn_cdc_map_time_to_lsn('largest less than or equal', "
        "sys.fn_cdc_map_lsn_to_time(sys.fn_cdc_get_max_lsn())) = sys.fn_cdc_get_max_lsn() "
        "THEN 1 ELSE 0 END"
    ) == [(1,)]
    assert captured("SELECT sys.fn_cdc_increment_lsn(0x000000000000000000FF)") == [
        (bytes.fromhex("00000000000000000100"),)
    ]
    assert captured("SELECT sys.fn_cdc_decrement_lsn(0x00000000000000000100)") == [
        (bytes.fromhex("000000000000000000FF"),)
    ]


def test_the_capture_job_can_be_stopped_and_slowed(captured: Sql) -> None:
    captured("INSERT INTO t (id) VALUES (1)")
    captured("EXEC sys.sp_cdc_stop_job N'capture'")
    before = captured("SELECT sys.fn_cdc_get_max_lsn()")
    captured("INSERT INTO t (id) VALUES (2)")
    assert captured("SELECT sys.fn_cdc_get_max_lsn()") == before
    assert captured("SELECT COUNT(*) FROM cdc.dbo_t_CT") == [(1,)]
    captured("EXEC sys.sp_cdc_start_job N'capture'")
    assert captured("SELECT COUNT(*) FROM cdc.dbo_t_CT") == [(2,)]
    captured("EXEC sys.sp_cdc_change_job @job_type = N'capture', @pollinginterval = 3600")
    assert captured("EXEC sys.sp_cdc_help_jobs")[0][6] == 3600
    captured("INSERT INTO t (id) VALUES (3)")
    assert captured("SELECT COUNT(*) FROM cdc.dbo_t_CT WHERE id = 3") == [(0,)]


def test_a_clock_that_is_put_back_hides_no_change(
    captured: Sql, standin: StandIn, postgres: Postgres
) -> None:
    captured("INSERT INTO t (id) VALUES (1)")
    top = captured("SELECT sys.fn_cdc_get_max_lsn()")
    database = captured("SELECT DB_NAME()")[0][0]
    postgres.sql(
        f'UPDATE mssql_cdc."{database}.lsn_time_mapping" '
        "SET committed_at = committed_at + interval '4 hours'",
        standin.database,
    )
    assert captured("SELECT sys.fn_cdc_get_max_lsn()") == top
    captured("INSERT INTO t (id) VALUES (2)")
    assert captured("SELECT id FROM cdc.dbo_t_CT ORDER BY id") == [(1,), (2,)]


def test_cleanup_moves_the_low_water_mark(captured: Sql) -> None:
    captured("INSERT INTO t (id) VALUES (1)")
    captured("INSERT INTO t (id) VALUES (2)")
    top = captured("SELECT sys.fn_cdc_get_max_lsn()")[0][0]
    captured(f"EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', 0x{top.hex()}")
    assert captured("SELECT id FROM cdc.dbo_t_CT") == [(2,)]
    assert captured("SELECT sys.fn_cdc_get_min_lsn('dbo_t')") == [(top,)]
    captured("EXEC sys.sp_cdc_change_job @job_type = N'cleanup', @retention = 0")
    captured("EXEC sys.sp_cdc_start_job N'cleanup'")
    assert captured("SELECT COUNT(*) FROM cdc.lsn_time_mapping") == [(1,)]


def test_cleanup_leaves_a_reader_that_has_seen_all_its_place(captured: Sql) -> None:
    """Debezium takes its position for lost unless it is behind the start of every instance."""
    for number in (1, 2):
        captured("EXEC sys.sp_cdc_start_job N'cleanup'")
        (start,) = captured("SELECT MIN(start_lsn) FROM cdc.change_tables")[0]
        assert start < captured("SELECT sys.fn_cdc_get_max_lsn()")[0][0]
        captured(f"INSERT INTO t (id) VALUES ({number})")
        captured("EXEC sys.sp_cdc_change_job @job_type = N'cleanup', @retention = 0")


def test_lsn_order_is_commit_order_under_concurrent_writers(
    captured: Sql, standin: StandIn, postgres: Postgres
) -> None:
    """Each writer bumps one counter row, so the values themselves are the order of commits."""
    database = captured("SELECT DB_NAME()")[0][0]
    captured("INSERT INTO t VALUES (0, 'counter', 0, 0)")
    seed = random.randrange(2**32)
    print(f"seed {seed}")

    def work(number: int) -> None:
        chance = random.Random(seed + number)
        run = Sql(standin.connect(database))
        for _ in range(15):
            end = "COMMIT" if chance.random() < 0.8 else "ROLLBACK"
            run(f"BEGIN TRAN UPDATE t SET c += 1 WHERE id = 0 {end}")
        run.connection.close()

    writers = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for writer in writers:
        writer.start()
    for _ in range(15):
        postgres.sql(f'UPDATE "{database}.dbo".t SET c = c + 1 WHERE id = 0', standin.database)
    for writer in writers:
        writer.join()
    values = [row[-1] for row in _changes(captured, "all")]
    assert values == list(range(len(values)))
    assert captured("SELECT c FROM t WHERE id = 0") == [(values[-1],)]
