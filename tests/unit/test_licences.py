"""All parts that a lab fetches have a licence on record, and are in the bill of materials."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from labctl.artifacts.lock import load_lock
from release.licences import (
    SHIPPED,
    fetched_images,
    licence_said,
    load_licences,
    locked_packages,
    locked_parts,
)
from release.sbom import main

PERMISSIVE = re.compile(
    r"\b(0BSD|Apache|BSD|CC0|CNRI-Python|ISC|MIT|PSF|Python-2\.0|Unlicense|Zlib)\b", re.IGNORECASE
)
WITH_CONDITIONS = re.compile(
    r"GPL|General Public|MPL|Mozilla|EPL|Eclipse|CDDL|EUPL|OSL|proprietary|commercial",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def bom(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The bill of materials of a wheel of which only the name and version matter."""
    folder = tmp_path_factory.mktemp("dist")
    with ZipFile(folder / "labctl-9.8.7-py3-none-any.whl", "w") as wheel:
        wheel.writestr("labctl-9.8.7.dist-info/METADATA", "Name: labctl\nVersion: 9.8.7\n")
    path = main(folder)
    assert path.name == "labctl-9.8.7.cdx.json"
    made: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return made


def test_every_part_of_the_lock_has_a_licence_and_no_other_has() -> None:
    assert set(load_licences().parts) == set(locked_parts())


def test_every_image_that_compose_pulls_has_a_licence_and_no_other_has() -> None:
    assert set(load_licences().images) == fetched_images()


def test_every_package_with_conditions_is_on_record_and_no_other_is() -> None:
    """By what the packages say, which must be something."""
    said = {package.name: licence_said(package) for package in locked_packages()}
    assert {name for name, words in said.items() if WITH_CONDITIONS.search(words)} == set(
        load_licences().packages
    )
    unclear = {name for name, words in said.items() if not _is_clear(words)}
    assert unclear == set()


def _is_clear(words: str) -> bool:
    return bool(PERMISSIVE.search(words) or WITH_CONDITIONS.search(words))


def test_the_bill_of_materials_is_as_cyclonedx_wants_it(bom: dict[str, Any]) -> None:
    problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bom))
    assert problem is None


def test_the_bill_of_materials_has_every_part_file_and_package(bom: dict[str, Any]) -> None:
    tops = {component["bom-ref"]: component for component in bom["components"]}
    assert set(tops) == {
        *(f"part:{name}" for name in locked_parts()),
        *(f"package:{package.name}" for package in locked_packages()),
        *(f"shipped:{name}" for name in load_licences().shipped),
    }
    lock = load_lock().artifacts
    locked = {one.sha256 for artifact in lock.values() for one in _files(artifact)}
    locked |= {
        one for package in load_licences().shipped.values() for one in package.files.values()
    }
    assert set(_digests(bom["components"])) == locked


def test_files_of_others_are_as_they_were_published() -> None:
    known = [package.files for package in load_licences().shipped.values()]
    assert {name: digest for files in known for name, digest in files.items()} == {
        file.name: sha256(file.read_bytes()).hexdigest() for file in SHIPPED.iterdir()
    }


def test_parts_and_packages_say_their_licence(bom: dict[str, Any]) -> None:
    silent = [one["name"] for one in bom["components"] if not one.get("licenses")]
    assert silent == []
    minio = next(one for one in bom["components"] if one["bom-ref"] == "part:minio")
    assert minio["licenses"] == [{"license": {"id": "AGPL-3.0-or-later"}}]


def test_there_must_be_one_wheel(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="one wheel of labctl, and has 0"):
        main(tmp_path)


def _files(artifact: Any) -> Iterator[Any]:
    yield from getattr(artifact, "files", ())
    if hasattr(artifact, "file"):
        yield artifact.file
    if hasattr(artifact, "toolchain"):
        yield artifact.toolchain.file


def _digests(components: list[dict[str, Any]]) -> Iterator[str]:
    for component in components:
        yield from (one["content"] for one in component.get("hashes", ()))
        yield from _digests(component.get("components", []))
