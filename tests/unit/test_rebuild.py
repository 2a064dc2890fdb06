"""`labctl table rebuild`: what is asked of the Spark application, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
import requests
from moto import mock_aws
from pydantic import SecretStr

from labctl.config.endpoints import ObjectStore, Silver
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.tables import table_rebuild
from labctl.lab.tables.table_rebuild import cancel_rebuild, rebuild_table
from labctl.lake.objectstore import s3_client
from lakecontract.rebuild_request import ASKED, refused

KEY = "rebuild/sale"
KEYS = SecretStr("of the test")
LAB = cast(
    "Lab",
    SimpleNamespace(
        table=lambda name: SimpleNamespace(name=name),
        endpoints=SimpleNamespace(silver=Silver(status_url="http://application")),
    ),
)


class Application:
    """The Spark application, as `labctl` sees it: each call does the next of `answers`."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.answers: list[Callable[[], None]] = []
        self.calls: list[str] = []

    def post(self, url: str, **_options: object) -> requests.Response:
        self.calls.append(url)
        if self.answers:
            self.answers.pop(0)()
        response = requests.Response()
        response.status_code = requests.codes.accepted
        return response

    def keys(self) -> list[str]:
        found = self.client.list_objects_v2(Bucket="lake").get("Contents", [])
        return [entry["Key"] for entry in found]

    def put(self, content: bytes) -> None:
        self.client.put_object(Bucket="lake", Key=KEY, Body=content)

    def do_it(self) -> None:
        assert self.keys() == [KEY]  # It was there before the application was told.
        self.client.delete_object(Bucket="lake", Key=KEY)

    def do_it_without_an_answer(self) -> None:
        self.do_it()
        raise requests.ReadTimeout("Read timed out")


@pytest.fixture
def application(monkeypatch: pytest.MonkeyPatch) -> Iterator[Application]:
    with mock_aws():
        client = s3_client(ObjectStore(access_key=KEYS, secret_key=KEYS, bucket="lake"))
        client.create_bucket(Bucket="lake")
        made = Application(client)
        request = table_rebuild._Request(client, "lake", KEY)
        monkeypatch.setattr(table_rebuild._Request, "of", lambda _lab, _name: request)
        monkeypatch.setattr(requests, "post", made.post)
        yield made


def test_a_rebuild_that_is_done_before_the_application_answers_is_done(
    application: Application,
) -> None:
    application.answers = [application.do_it_without_an_answer]
    rebuild_table(LAB, "sale")
    assert application.calls == ["http://application/tables/sale/restart"]


def test_an_application_that_did_not_answer_is_told_again(application: Application) -> None:
    def answer_late() -> None:
        raise requests.ReadTimeout("Read timed out")

    application.answers = [answer_late, answer_late, application.do_it]
    rebuild_table(LAB, "sale")
    assert len(application.calls) == 3


def test_a_request_that_is_refused_is_told_with_its_reason_and_gone(
    application: Application,
) -> None:
    application.answers = [lambda: application.put(refused("there is nothing in bronze"))]
    with pytest.raises(LabError, match=r"sale was not rebuilt: there is nothing in bronze"):
        rebuild_table(LAB, "sale")
    assert application.keys() == []


def test_a_request_does_not_stay_for_an_application_that_is_not_there(
    application: Application,
) -> None:
    def refuse() -> None:
        raise requests.ConnectionError("refused")

    application.answers = [refuse]
    with pytest.raises(LabError, match="did not take the request") as caught:
        rebuild_table(LAB, "sale")
    assert caught.value.exit_code is ExitCode.NOT_READY
    assert application.keys() == []


def test_a_request_can_be_withdrawn_and_its_table_goes_on(application: Application) -> None:
    assert not cancel_rebuild(LAB, "sale")
    assert application.calls == []
    application.put(ASKED)
    assert cancel_rebuild(LAB, "sale")
    assert application.keys() == []
    assert application.calls == ["http://application/tables/sale/restart"]
