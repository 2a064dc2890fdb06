"""Single requests with AWS signatures, for callers without boto3, which takes 0.3 s to load."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import requests
from pydantic import SecretStr

__all__ = ["signed_request"]


def signed_request(
    method: str,
    url: str,
    *,
    service: str,
    region: str,
    key: tuple[SecretStr, SecretStr],
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    timeout: float,
    stream: bool = False,
) -> requests.Response:
    """Return the response to a request signed for `service` with `key` (its id and its secret).

    Raises requests' errors, including those for HTTP error statuses.
    """
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    all_headers = {**(headers or {}), "X-Amz-Content-Sha256": hashlib.sha256(body).hexdigest()}
    request: Any = AWSRequest(method, url, headers=all_headers, data=body)
    access, secret = key
    credentials = Credentials(access.get_secret_value(), secret.get_secret_value())
    SigV4Auth(credentials, service, region).add_auth(request)
    response = requests.request(
        method, url, headers=dict(request.headers), data=body, timeout=timeout, stream=stream
    )
    response.raise_for_status()
    return response
