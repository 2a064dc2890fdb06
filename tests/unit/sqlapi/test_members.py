"""What a request may ask with: AWS's own model, and what PostgreSQL can keep."""

from __future__ import annotations

import json
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from sqlapi.protocol.members import AbsentError, read_members
from sqlapi.protocol.protocol_errors import ApiError
from sqlapi.store import storable


def _refused(body: bytes, service: str = "athena", name: str = "GetWorkGroup") -> str:
    with pytest.raises(ApiError) as caught:
        read_members(service, name, body)
    assert caught.value.status == 400
    return caught.value.code


@pytest.mark.parametrize(
    "body",
    [b"{", b"[]", b"1", b"\xff", b'{"WorkGroup": NaN}', b'{"MaxResults": 1e999}',
     b'{"WorkGroup": "a\\u0000b"}', b'{"WorkGroup": "\\ud800"}', b'{"\\u0000": 1}',
     b'{"a":' * 5000, b"[" * 200 + b"]" * 200, b'{"MaxResults": ' + b"9" * 5000 + b"}"],
)  # fmt: skip
def test_what_is_no_json_that_can_be_kept(body: bytes) -> None:
    assert _refused(body) == "SerializationException"


@pytest.mark.parametrize(
    ("service", "name", "members"),
    [
        ("athena", "GetWorkGroup", {"WorkGroup": "x" * 129}),
        ("athena", "GetWorkGroup", {"WorkGroup": "a b"}),
        ("athena", "GetWorkGroup", {}),
        ("athena", "ListWorkGroups", {"MaxResults": 51}),
        ("athena", "ListWorkGroups", {"MaxResults": 2**63}),
        ("athena", "UpdateWorkGroup", {"WorkGroup": "a", "State": "OTHER"}),
        ("athena", "BatchGetNamedQuery", {"NamedQueryIds": ["a"] * 51}),
        ("glue", "GetTables", {"DatabaseName": "d", "Expression": "x" * 2049}),
        ("glue", "CreateDatabase", {"DatabaseInput": {"Name": "a\nb"}}),
        ("glue", "CreateDatabase", {"DatabaseInput": {"Name": "a", "Parameters": {"x" * 256: ""}}}),
        (
            "glue",
            "CreateTable",
            {"DatabaseName": "d", "TableInput": {"Name": "t", "LastAccessTime": 10**30}},
        ),
    ],
)
def test_what_the_model_does_not_allow(service: str, name: str, members: dict[str, Any]) -> None:
    code = "InvalidRequestException" if service == "athena" else "InvalidInputException"
    assert _refused(json.dumps(members).encode(), service, name) == code


def test_what_the_model_allows() -> None:
    members = {"DatabaseInput": {"Name": "Öl 🎟\t", "Description": None}, "CatalogId": None}
    read = read_members("glue", "CreateDatabase", json.dumps(members).encode())
    assert read == {"DatabaseInput": {"Name": "Öl 🎟\t"}}
    assert read_members("athena", "ListWorkGroups", b"") == {}


def test_a_member_that_is_needed_all_the_same_is_named() -> None:
    """The model calls it optional."""
    read = read_members("glue", "UpdateTable", b'{"DatabaseName": "d"}')
    with pytest.raises(AbsentError, match="Missing required parameter in input: TableInput"):
        read["TableInput"]


def test_an_errors_text_is_kept_without_what_postgresql_does_not_keep() -> None:
    told = storable(["a\0b", Jsonb({"reason": ["\ud800"]}), 1, None])
    assert (told[0], told[1].obj, told[2:]) == ("a\ufffdb", {"reason": ["\ufffd"]}, [1, None])
