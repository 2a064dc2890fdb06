"""SQL over the lake: now, as it was, or what changed."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response

from labctl.errors import ExitCode, LabError
from labctl.ui import query_reading
from labctl.ui.asking import ask_lake
from labctl.ui.query_reading import Question
from labctl.ui.rendering import context_of, fields_of, page, part

__all__ = ["answer_file", "answer_part", "query_names", "query_page"]

_SECONDS = 60.0
_SPARK_SECONDS = 300.0
_FORMS: Mapping[str, str] = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}


async def query_page(request: Request) -> Response:
    """Return the editor, with the SQL of the address if there is some."""
    sql = request.query_params.get("sql", "")
    return page(request, "query.html.j2", active="query", command=None, sql=sql)


async def query_names(request: Request) -> Response:
    """Return tables and their columns as JSON, for completion."""
    found = await ask_lake(request, query_reading.names, seconds=_SECONDS, what="the lake")
    return JSONResponse(found)


async def answer_part(request: Request) -> Response:
    """Return the first rows of the answer."""
    fields = await fields_of(request)
    question = _question(fields)
    context = context_of(request)
    found = await ask_lake(
        request, query_reading.answer, question, seconds=_seconds(question), what="the query"
    )
    return part(
        request,
        "answer_part.html.j2",
        answer=found,
        most=query_reading.MOST_ROWS,
        asked=urlencode({name: value for name, value in fields.items() if value}),
        shown_command=context.addressed(_command(question)),
    )


async def answer_file(request: Request) -> Response:
    """Return all rows of the answer as a file."""
    form = request.path_params["form"]
    if form not in _FORMS:
        raise LabError(
            f"An answer is no {form} file", hint="csv, parquet", exit_code=ExitCode.USAGE
        )
    question = _question(request.query_params)
    handle, name = tempfile.mkstemp(prefix="labctl-answer-")
    os.close(handle)
    path = Path(name)
    try:
        await ask_lake(
            *(request, query_reading.download, question, form, path),
            seconds=_seconds(question),
            what="the query",
        )
    except BaseException:
        path.unlink()
        raise
    return FileResponse(
        path,
        media_type=_FORMS[form],
        filename=f"answer.{form}",
        background=BackgroundTask(path.unlink),
    )


def _question(fields: Mapping[str, str]) -> Question:
    sql = fields.get("sql", "").strip()
    if not sql:
        raise LabError(
            "There is no SQL to run",
            hint="write one SELECT over silver tables, or SHOW TABLES",
            exit_code=ExitCode.USAGE,
        )
    times = {name: fields.get(name, "").strip() or None for name in ("as_of", "begin", "end")}
    return Question(sql, **times, is_for_spark=fields.get("engine") == "spark")


def _seconds(question: Question) -> float:
    return _SPARK_SECONDS if question.is_for_spark else _SECONDS


def _command(question: Question) -> str:
    options = {"as-of": question.as_of, "from": question.begin, "to": question.end}
    given = (f" --{name} {shlex.quote(value)}" for name, value in options.items() if value)
    spark = " --engine spark" if question.is_for_spark else ""
    return f"labctl query {shlex.quote(question.sql)}{''.join(given)}{spark}"
