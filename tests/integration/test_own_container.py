"""The shop of examples/orders in a container: a service of the user's own beside the lab's."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from labctl.artifacts import ArtifactStore
from labctl.errors import LabError
from labctl.images import references
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.down import destroy, down
from labctl.lab.lifecycle.starting import SilentReporter, wait_until_usable
from labctl.lab.lifecycle.up import restart_service, up
from labctl.lab.observe.service_status import read_status
from labctl.runtimes.compose.docker_engine import PROJECT_LABEL, Engine, EngineMissingError
from labctl.runtimes.runtime_protocols import Level
from labctl.sources import connect
from labctl.testing.lab_faults import Faults

EXAMPLE = Path(__file__).parents[2] / "examples" / "orders"
IMAGE = "labctl-test/shop:1"
LAB = "own-container"
PROJECT = f"labctl-{LAB}"


@pytest.fixture
def shop_image() -> Iterator[str]:
    """Build the example's image on silver's, which has the shop's packages."""
    engine, base = Engine(), references(ArtifactStore(system_tools=False))["silver"]
    try:
        has_base = engine.image_id(base) is not None
    except EngineMissingError as error:
        pytest.skip(str(error))
    if not has_base:
        pytest.skip(f"the engine has no image {base}: `labctl tools images build`")
    built = subprocess.run(
        ["docker", "build", "--build-arg", f"BASE={base}", "--tag", IMAGE, str(EXAMPLE / "shop")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    yield IMAGE
    engine.client.images.remove(IMAGE)


@pytest.fixture
def lab(shop_image: str, tmp_path: Path) -> Iterator[Lab]:
    """The example's lab in containers of local images."""
    project = shutil.copytree(EXAMPLE, tmp_path / "orders")
    file = project / "lab.toml"
    text = file.read_text().replace('"shop:dev"', f'"{shop_image}"')
    text = text.replace("environment = {", 'environment = { FILES = "{self.data}",')
    file.write_text(text.replace('runtime = "compose"', 'runtime = "compose"\nimages = "local"'))
    lab = Lab.find(name=LAB, project=project, profile="compose")
    if failed := [check for check in lab.runtime.checks() if check.level is Level.FAIL]:
        pytest.skip(failed[0].detail)
    try:
        yield lab
    finally:
        destroy(lab)
        label = f"{PROJECT_LABEL}={PROJECT}"
        assert Engine().client.volumes.list(filters={"label": label}) == []


@pytest.mark.usefixtures("state_home")
def test_the_shop_sells_in_a_container_until_its_section_is_gone(lab: Lab) -> None:
    up(lab, SilentReporter(), ["shop"])
    shop = f"http://{lab.endpoints.addresses['shop']['http']}"

    def buy() -> int:
        purchase = {"customer_id": 1, "sku": "teapot", "paid": "34.00"}
        answer = requests.post(f"{shop}/purchases", json=purchase, timeout=10)
        answer.raise_for_status()
        return int(answer.json()["purchase_id"])

    bought = [buy()]
    Faults(lab).kill("shop")
    wait_until_usable(lab, lab.service("shop"))
    bought.append(buy())
    with connect(lab.endpoints, "orders") as orders:
        rows = orders.execute(
            "SELECT purchase_id FROM purchase WHERE purchase_id = ANY(%s)", (bought,)
        )
    assert sorted(row[0] for row in rows) == bought
    (status,) = (service for service in read_status(lab).services if service.name == "shop")
    assert (status.state, status.restarts) == ("ready", 1)

    # With a mistake in its section it cannot be started, but stopped.
    file = lab.project / "lab.toml"
    text = file.read_text()
    file.write_text(text.replace("{orders.url}", "{ordres.url}"))
    mistaken = Lab.find(name=LAB, project=lab.project, profile="compose")
    with pytest.raises(LabError, match=r"ordres\.url"):
        up(mistaken, SilentReporter(), ["postgres"])
    restart_service(mistaken, "shop", SilentReporter())
    assert down(mistaken)
    up(lab, SilentReporter(), ["shop"])

    # Without its section it is removed; its volume stays until the lab is destroyed.
    begin, end = text.index("[services.shop]"), text.index("# Usable sooner")
    file.write_text(text[:begin] + text[end:])
    former = Lab.find(name=LAB, project=lab.project, profile="compose")
    up(former, SilentReporter(), ["postgres"])
    assert not Engine().container(PROJECT, "shop")
    assert Engine().client.volumes.get(f"{PROJECT}_shop")
