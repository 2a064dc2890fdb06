"""Exclusion of this machine from the user's HTTP proxy."""

from __future__ import annotations

import os

__all__ = ["leave_loopback_out"]

_LOOPBACK = ("127.0.0.1", "localhost")
_NAMES = ("no_proxy", "NO_PROXY")
"""Both are read, by different libraries; if a library reads both, it prefers the first."""


def leave_loopback_out() -> None:
    """Have this process and its children reach services on this machine without a proxy.

    Otherwise HTTP clients (requests, botocore) send requests for 127.0.0.1 to the proxy of
    `http_proxy`, which cannot reach the lab.
    """
    known = next((os.environ[name] for name in _NAMES if os.environ.get(name)), "")
    hosts = [host for host in (part.strip() for part in known.split(",")) if host]
    if "*" in hosts:
        return
    complete = ",".join([*hosts, *(host for host in _LOOPBACK if host not in hosts)])
    os.environ.update(dict.fromkeys(_NAMES, complete))
