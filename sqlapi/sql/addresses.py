"""Parts of URLs, as Java parses them."""

from __future__ import annotations

import re
from urllib.parse import quote_plus, unquote_plus, urlsplit

from sqlapi.sql.code import failure

__all__ = ["url", "url_decode", "url_encode", "url_parameter"]


def url(  # noqa: PLR0911
    value: str, part: str
) -> str | None:
    if value.isascii() and re.search(r"[ \"<>\\^`{|}]", value):
        # Java does not accept this URL
        return None
    if not value or re.search(r"[\s%]", value) or not value.isascii():
        raise failure("NOT_SUPPORTED", "An address with these characters")
    found = urlsplit(value)
    if part in ("host", "path", "query") and re.match(r"[A-Za-z][A-Za-z0-9+.-]*:[^/]", value):
        # an opaque URI such as mailto: has none of these
        return ""
    match part:
        case "host":
            return "" if not found.hostname else re.sub(r"^.*@|:\d*$", "", found.netloc)
        case "path":
            return found.path
        case "protocol":
            return value.partition(":")[0] if found.scheme else ""
        case "fragment":
            return found.fragment
        case "port":
            return str(found.port) if found.port is not None else None
    return found.query


def url_parameter(value: str, name: str) -> str | None:
    for part in (url(value, "query") or "").split("&"):
        key, _, rest = part.partition("=")
        if key == name:
            return rest
    return None


def url_encode(value: str) -> str:
    return quote_plus(value, safe="*").replace("~", "%7E")


def url_decode(value: str) -> str:
    if re.search(r"%(?![0-9a-fA-F]{2})", value):
        raise failure("NOT_SUPPORTED", "url_decode of this text")
    try:
        return unquote_plus(value, errors="strict")
    except UnicodeDecodeError:
        raise failure("NOT_SUPPORTED", "url_decode of this text") from None
