"""Whose a folder is: labctl keeps secrets and programs in its own, and runs what a project says.

Group permissions are a way for another user into both: who may write a folder may replace what is
in it. So labctl works in folders of its own user alone.
"""

from __future__ import annotations

import os
import pwd
import stat
from pathlib import Path

from labctl.errors import ExitCode, LabError

__all__ = ["is_root_by_itself", "make_own", "owner_name", "require_own", "trusted_owners"]

_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_PRIVATE, _READABLE = 0o700, 0o755
_ROOT = 0


def owner_name(uid: int) -> str:
    """Return a user's name; its number where this machine knows no name of it."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def is_root_by_itself() -> bool:
    """Return whether this user is root and no other user has called sudo."""
    return os.geteuid() == _ROOT and not os.environ.get("SUDO_UID")


def trusted_owners() -> set[int]:
    """Return the users whose files may say what runs as this user: itself, root, sudo's caller."""
    caller = os.environ.get("SUDO_UID", "")
    own = os.geteuid()
    return {own, _ROOT} | ({int(caller)} if own == _ROOT and caller.isdecimal() else set())


def require_own(folder: Path, *, variable: str, provided: bool = False) -> None:
    """Raise LabError (ENVIRONMENT) for a folder of another user; accept one that is not there.

    `variable` is what to set to use another one. `provided`: one that root has made is good as
    well, and root, who in a container often works in the folders of another user, may use any.
    """
    try:
        owner = folder.stat().st_uid
    except FileNotFoundError:
        return
    except OSError as error:
        raise _refused(folder, f"cannot be entered: {error.strerror}", variable) from None
    own = os.geteuid()
    if owner != own and not (provided and _ROOT in (owner, own)):
        why = f"belongs to user {owner_name(owner)}, not to {owner_name(own)}"
        raise _refused(folder, why, variable)


def make_own(folder: Path, *, variable: str, provided: bool = False) -> None:
    """Make a folder that no other user can change, whatever the umask; close one that others could.

    No other user may enter it, unless root makes it to be `provided`. Raises LabError (ENVIRONMENT)
    for a folder of another user, or where none can be made.
    """
    require_own(folder, variable=variable, provided=provided)
    mode = _READABLE if provided and os.geteuid() == _ROOT else _PRIVATE
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=mode)
        if folder.stat().st_mode & _WRITABLE_BY_OTHERS:
            folder.chmod(mode)
    except OSError as error:
        raise _refused(folder, f"cannot be used: {error.strerror}", variable) from None


def _refused(folder: Path, why: str, variable: str) -> LabError:
    return LabError(
        f"{folder} {why}",
        hint=f"two users share no such folder; set {variable} to a folder of your own",
        exit_code=ExitCode.ENVIRONMENT,
    )
