"""Asks Trino for the answer to every case, and writes what it said beside the cases."""

from __future__ import annotations

import json
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from labctl.cli.progress import ConsoleProgress
from tests.unit.sqlapi.cases import ANSWERS, Answer, cases
from tests.unit.sqlapi.oracle.server import VERSION, Trino

_AT_ONCE = 3


def main() -> None:
    statements = cases()
    with (
        tempfile.TemporaryDirectory(prefix="trino-") as folder,
        ConsoleProgress() as progress,
        Trino(Path(folder), progress) as trino,
        ThreadPoolExecutor(_AT_ONCE) as pool,
    ):
        answers = dict(zip(statements, pool.map(trino.ask, statements), strict=True))
    _write(answers)
    failed = sum(answer.error is not None for answer in answers.values())
    print(f"Trino {VERSION}: {len(answers) - failed} answers, {failed} errors, in {ANSWERS}")


def _write(answers: dict[str, Answer]) -> None:
    lines: list[dict[str, object]] = [{"trino": VERSION}]
    for sql, answer in answers.items():
        said: dict[str, object] = (
            {"error": answer.error}
            if answer.error
            else {"types": answer.types, "rows": answer.rows}
        )
        lines.append({"sql": sql, **said})
    ANSWERS.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


if __name__ == "__main__":
    main()
