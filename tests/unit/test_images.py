"""Which images are built in which order, from what, and how a failing build ends."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from labctl.artifacts import ArtifactStore
from labctl.errors import ExitCode, LabError
from labctl.images.build import references
from labctl.images.context import stage
from labctl.images.docker_commands import run
from labctl.images.recipes import BASE, RECIPES, STEPS, with_parents
from labctl.images.wheels import locked_text
from labctl.services.container import Recipe

PROJECT = Path(__file__).parents[2]


def test_an_image_comes_after_those_it_is_made_from() -> None:
    order = with_parents(None)
    for name, recipe in RECIPES.items():
        for parent in recipe.parents.values():
            assert order.index(parent) < order.index(name)


def test_naming_an_image_brings_what_it_is_made_from_and_no_other() -> None:
    assert with_parents(["connect"]) == [BASE, "jre", "connect-base", "connect"]


def test_an_unknown_image_is_a_usage_error() -> None:
    with pytest.raises(LabError) as caught:
        with_parents(["oracle"])
    assert caught.value.exit_code is ExitCode.USAGE
    assert "oracle" in caught.value.what
    assert "silver" in (caught.value.hint or "")


def test_every_service_has_a_reference_a_registry_would_accept(tmp_path: Path) -> None:
    found = references(ArtifactStore(tmp_path, system_tools=False))
    assert set(found) == set(RECIPES) - STEPS
    for name, reference in found.items():
        assert re.match(rf"labctl-local/{name}:[A-Za-z0-9_][A-Za-z0-9_.-]{{0,127}}$", reference)


def test_this_machines_programs_are_no_part_of_an_image(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path, system_tools=False)
    assert {status.state for status in store.statuses()} == {"missing"}


def test_the_wheelhouse_has_the_lock_and_what_builds_source_packages() -> None:
    text = locked_text()
    lock = (PROJECT / "requirements.lock").read_text(encoding="utf-8")
    assert text.startswith(lock)
    added = [line.split("==")[0] for line in text[len(lock) :].splitlines() if "==" in line]
    assert added == ["wheel", "setuptools"]
    assert text[len(lock) :].count("--hash=sha256:") >= len(added)


def test_a_context_links_what_the_dockerfile_copies(tmp_path: Path) -> None:
    images, wheels = tmp_path / "images", tmp_path / "wheels"
    (images / "local" / "thing").mkdir(parents=True)
    (images / "local" / "thing" / "Dockerfile").write_text("FROM scratch\n")
    (images / "local" / "tools").mkdir()
    (images / "local" / "tools" / "run.sh").write_text("#!/bin/sh\n")
    wheels.mkdir()
    (wheels / "some.whl").write_bytes(b"wheel")
    recipe = Recipe("thing", "local/thing", shared=("tools",), wheels=True)
    context = tmp_path / "context"
    store = ArtifactStore(tmp_path / "cache", system_tools=False)
    stage(recipe, context, images=images, store=store, wheels=wheels)
    files = {str(p.relative_to(context)) for p in context.rglob("*") if p.is_file()}
    assert files == {"Dockerfile", "tools/run.sh", "wheels/some.whl"}
    assert (context / "wheels" / "some.whl").samefile(wheels / "some.whl")


def test_the_builder_of_silver_has_every_module_that_fetching_imports(tmp_path: Path) -> None:
    """It has no more of labctl than the Dockerfile copies before it fetches."""
    text = (PROJECT / "compose/images/silver/Dockerfile").read_text(encoding="utf-8")
    for line in text.partition("\nRUN parts=")[0].splitlines():
        match line.split():
            case ["COPY", *sources, target] if target.startswith("labctl"):
                for source in sources:
                    path, into = PROJECT / source, tmp_path / target
                    if path.is_dir():
                        shutil.copytree(path, into)
                    else:
                        into.mkdir(parents=True, exist_ok=True)
                        shutil.copy(path, into)
    program = "from labctl.artifacts import ArtifactStore; import labctl.artifacts.fetching"
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)


def test_a_context_without_its_artefact_says_how_to_get_it(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path / "cache", system_tools=False)
    with pytest.raises(LabError) as caught:
        stage(
            RECIPES["kafka"],
            tmp_path / "context",
            images=PROJECT / "compose" / "images",
            store=store,
            wheels=tmp_path,
        )
    assert caught.value.hint == "run `labctl tools artifacts fetch kafka`"


def test_a_failed_command_is_an_error_with_its_last_lines() -> None:
    seen: list[str] = []
    with pytest.raises(LabError) as caught:
        run(
            ["sh", "-c", "echo first; echo last >&2; exit 3"],
            what="it",
            hint="do",
            line=seen.append,
        )
    assert caught.value.details == ("first", "last")
    assert seen == ["first\n", "last\n"]


def test_an_interrupted_command_ends_with_its_children(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"

    def interrupt(_line: str) -> None:
        raise KeyboardInterrupt

    script = f"sleep 600 & echo $! > {pid_file}; echo started; wait"
    with pytest.raises(KeyboardInterrupt):
        run(["sh", "-c", script], what="it", hint="do", line=interrupt)
    child = Path("/proc", pid_file.read_text().strip(), "stat")
    deadline = time.monotonic() + 10
    while child.exists() and child.read_text().split()[2] != "Z":
        assert time.monotonic() < deadline, "a child was left behind"
        time.sleep(0.02)
