"""Run by test_awswrangler.py in awswrangler's environment: prints what each call gives, as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import awswrangler as wr
import pandas as pd

SALES = "SELECT id, price, day, note FROM sale"


def main(output: str) -> None:
    kept = {"database": "tickit", "s3_output": f"{output}kept/"}
    plain = {"ctas_approach": False, **kept}
    read: Callable[..., Any] = wr.athena.read_sql_query
    found: dict[str, Any] = {}
    found["csv"] = _rows(read(f"{SALES} ORDER BY id", **plain))
    found["ctas"] = _rows(read(SALES, **kept).sort_values("id"))
    unloaded = {"ctas_approach": False, "unload_approach": True, "database": "tickit"}
    found["unload"] = _rows(read(SALES, s3_output=f"{output}unload/", **unloaded).sort_values("id"))
    chunks = read("SELECT n FROM many", chunksize=2000, **plain)
    found["chunks"] = [len(frame) for frame in chunks]
    found["named"] = _rows(read("SELECT id FROM sale WHERE id = :id", params={"id": 2}, **plain))
    asked = {"params": ["2"], "paramstyle": "qmark"}
    found["marked"] = _rows(read("SELECT id FROM sale WHERE id = ?", **asked, **plain))
    cached = {"athena_cache_settings": {"max_cache_seconds": 900}}
    found["cached"] = _rows(read(f"{SALES} ORDER BY id", **cached, **plain))

    found["databases"] = wr.catalog.databases()["Database"].tolist()
    found["table"] = wr.catalog.table("tickit", "category").to_dict("list")
    found["described"] = wr.athena.describe_table(
        "artists", **(kept | {"database": "moma"})
    ).to_dict("list")
    found["created by"] = wr.athena.show_create_table("category", **kept)
    found["partitions"] = wr.catalog.get_partitions("moma", "artists")

    wr.athena.create_ctas_table(
        "SELECT id FROM sale",
        "tickit",
        ctas_table="wrangled",
        s3_output=f"{output}made/",
        wait=True,
    )
    found["made"] = _rows(read("SELECT count(*) AS n FROM wrangled", **plain))
    found["deleted"] = wr.catalog.delete_table_if_exists("tickit", "wrangled")

    wr.athena.create_prepared_statement("SELECT id FROM sale WHERE id > ?", "wrangled")
    found["prepared"] = _rows(read("EXECUTE wrangled USING 1", **plain))
    wr.athena.delete_prepared_statement("wrangled")

    frame = pd.DataFrame({"id": [1, 2], "name": ["a", "ü"]})
    written = {"path": f"{output}frame/", "dataset": True, "database": "tickit", "table": "frame"}
    wr.s3.to_parquet(frame, partition_cols=["name"], **written)
    found["written"] = _rows(read("SELECT id, name FROM frame ORDER BY id", **plain))
    wr.catalog.delete_table_if_exists("tickit", "frame")
    try:
        read("SELECT nope FROM sale", **plain)
    except wr.exceptions.QueryFailed as error:
        found["failed"] = str(error)
    print(json.dumps(found, default=str))


def _rows(frame: Any) -> list[list[Any]]:
    plain = frame.astype(object).where(frame.notna(), None)
    return [[None if v is None else str(v) for v in row] for row in plain.values.tolist()]


if __name__ == "__main__":
    main(sys.argv[1])
