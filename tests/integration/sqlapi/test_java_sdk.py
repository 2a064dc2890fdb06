"""AWS's SDK for Java v2, unmodified: a program that starts a query, polls and pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from labctl.artifacts import ArtifactStore
from labctl.artifacts.lock import load_lock
from tests.integration.sqlapi.clients import run

pytestmark = pytest.mark.long

_JAVA = Path(__file__).with_name("java")


@pytest.fixture(scope="module")
def java() -> Path:
    store = ArtifactStore()
    store.fetch(["jre"])
    return store.java()


@pytest.fixture(scope="module")
def class_path(java: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of the compiled program and what it needs."""
    store = ArtifactStore(lock=load_lock(_JAVA / "lock.json"))
    store.fetch()
    folder = tmp_path_factory.mktemp("java")
    jars = ":".join(map(str, sorted(store.path("aws-sdk-java").glob("*.jar"))))
    compiled = run(
        *(java, "-cp", f"{store.path('java-compiler')}/*"),
        *("org.eclipse.jdt.internal.compiler.batch.Main", "-17", "-nowarn"),
        *("-cp", jars, "-d", str(folder), str(_JAVA / "Ask.java")),
        environment={},
        folder=folder,
    )
    assert compiled.returncode == 0, compiled.stderr
    return f"{folder}:{jars}"


def test_start_poll_and_page(
    java: Path, class_path: str, aws_variables: dict[str, str], tmp_path: Path
) -> None:
    done = run(
        *(java, "-cp", class_path, "Ask", "moma", "2"),
        "SELECT id, note FROM tickit.sale ORDER BY id",
        "SELECT nope FROM tickit.sale",
        environment=aws_variables,
        folder=tmp_path,
    )
    assert done.stdout.splitlines() == [
        "SUCCEEDED null",
        "row id|note",
        'row 1|a,"b"',
        "row 2|",
        "row 3|null",
        "pages 2",
        "FAILED COLUMN_NOT_FOUND: line 1:8: Column 'nope' cannot be resolved or requester is not "
        "authorized to access requested resources",
        "tables artists,artists_ro,artists_rt",
    ], done.stderr
