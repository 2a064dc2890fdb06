"""The notebook is as it should be committed, and what `labctl client notebook` starts."""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory

import nbformat
import pytest

from labctl.errors import ExitCode, LabError
from labctl.lab.clients.notebooks import jupyter, running_lab
from labctl.lab.lab import Lab
from labctl.shipped import shipped

NOTEBOOK = shipped("notebooks") / "silver.ipynb"


@pytest.fixture
def notebook() -> nbformat.NotebookNode:
    read: nbformat.NotebookNode = nbformat.read(NOTEBOOK, as_version=4)
    return read


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A lab that was never started, in a project with nothing but its lab.toml."""
    (tmp_path / "lab.toml").write_text(shipped("lab.toml").read_text())
    monkeypatch.setenv("LABCTL_PROJECT", str(tmp_path))
    monkeypatch.setenv("LABCTL_LAB_NAME", "never-started")
    return Lab.find(name="never-started")


def test_the_notebook_is_valid_and_has_no_output(notebook: nbformat.NotebookNode) -> None:
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)


def test_what_the_notebook_imports_is_there(notebook: nbformat.NotebookNode) -> None:
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    imported = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]
    assert imported
    for node in imported:
        assert node.module is not None
        for name in node.names:
            assert hasattr(import_module(node.module), name.name)


def test_jupyter_starts_on_the_projects_notebooks_with_its_lab(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labctl.extras.find_spec", lambda name: name)
    program = jupyter(lab)
    folder = lab.project / "notebooks"
    assert program.argv[:4] == [sys.executable, "-m", "jupyterlab", f"--notebook-dir={folder}"]
    assert {"LABCTL_LAB_NAME": lab.name, "LABCTL_PROFILE": lab.profile}.items() <= (
        program.env.items()
    )
    assert (folder / "silver.ipynb").read_bytes() == NOTEBOOK.read_bytes()


def test_notebooks_of_the_project_stay_as_they_are(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labctl.extras.find_spec", lambda name: name)
    own = lab.project / "notebooks" / "own.ipynb"
    own.parent.mkdir()
    own.touch()
    jupyter(lab)
    assert list(own.parent.iterdir()) == [own]


def test_a_missing_jupyterlab_is_one_error_and_makes_nothing(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "labctl.extras.find_spec", lambda name: None if name == "jupyterlab" else name
    )
    with pytest.raises(LabError) as caught:
        jupyter(lab)
    assert caught.value.what == "Notebooks need packages that are not installed: jupyterlab"
    assert caught.value.hint == "pip install 'labctl[notebook]'"
    assert caught.value.exit_code is ExitCode.ENVIRONMENT
    assert not (lab.project / "notebooks").exists()


def test_a_lab_that_does_not_run_is_one_error(lab: Lab) -> None:
    with pytest.raises(LabError, match=lab.name):
        running_lab()


@pytest.mark.parametrize("home", ["short", "l" * 100])
def test_no_other_user_can_listen_to_a_kernel(
    home: str, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its sockets are files, in a folder that this user alone may enter, wherever the home is."""
    from jupyter_client.multikernelmanager import MultiKernelManager
    from jupyter_core.paths import jupyter_runtime_dir
    from traitlets.config.loader import KVArgParseConfigLoader

    monkeypatch.setattr("labctl.extras.find_spec", lambda name: name)
    monkeypatch.delenv("JUPYTER_RUNTIME_DIR", raising=False)
    with TemporaryDirectory(prefix="j-") as folder:  # a test's own has a long path
        monkeypatch.setenv("JUPYTER_DATA_DIR", f"{folder}/{home}")
        program = jupyter(lab)
        for name, value in program.env.items():
            monkeypatch.setenv(name, value)
        options = [word for word in program.argv if word.startswith("--KernelManager.")]
        config = KVArgParseConfigLoader(argv=options).load_config()
        # As JupyterLab does, which makes the folder of that mode, too.
        sockets = Path(jupyter_runtime_dir())
        sockets.mkdir(mode=0o700, parents=True, exist_ok=True)
        kernels = MultiKernelManager(config=config, connection_dir=str(sockets))
        kernel = kernels.get_kernel(kernels.start_kernel())
        client = kernel.blocking_client()
        try:
            client.start_channels()
            client.wait_for_ready(timeout=60)
            assert sockets.stat().st_mode & 0o077 == 0
            assert len([path for path in sockets.iterdir() if path.is_socket()]) == 5
        finally:
            client.stop_channels()
            kernels.shutdown_all(now=True)
    if runtime := program.env.get("JUPYTER_RUNTIME_DIR"):
        rmtree(runtime)
