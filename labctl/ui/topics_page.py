"""The topics: what there is, their records by place or time, live, and their schemas."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from labctl.ui import topic_reading
from labctl.ui.asking import ask_lake
from labctl.ui.rendering import context_of, fields_of, page, part

if TYPE_CHECKING:
    from labctl.ui.topic_reading import TopicPart

__all__ = [
    "replay_letters",
    "topic_letters",
    "topic_list",
    "topic_page",
    "topic_records",
    "topic_schemas",
    "topics_page",
]

_SECONDS = 30.0
_REPLAY_SECONDS = 300.0


async def topics_page(request: Request) -> Response:
    """Return the page; the list comes by `topic_list`."""
    return page(request, "topics.html.j2", active="topics", command="labctl topics list")


async def topic_list(request: Request) -> Response:
    """Return the list of topics."""
    found = await ask_lake(request, topic_reading.topics, seconds=_SECONDS, what="Kafka")
    return part(request, "topics_part.html.j2", topics=found)


async def topic_page(request: Request) -> Response:
    """Return the page of a topic; records and schemas come by the functions below."""
    name = request.path_params["name"]
    return page(request, "topic.html.j2", active="topics", command=None, name=name)


async def topic_records(request: Request) -> Response:
    """Return records. A part that is `live` asks for itself again."""
    name, asked = request.path_params["name"], request.query_params
    start = asked.get("from", "").strip()
    found: TopicPart = await ask_lake(
        request, topic_reading.records, name, start, seconds=_SECONDS, what=name
    )
    command = f"labctl topics show {shlex.quote(name)} {found.words}"
    return part(
        request,
        "topic_records_part.html.j2",
        name=name,
        found=found,
        start=start,
        asked_again=f"{request.url.path}?live=on" if "live" in asked and not start else None,
        shown_command=context_of(request).addressed(command),
    )


async def topic_letters(request: Request) -> Response:
    """Return the topic's records that its table did not accept."""
    name = request.path_params["name"]
    found = await ask_lake(
        request, topic_reading.put_aside, name, seconds=_SECONDS, what="the object store"
    )
    table = shlex.quote(found.table) if found else ""
    command = f"labctl topics deadletters list {table}"
    return part(
        request,
        "topic_letters_part.html.j2",
        name=name,
        found=found,
        shown_command=context_of(request).addressed(command),
    )


async def replay_letters(request: Request) -> Response:
    """Put the records into the table as `labctl topics deadletters replay` does."""
    context = context_of(request)
    context.must_change()
    table = (await fields_of(request)).get("table", "")
    words = ("topics", "deadletters", "replay", "--", table)
    done = (await context.labctl(*words, seconds=_REPLAY_SECONDS))["result"]
    said = (
        f"{done['ingested']} put into {table}, {done['overtaken']} overtaken by later records, "
        f"{done['still_bad']} still wait"
    )
    return part(request, "done_part.html.j2", words=said)


async def topic_schemas(request: Request) -> Response:
    """Return the versions of a topic's schema."""
    name = request.path_params["name"]
    found = await ask_lake(request, topic_reading.schemas, name, seconds=_SECONDS, what=name)
    command = f"labctl topics schemas {shlex.quote(name)}"
    return part(
        request,
        "topic_schemas_part.html.j2",
        versions=found,
        shown_command=context_of(request).addressed(command),
    )
