"""What `status` says of a service that is not usable."""

from __future__ import annotations

import pytest
import requests

from labctl.lab.lifecycle.probe_errors import why_unusable
from tests.ports import free_port


def test_words_of_a_probe_are_left_as_they_are() -> None:
    assert why_unusable(ConnectionError("2 tables are still being opened")) == (
        "2 tables are still being opened"
    )


def test_of_a_refused_connection_the_address_is_told() -> None:
    port = free_port()
    with pytest.raises(requests.ConnectionError) as caught:
        requests.get(f"http://127.0.0.1:{port}/status", timeout=5)
    assert why_unusable(caught.value) == f"nothing answers at 127.0.0.1:{port}"


def test_of_another_error_its_first_line_is_told_with_its_kind() -> None:
    assert why_unusable(ValueError("no JSON\nat all")) == "ValueError: no JSON"
    response = requests.Response()
    response.status_code = 503
    error = requests.HTTPError("503 Server Error", response=response)
    assert why_unusable(error) == "HTTPError: 503 Server Error"
