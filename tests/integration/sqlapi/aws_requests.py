"""Requests to Athena and Glue, made by chance from botocore's models, with hostile texts."""

from __future__ import annotations

import json
import random
import re
import string
from dataclasses import dataclass, field
from typing import Any

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.model import ListShape, MapShape, Shape, StringShape, StructureShape

from sqlapi.protocol.members import model
from tests.integration.sqlapi.conftest import BUCKET, KEY, OUTPUT, REGION, SECRET

__all__ = ["PREFIXES", "Generator", "Sent"]

PREFIXES = {"athena": "AmazonAthena", "glue": "AWSGlue"}
_HOSTILE = (
    "'",
    '"',
    "''",
    "`",
    "\\",
    "\0",
    "\n",
    "\t",
    "\x7f",
    "\x1b[2J",
    "%",
    "%s",
    "%(name)s",
    "{}",
    "$$",
    "$1",
    "?",
    ";",
    "--",
    "/*",
    "*",
    "[",
    "(",
    "²",
    "٣",
    "\ud800",
    "\ufeff",
    "\u202e",
    "\N{MATHEMATICAL FRAKTUR CAPITAL U}",
    "Ö" * 300,
    "'; DROP TABLE execution; --",
    '"; DROP SCHEMA sqlapi CASCADE; --',
    "x' OR '1'='1",
    "$(id)",
    "../../etc/passwd",
    "..",
    ".",
    "/",
    "a/b",
    "a=b",
    "a b",
    "a\0b",
    "(a+)+$",
    "(?P<a>",
    "(?=a)",
    "a{1000}{1000}",
    "*a" * 40,
    "NaN",
    "Infinity",
    "-0",
    "1e999",
    "9" * 5000,
    "null",
    "true",
    "[]",
    "x" * 129,
    "x" * 300,
    "x" * 2100,
    "é" * 1024,
    "s3://",
    "s3:///etc",
    "file:///etc/passwd",
    "http://127.0.0.1/",
    f"s3://{BUCKET}",
    f"s3://{BUCKET}/silver/tickit/sale",
    f"s3://{BUCKET}/a\nb",
    "s3://no-such-bucket/x",
    f"s3://{BUCKET}/{'x' * 300}",
    f"s3://{BUCKET}/{'x/' * 600}",
    f"s3://{BUCKET}/%2e%2e/silver",
    "array<" * 2000,
    "decimal(99999999999999999999,1)",
    "struct<a:int,b:array<map<string,row>>>",
    "/* Presto View: AAAA */",
    "/* Presto View: W10= */",
    "Expression = 'x' AND " * 50,
    "k = " + " " * 900 + "(",
)
_KNOWN: dict[str, tuple[str, ...]] = {
    "WorkGroup": ("primary", "group_a", "group_b"),
    "Name": ("primary", "group_a", "tickit", "db_a", "t_a", "AwsDataCatalog"),
    "DatabaseName": ("tickit", "db_a", "default"),
    "Database": ("tickit", "db_a"),
    "CatalogName": ("AwsDataCatalog",),
    "Catalog": ("AwsDataCatalog",),
    "TableName": ("sale", "t_a", "artists_ro"),
    "StatementName": ("s_a", "s_b"),
    "QueryStatement": ("SELECT 1", "SELECT ?"),
    "OutputLocation": (OUTPUT,),
    "Location": (f"s3://{BUCKET}/tables/t_a", f"s3://{BUCKET}/tables/t_b/"),
    "ResourceARN": (f"arn:aws:athena:{REGION}:000000000000:workgroup/primary",),
    "Type": ("int", "string", "array<int>", "decimal(3,1)"),
    "InputFormat": ("parquet", "text"),
    "SerializationLibrary": ("json", "LazySimple", "ParquetHiveSerDe"),
    "TableType": ("VIRTUAL_VIEW", "EXTERNAL_TABLE"),
    "Expression": ("sale.*", "k = 1", "k = 'a' AND n >= 2"),
    "NextToken": ("1", "0", "99", "-1"),
    "VersionId": ("0", "1"),
    "Values": ("a", "1", ""),
    "PartitionValues": ("a", "1"),
}
"""Texts that are something here, by the name of the member or of the list it is in."""
_STATEMENTS = (
    "SELECT {name}",
    "SELECT * FROM {name}",
    "SELECT {text} AS {name}",
    "VALUES {text}",
    "EXPLAIN SELECT {text}",
    "SHOW DATABASES LIKE {text}",
    "SHOW TABLES IN {name} {text}",
    "SHOW VIEWS IN {name}",
    "SHOW COLUMNS IN {name}",
    "SHOW PARTITIONS {name}",
    "SHOW CREATE TABLE {name}",
    "SHOW CREATE VIEW {name}",
    "SHOW TBLPROPERTIES {name}",
    "DESCRIBE {name}",
    "CREATE DATABASE {name} LOCATION {text}",
    "DROP DATABASE {name} CASCADE",
    "CREATE OR REPLACE VIEW {name} AS SELECT {text} AS {name}",
    "DROP VIEW {name}",
    "DROP TABLE {name}",
    "CREATE TABLE {name} WITH (external_location = {place}) AS SELECT 1 AS n",
    "CREATE TABLE {name} WITH (partitioned_by = ARRAY[{text}]) AS SELECT 1 AS n, {text} AS k",
    "CREATE TABLE {name} WITH (partitioned_by = ARRAY['k']) AS SELECT 1 AS n, {text} AS k",
    "CREATE TABLE {name} WITH (format = 'TEXTFILE', field_delimiter = {text}) AS SELECT 'a' AS n",
    "CREATE TABLE {name} AS SELECT {text} AS {name}",
    "ALTER TABLE {name} SET TBLPROPERTIES ({text} = {text})",
    "UNLOAD (SELECT 1 AS n, {text} AS k) TO {place}"
    " WITH (format = 'PARQUET', partitioned_by = ARRAY['k'])",
    "UNLOAD (SELECT {text} AS n) TO {place} WITH (format = 'JSON')",
    "PREPARE {name} FROM SELECT {text}",
    "EXECUTE {name} USING {text}",
    "DEALLOCATE PREPARE {name}",
    "{text}",
    "INSERT INTO {name} SELECT {text}",
    "SELECT cast({text} AS integer)",
)
_IDS = ("QueryExecutionId", "NamedQueryId")
_HEADERS = ("authorization", "x-amz-date", "x-amz-target", "host", "content-type",
            "x-amz-content-sha256", "content-length", "x-amz-security-token")  # fmt: skip

_UNSIGNED = (b"content-type", b"content-length", b"x-amz-security-token")
"""Of them those that change nothing of what is asked."""


@dataclass
class Sent:
    """One request, as an ASGI server hands it over."""

    headers: list[tuple[bytes, bytes]]
    body: bytes
    query: bytes = b""
    offered: bool = True
    """True if the endpoint has that operation."""
    signed: bool = True
    """False: something that is signed was changed afterwards."""

    def __repr__(self) -> str:
        return f"{self.headers!r} ?{self.query!r} {self.body[:3000]!r}"


@dataclass
class Generator:
    """Makes requests; `ids` are those that answers named."""

    chance: random.Random
    offered: dict[str, list[str]]
    """Operations by service."""
    ids: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in _IDS})

    _hostility: float = 0.5
    """The share of texts that are hostile. If most are, each request is refused for the first."""

    def request(self) -> Sent:
        """One request of any kind."""
        kind = self.chance.random()
        self._hostility = self.chance.choice((0.02, 0.1, 0.6))
        if kind < 0.15:
            return self._signature(self._operation())
        if kind < 0.22:
            return self._unknown()
        if kind < 0.37:
            return self._statement()
        return self._operation()

    def learn(self, answer: dict[str, Any]) -> None:
        """Remember what an answer names."""
        for name, known in self.ids.items():
            if isinstance(answer.get(name), str):
                known.append(answer[name])
                del known[:-20]

    def hostile(self) -> str:
        """One hostile text, or two."""
        if self.chance.random() < 0.03:
            # Nothing makes it shorter: an index of PostgreSQL takes no such value.
            return "".join(self.chance.choices(string.ascii_letters, k=6000))
        text = self.chance.choice(_HOSTILE)
        return text + self.chance.choice(_HOSTILE) if self.chance.random() < 0.2 else text

    # operations

    def _operation(self) -> Sent:
        service = self.chance.choice(list(self.offered))
        name = self.chance.choice(self.offered[service])
        shape = model(service).operation_model(name).input_shape
        members = self._value(shape, "", 0) if shape else {}
        if self.chance.random() < self._hostility / 5:
            members = self._spoilt(members)
        return self.signed(service, f"{PREFIXES[service]}.{name}", self._body(members))

    def _value(self, shape: Shape, name: str, depth: int) -> Any:  # noqa: PLR0911 - by type
        chance = self.chance
        if depth and chance.random() < self._hostility / 20:
            return chance.choice((None, [], {}, "", 0, True, -1, 1e300, [[]], {"a": None}))
        if isinstance(shape, StructureShape):
            return {
                key: self._value(one, key, depth + 1)
                for key, one in shape.members.items()
                if chance.random() < (0.95 if key in shape.required_members else 0.8 / (depth + 1))
            }
        if isinstance(shape, ListShape):
            count = chance.choice((0, 1, 1, 1, 2, 3, 101 if self._hostility > 0.5 else 1))
            return [self._value(shape.member, name, depth + 1) for _ in range(count)]
        if isinstance(shape, MapShape):
            return {
                str(self._value(shape.key, name, depth)): self._value(shape.value, name, depth + 1)
                for _ in range(chance.choice((0, 1, 2)))
            }
        if isinstance(shape, StringShape):
            return self._text(shape, name)
        if shape.type_name == "boolean":
            return chance.random() < 0.5
        if chance.random() > self._hostility:
            return chance.choice((1, 2, 50))
        return chance.choice((0, 1000, -1, 2**31, 2**63, 10**30, 1.5, 1e300))

    def _text(self, shape: Shape, name: str) -> str:
        chance, enum = self.chance, shape.metadata.get("enum")
        if chance.random() < self._hostility:
            return self.hostile()
        if self.ids.get(name.removesuffix("s")):
            return chance.choice(self.ids[name.removesuffix("s")])
        if name == "QueryString":
            return self.statement()
        if enum:
            return str(chance.choice(enum))
        return chance.choice(_KNOWN.get(name, ("k", "n", "t_a", "a" * 40)))

    def _spoilt(self, members: Any) -> Any:
        match self.chance.randrange(4):
            case 0:
                return self.chance.choice((None, [], "x", 1, True, [members]))
            case 1:
                return {**members, self.hostile(): self.hostile()} if members else {"a": 1}
            case 2:
                deep: Any = members
                for _ in range(self.chance.choice((50, 200))):
                    deep = [deep]
                return {"Name": deep, "WorkGroup": deep}
        return members

    def _body(self, members: Any) -> bytes:
        body = json.dumps(members).encode()
        match self.chance.randrange(100):
            case 0:
                return body[: self.chance.randrange(len(body) + 1)]
            case 1:
                return self.chance.randbytes(self.chance.randrange(200))
            case 2:
                return b'{"Name":' * 5000
            case 3:
                return body.replace(b":", b":NaN, ", 1)
        return body

    # statements

    def statement(self) -> str:
        """A statement with hostile names, texts and places."""
        template = self.chance.choice(_STATEMENTS)

        def filled(found: re.Match[str]) -> str:
            match found[1]:
                case "name":
                    known = ("t_a", "t_b", "sale", "tickit.sale", "db_a.t_a", "db_a", "s_a")
                    if self.chance.random() > self._hostility:
                        return self.chance.choice(known)
                    return '"' + self.hostile().replace('"', '""') + '"'
                case "place":
                    folder = f"s3://{BUCKET}/out/{self.chance.randrange(10**9)}"
                    text = folder if self.chance.random() < 0.5 else self.hostile()
                case _:
                    text = self.hostile() if self.chance.random() < 0.7 else "k"
            # Sometimes it ends its own quotes.
            return (
                f"'{text}'" if self.chance.random() < 0.1 else "'" + text.replace("'", "''") + "'"
            )

        return re.sub(r"\{(name|place|text)\}", filled, template)

    def _statement(self) -> Sent:
        members: dict[str, Any] = {"QueryString": self.statement()}
        if self.chance.random() < 0.7:
            members["QueryExecutionContext"] = {"Database": self.chance.choice(("tickit", "db_a"))}
        if self.chance.random() < 0.2:
            members["ExecutionParameters"] = [self.hostile()]
        return self.signed("athena", "AmazonAthena.StartQueryExecution", self._body(members))

    # what is not offered, and what is not signed

    def _unknown(self) -> Sent:
        service = self.chance.choice(list(PREFIXES))
        others = set(model(service).operation_names) - set(self.offered[service])
        name = self.chance.choice((*sorted(others), "", "Nope", "__init__", "x" * 5000, "a.b", "é"))
        prefix = self.chance.choice((PREFIXES[service],) * 6 + ("", "AmazonSQS", "../x"))
        sent = self.signed(service, f"{prefix}.{name}", b"{}")
        sent.offered = False
        return sent

    def signed(self, service: str, target: str, body: bytes) -> Sent:
        """A request with a right signature."""
        host = "127.0.0.1:8085"
        target = target.encode("latin-1", "replace").decode("latin-1")
        made = AWSRequest("POST", f"http://{host}/", {"X-Amz-Target": target}, body)
        made.headers["Host"] = host
        SigV4Auth(Credentials(KEY, SECRET), service, REGION).add_auth(made)
        headers = [
            (name.lower().encode("latin-1"), str(value).encode("latin-1"))
            for name, value in made.headers.items()
        ]
        return Sent(headers, body)

    def _signature(self, sent: Sent) -> Sent:
        """The request with something changed that its signature covers, or the signature itself."""
        chance, headers = self.chance, list(sent.headers)
        names = [name for name, _ in headers]
        text = self.hostile().encode("latin-1", "replace")
        match chance.randrange(6):
            case 0:
                return Sent(headers, sent.body + b" ", signed=False)
            case 1:
                return Sent(headers, sent.body, b"a=%zz&" + text, signed=False)
            case 2:
                at = chance.randrange(len(headers))
                headers[at] = (names[at], text)
            case 3:
                at = chance.randrange(len(headers))
                del headers[at]
            case 4:
                at = names.index(b"authorization")
                value = headers[at][1]
                cut = chance.randrange(len(value))
                middle = text if chance.random() < 0.5 else b""
                headers[at] = (b"authorization", value[:cut] + middle + value[cut + 1 :])
            case _:
                headers.append((chance.choice(_HEADERS).encode(), text))
                if headers[-1][0] in _UNSIGNED:
                    return Sent(headers, sent.body)
        return Sent(headers, sent.body, signed=headers == sent.headers)
