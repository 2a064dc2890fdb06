"""Notebooks on a running lab: the functions they call first, their folder, and JupyterLab."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from labctl.extras import require_extra
from labctl.lab.clients.client_programs import Program
from labctl.lab.lab import Lab
from labctl.shipped import shipped
from labctl.state.folders import filled_folder

if TYPE_CHECKING:
    from labctl.lake.spark_session import SparkLake

__all__ = ["FOLDER", "jupyter", "own_notebooks", "running_lab", "spark_lake"]

FOLDER = "notebooks"
_TRANSPORT = "--KernelManager.transport=ipc"
"""Transport without TCP, on which all users of the machine could read code and output."""
_LONGEST_SOCKET = "kernel-01234567-89ab-cdef-0123-456789abcdef-ipc-1"
_SOCKET_PATH_LIMIT = 107
"""Maximum length of a socket's path in bytes (sun_path, unix(7))."""


def running_lab() -> Lab:
    """Return the lab of `labctl client notebook`, or that of the project around this folder.

    Raises LabError if the lab does not run.
    """
    name, profile = os.environ.get("LABCTL_LAB_NAME"), os.environ.get("LABCTL_PROFILE")
    return Lab.find(name=name, profile=profile).require_running()


def spark_lake(lab: Lab) -> SparkLake:
    """Return Spark SQL over the lab's silver tables, in a session that lasts until it is closed."""
    from labctl.lake import Lake
    from labctl.lake.spark_queries import SparkEngine
    from labctl.lake.spark_session import SparkLake

    engine = SparkEngine(lab.artifacts.spark_jars(), lab.artifacts.java())
    return SparkLake(Lake(lab.endpoints.objectstore), engine)


def own_notebooks(project: Path) -> Path:
    """Return the project's folder of notebooks; if missing, create it with labctl's notebooks."""
    folder = project / FOLDER
    if not folder.exists():
        names = shutil.ignore_patterns(".ipynb_checkpoints")
        with filled_folder(folder) as staged:
            shutil.copytree(shipped(FOLDER), staged, ignore=names, dirs_exist_ok=True)
    return folder


def jupyter(lab: Lab) -> Program:
    """Return JupyterLab on the project's notebooks, whose kernels find this lab.

    Raises LabError (ENVIRONMENT) if JupyterLab is not installed; then it creates no folder.
    """
    require_extra("notebook")
    folder = own_notebooks(lab.project)
    env = {"LABCTL_LAB_NAME": lab.name, "LABCTL_PROFILE": lab.profile, **_runtime_folder()}
    argv = [sys.executable, "-m", "jupyterlab", f"--notebook-dir={folder}", _TRANSPORT]
    return Program(argv, env)


def _runtime_folder() -> dict[str, str]:
    """Return the variable for another folder of kernels' sockets, if Jupyter's own is too long.

    No other user may enter Jupyter's own folder.
    """
    from jupyter_core.paths import jupyter_runtime_dir

    longest = os.path.join(jupyter_runtime_dir(), _LONGEST_SOCKET)  # noqa: PTH118 - a text
    if len(os.fsencode(longest)) <= _SOCKET_PATH_LIMIT:
        return {}
    return {"JUPYTER_RUNTIME_DIR": mkdtemp(prefix="jupyter-")}
