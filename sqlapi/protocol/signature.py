"""The check of AWS's signature version 4, which signs the request again and compares."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from sqlapi.protocol.protocol_errors import ApiError

__all__ = ["Request", "check", "check_headers"]

_SKEW = timedelta(minutes=15)
_TO_BE_SIGNED = ("x-amz-date", "x-amz-target")
"""Headers that decide what a request does, and when. They must be signed, so that a change makes
the signature invalid."""
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/,]+)/(?P<day>\d{8})/(?P<region>[^/,]+)/"
    r"(?P<service>[^/,]+)/aws4_request,\s*SignedHeaders=(?P<headers>[^,]+),\s*"
    r"Signature=(?P<signature>[0-9a-f]{64})"
)


@dataclass(frozen=True)
class Request:
    """An HTTP request, unchanged except that header names are in lower case."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


def check(request: Request, keys: Mapping[str, str], *, now: datetime | None = None) -> str:
    """Return the access key that signed a request. Raises ApiError (403 or 400) if none did."""
    parts = check_headers(request.headers, keys, now=now)
    stated = request.headers.get("x-amz-content-sha256")
    if stated and stated not in (sha256(request.body).hexdigest(), "UNSIGNED-PAYLOAD"):
        raise _mismatch()
    if not hmac.compare_digest(_signature(request, parts, keys[parts["key"]]), parts["signature"]):
        raise _mismatch()
    return parts["key"]


def check_headers(
    headers: Mapping[str, str], keys: Mapping[str, str], *, now: datetime | None = None
) -> re.Match[str]:
    """Return the parts of the `Authorization` header; raise ApiError if they cannot be valid.

    This does not need the body, so that a request that fails here is refused before its body is
    read.
    """
    given = headers.get("authorization")
    if not given:
        raise ApiError(
            "MissingAuthenticationTokenException", "Missing Authentication Token", status=403
        )
    parts = _AUTHORIZATION.fullmatch(given.strip())
    if not parts:
        raise ApiError(
            "IncompleteSignatureException", "Authorization header is incomplete.", status=403
        )
    if parts["key"] not in keys:
        raise ApiError(
            "UnrecognizedClientException", "The security token included in the request is invalid."
        )
    _check_time(headers.get("x-amz-date", ""), parts["day"], now or datetime.now(UTC))
    signed = parts["headers"].split(";")
    if "host" not in signed or any(name not in headers for name in signed):
        raise ApiError("IncompleteSignatureException", "A signed header is missing.", status=403)
    for name in _TO_BE_SIGNED:
        if name in headers and name not in signed:
            raise ApiError(
                "InvalidSignatureException", f"The header '{name}' must be signed.", status=403
            )
    return parts


def _signature(request: Request, parts: re.Match[str], secret: str) -> str:
    signer = SigV4Auth(Credentials(parts["key"], secret), parts["service"], parts["region"])
    again = AWSRequest(method=request.method, url=request.url, data=request.body)
    for name in parts["headers"].split(";"):
        again.headers[name] = request.headers[name]
    again.context["timestamp"] = request.headers["x-amz-date"]
    text = signer.string_to_sign(again, signer.canonical_request(again))
    return str(signer.signature(text, again))


def _check_time(stamp: str, day: str, now: datetime) -> None:
    try:
        at = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise ApiError(
            "IncompleteSignatureException", "X-Amz-Date is missing.", status=403
        ) from None
    if not stamp.startswith(day) or abs(now - at) > _SKEW:
        raise ApiError("InvalidSignatureException", f"Signature not current: {stamp}", status=403)


def _mismatch() -> ApiError:
    return ApiError(
        "InvalidSignatureException",
        "The request signature we calculated does not match the signature you provided. "
        "Check your AWS Secret Access Key and signing method.",
        status=403,
    )
