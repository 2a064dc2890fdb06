"""Checks of who owns a folder: labctl keeps secrets and programs in folders and runs projects.

A user who may write to a folder, for example by group permissions, may replace the files in it.
labctl therefore works only in folders that its own user owns.
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
    """Return a user's name; the numeric id if this machine knows no name for it."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def is_root_by_itself() -> bool:
    """Return whether this user is root and no other user has called sudo."""
    return os.geteuid() == _ROOT and not os.environ.get("SUDO_UID")


def trusted_owners() -> set[int]:
    """Return the users whose files may decide what this user runs: itself, root, sudo's caller."""
    caller = os.environ.get("SUDO_UID", "")
    own = os.geteuid()
    return {own, _ROOT} | ({int(caller)} if own == _ROOT and caller.isdecimal() else set())


def require_own(folder: Path, *, variable: str, provided: bool = False) -> None:
    """Raise LabError (ENVIRONMENT) for another user's folder; accept a missing folder.

    `variable` is the environment variable that selects another folder. With `provided`, a folder
    that root owns is accepted too, and root may use any folder: in a container it often works in
    another user's folders.
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
    """Make a folder that no other user can change, whatever the umask; restrict an existing one.

    No other user may enter a new folder, unless root makes it with `provided`. Raises LabError
    (ENVIRONMENT) for another user's folder, or if the folder cannot be made.
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
