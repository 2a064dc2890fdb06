"""Notebooks on a running lab: what they call first, where they are, and JupyterLab on them."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from labctl.extras import require_extra
from labctl.home.folders import filled_folder
from labctl.lab.lab import Lab
from labctl.lab.programs import Program
from labctl.shipped import shipped

if TYPE_CHECKING:
    from labctl.lake.spark_session import SparkLake

__all__ = ["FOLDER", "jupyter", "own_notebooks", "running_lab", "spark_lake"]

FOLDER = "notebooks"
_TRANSPORT = "--KernelManager.transport=ipc"
"""Over TCP, a kernel publishes code and output to every user of the machine, without a key."""
_LONGEST_SOCKET = "kernel-01234567-89ab-cdef-0123-456789abcdef-ipc-1"
_SOCKET_PATH_LIMIT = 107
"""Bytes (sun_path, unix(7))."""


def running_lab() -> Lab:
    """The lab that `labctl notebook` was for; without it, that of the project around this folder.

    Raises LabError where it does not run.
    """
    name, profile = os.environ.get("LABCTL_LAB_NAME"), os.environ.get("LABCTL_PROFILE")
    return Lab.find(name=name, profile=profile).require_running()


def spark_lake(lab: Lab) -> SparkLake:
    """Spark SQL over the lab's silver tables, in a session that stays open until it is closed."""
    from labctl.lake import Lake
    from labctl.lake.spark import SparkEngine
    from labctl.lake.spark_session import SparkLake

    engine = SparkEngine(lab.artifacts.spark_jars(), lab.artifacts.java())
    return SparkLake(Lake(lab.endpoints.objectstore), engine)


def own_notebooks(project: Path) -> Path:
    """The project's folder of notebooks; where it has none, it is made, with those of labctl."""
    folder = project / FOLDER
    if not folder.exists():
        names = shutil.ignore_patterns(".ipynb_checkpoints")
        with filled_folder(folder) as staged:
            shutil.copytree(shipped(FOLDER), staged, ignore=names, dirs_exist_ok=True)
    return folder


def jupyter(lab: Lab) -> Program:
    """JupyterLab on the project's notebooks, whose kernels find this lab.

    Raises LabError (ENVIRONMENT) where JupyterLab is not installed; then no folder is made.
    """
    require_extra("notebook")
    folder = own_notebooks(lab.project)
    env = {"LABCTL_LAB_NAME": lab.name, "LABCTL_PROFILE": lab.profile, **_runtime_folder()}
    argv = [sys.executable, "-m", "jupyterlab", f"--notebook-dir={folder}", _TRANSPORT]
    return Program(argv, env)


def _runtime_folder() -> dict[str, str]:
    """Return the variable that names another folder for kernels' sockets; nothing where they fit
    into Jupyter's own, which no other user may enter."""
    from jupyter_core.paths import jupyter_runtime_dir

    longest = os.path.join(jupyter_runtime_dir(), _LONGEST_SOCKET)  # noqa: PTH118 - a text
    if len(os.fsencode(longest)) <= _SOCKET_PATH_LIMIT:
        return {}
    return {"JUPYTER_RUNTIME_DIR": mkdtemp(prefix="jupyter-")}
