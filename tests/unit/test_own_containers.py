"""Containers of services of the user's own: the file for Compose, and what reads it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from labctl.config.lab_config import LabConfig
from labctl.errors import ExitCode, LabError
from labctl.runtimes.compose.compose_inspector import ComposeInspector
from labctl.runtimes.compose.compose_limits import run_out_of_memory
from labctl.runtimes.compose.compose_runtime import ComposeRuntime
from labctl.runtimes.compose.containers import kill
from labctl.runtimes.compose.docker_engine import Compose, Engine
from labctl.runtimes.compose.lab_containers import LabContainers
from labctl.runtimes.compose.own_containers import OWN_LABEL, own_containers
from labctl.runtimes.compose.silver_container import silver_digest
from labctl.services.lab_services import load_config, services_of
from labctl.services.local_endpoints import loopback_endpoints
from labctl.state.lab_state import LabState
from tests.unit.service_context import PORTS, PROJECT, SECRET

LAB = (PROJECT / "lab.toml").read_text(encoding="utf-8")
SHOP = """
[services.shop]
image = "shop:1"
ports = { http = 8000 }
environment = { DATA = "{self.data}", KAFKA = "{kafka.broker}" }
"""
MISTAKEN = SHOP.replace("{kafka.broker}", "{kafak.broker}")
pytestmark = pytest.mark.usefixtures("state_home")
ODD = 'emoji 🫖, é, $HOME $$, "quotes", \\ \x7f \x85 \u2028 \ufeff end'


def load(folder: Path, text: str) -> LabConfig:
    folder.mkdir(exist_ok=True)
    (folder / "lab.toml").write_text(LAB + text, encoding="utf-8")
    return load_config(folder / "lab.toml").for_runtime("compose")


def ports_of(config: LabConfig) -> dict[str, Any]:
    return PORTS | {name: section.ports for name, section in config.own_services.items()}


def rendered(config: LabConfig) -> str:
    return own_containers(config, "one", ports_of(config), SECRET)


def runtime_of(folder: Path, text: str) -> ComposeRuntime:
    """Return a runtime of the same lab for a lab.toml with these sections."""
    config = load(folder, text)
    profile = config.profiles["compose"]
    assert profile.runtime == "compose"
    state = LabState("one")
    return ComposeRuntime(PROJECT, config, profile, state, ports_of(config), SECRET)


class Ran:
    """`docker compose` and the engine, which record what they are asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, said: str = "") -> None:
        self.commands: list[tuple[str, ...]] = []
        self.removed: list[str] = []
        self.services = {"shop": [self.container("shop", {OWN_LABEL: "true"})]}
        self.services["kafka"] = [self.container("kafka", {})]
        self._said = said
        monkeypatch.setattr(Compose, "run", lambda _, *words, **__: self.run(words))
        monkeypatch.setattr(
            Compose, "config", lambda _: {"services": {"shop": {"image": "shop:1"}}}
        )
        monkeypatch.setattr(Compose, "hashes", lambda _: {})
        monkeypatch.setattr(Engine, "containers", lambda *_: self.services)
        monkeypatch.setattr(Engine, "image_id", lambda *_: None)
        monkeypatch.setattr(Engine, "remove_volumes", lambda _, name: self.removed.append(name))
        monkeypatch.setattr(ComposeRuntime, "write_variables", lambda _: Path("/none"))

    def run(self, words: tuple[str, ...]) -> str:
        self.commands.append(words)
        if self._said:
            raise LabError(self._said, details=("before",), hint="labctl doctor")
        return ""

    def container(self, name: str, labels: dict[str, str]) -> SimpleNamespace:
        return SimpleNamespace(
            labels=labels,
            status="running",
            stop=lambda: self.removed.append(f"stop {name}"),
            remove=lambda **_: self.removed.append(name),
        )


@pytest.mark.parametrize("command", [None, "sh -c 'echo $HOME'"])
def test_compose_reads_every_character_as_it_is_in_lab_toml(
    tmp_path: Path, command: str | None
) -> None:
    image_command = f"image_command = {json.dumps(command)}\n" if command else ""
    odd = json.dumps(ODD, ensure_ascii=False).replace("\x7f", "\\u007f")
    config = load(
        tmp_path,
        f'[services.a]\nimage = "a:1"\n{image_command}environment = {{ ODD = {odd} }}\n',
    )
    text = rendered(config)
    container = json.loads(text)["services"]["a"]
    assert container["environment"]["ODD"].replace("$$", "$") == ODD
    assert container.get("command") == (["sh", "-c", "echo $$HOME"] if command else None)
    # YAML takes neither escapes of surrogates nor these characters as they are.
    assert "\\ud8" not in text.lower()
    assert "🫖" in text
    assert not set(text) & set("\x7f\x85\u2028\ufeff")


def test_a_volume_is_one_for_a_service_of_one_letter_too(tmp_path: Path) -> None:
    config = load(tmp_path, SHOP.replace("shop]", "a]"))
    made = json.loads(rendered(config))
    assert made["services"]["a"]["volumes"] == [
        {"type": "volume", "source": "a", "target": "/data"}
    ]
    assert made["volumes"] == {"a": {}}
    assert made["services"]["a"]["labels"] == {OWN_LABEL: "true"}


def test_sparks_digest_does_not_depend_on_services_of_the_users_own(tmp_path: Path) -> None:
    def digest(text: str) -> str:
        config = load(tmp_path, text)
        for shared in ("connectors", "spark", "gold"):
            if not (tmp_path / shared).exists():
                (tmp_path / shared).symlink_to(PROJECT / shared)
        endpoints = loopback_endpoints(config, ports_of(config), SECRET)
        return silver_digest(tmp_path, "one", config, endpoints, SECRET)

    plain = digest("")
    assert digest(SHOP) == plain
    assert digest("# a remark\n" + SHOP.replace("shop:1", "shop:2")) == plain
    assert digest('[services.app]\ncommand = "python"\n') == plain
    assert digest('[services.kafka]\nheap = "640m"\n' + SHOP) != plain
    assert digest("[services.kafka]\nports = { broker = 9999 }\n") != plain


def test_a_service_that_compose_does_not_know_has_no_build(tmp_path: Path) -> None:
    config = load(tmp_path, SHOP)
    shop = next(service for service in services_of(config) if service.name == "shop")
    containers = LabContainers(Engine(), "labctl-one", ["shop"])
    assert ComposeInspector(containers, dict).build(shop) == ""
    definitions = {"shop": {"image": "hub/shop:1@sha256:0"}}
    assert ComposeInspector(containers, lambda: definitions).build(shop) == "1"


def test_a_mistake_in_a_section_does_not_keep_a_lab_from_being_stopped_or_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = Ran(monkeypatch)
    runtime_of(tmp_path, SHOP).declare([])
    file = runtime_of(tmp_path, SHOP).compose_files[-1]
    before = file.read_text(encoding="utf-8")
    mistaken = runtime_of(tmp_path, MISTAKEN)
    mistaken.stop("shop")
    mistaken.shutdown()
    mistaken.remove()
    assert [command[0] for command in ran.commands] == ["create", "stop", "down", "down"]
    assert ran.removed == ["labctl-one"]
    with pytest.raises(LabError, match=r"services\.shop\.environment\.KAFKA"):
        mistaken.declare([])
    with pytest.raises(LabError, match=r"services\.shop\.environment\.KAFKA"):
        mistaken.fetch([], SimpleNamespace())
    assert file.read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    "now", ["", SHOP.replace("shop]", "store]"), SHOP.replace("image", "command")]
)
def test_a_service_without_section_or_image_is_removed_by_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, now: str
) -> None:
    ran = Ran(monkeypatch)
    first = runtime_of(tmp_path, SHOP)
    first.declare([])
    assert ran.removed == []
    assert first.compose_files[-1].name == "own-services.json"
    later = runtime_of(tmp_path, now)
    # A command that was ended after this has already written the file.
    later.fetch([], SimpleNamespace())
    runtime = runtime_of(tmp_path, now)
    runtime.declare([])
    assert ran.removed == ["stop shop", "shop"]
    has_file = any(file.name == "own-services.json" for file in runtime.compose_files)
    assert has_file == ("store" in now)


def test_an_image_that_is_nowhere_is_named_with_its_section(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Ran(monkeypatch, said="docker compose pull failed: access denied")
    runtime = runtime_of(tmp_path, SHOP)
    shop = next(s for s in services_of(load(tmp_path, SHOP)) if s.name == "shop")
    progress = SimpleNamespace(begin=lambda *_: None, finish=lambda *_: None)
    with pytest.raises(LabError, match="shop: the engine has no image shop:1") as raised:
        runtime.fetch([shop], progress)
    assert raised.value.details == ("before", "docker compose pull failed: access denied")
    assert raised.value.hint == (
        "build or pull shop:1 yourself, or correct [services.shop] image in lab.toml"
    )
    assert runtime.parts()[-1].detail == "not here yet: shop:1, of a service of your own"


def test_a_service_that_up_has_not_seen_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = Ran(monkeypatch)
    config = load(tmp_path, SHOP.replace("shop]", "store]"))
    store = next(service for service in services_of(config) if service.name == "store")
    runtime = runtime_of(tmp_path, SHOP.replace("shop]", "store]"))
    with pytest.raises(LabError, match="store has no container yet") as raised:
        runtime.start(store, SimpleNamespace())  # type: ignore[arg-type]
    assert raised.value.exit_code is ExitCode.NOT_READY
    assert ran.commands == []


def test_a_test_session_starts_the_users_services_after_their_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Ran(monkeypatch)
    both: dict[str, Any] = {"shop": {}, "kafka": {}, "front": {}}
    monkeypatch.setattr(Compose, "config", lambda _: {"services": both})
    assert runtime_of(tmp_path, SHOP).lab_services() == ["kafka", "front"]


@pytest.mark.parametrize(
    ("code", "output", "is_refused"),
    [
        (126, b'exec: "sh": executable file not found in $PATH: unknown\r\n', True),
        (127, b"sh: kill: not found\n", True),
        # The container ended before, or by it.
        (126, b"", False),
        (137, b"", False),
        (None, b"", False),
        (0, b"", False),
    ],
)
def test_a_fault_needs_a_shell_in_the_image(
    code: int | None, output: bytes, is_refused: bool
) -> None:
    container = SimpleNamespace(
        name="labctl-one-shop-1",
        attrs={"HostConfig": {"Memory": 1}},
        exec_run=lambda *_, **__: (code, output),
    )
    for fault in (kill, run_out_of_memory):
        if not is_refused:
            fault(container)
            continue
        with pytest.raises(LabError, match="its image has no shell") as raised:
            fault(container)
        assert raised.value.exit_code is ExitCode.USAGE
