"""The `aws` profile in `lab.toml`: every key shown in the example, every mistake named."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from labctl.config.aws import AwsProfile
from labctl.config.lab_config import LabConfig, find_project
from labctl.config.promoted import PromotedDatabase, PromotedEndpoints, PromotedKafka, load_promoted
from labctl.errors import ExitCode, LabError
from labctl.promote import load_promotion

ROOT = find_project(Path(__file__))


def keys_of(model: type[BaseModel]) -> set[str]:
    """Every key of a model and of the models in it."""
    found: set[str] = set()
    for name, info in model.model_fields.items():
        found.add(info.alias or name)
        pending: list[Any] = [info.annotation]
        while pending:
            one = pending.pop()
            if isinstance(one, type) and issubclass(one, BaseModel):
                found |= keys_of(one)
            pending += get_args(one)
    return found


def test_every_key_is_in_the_example_or_in_the_documentation() -> None:
    example = (ROOT / "lab.toml").read_text(encoding="utf-8")
    documentation = (ROOT / "docs" / "aws-keys.md").read_text(encoding="utf-8")
    for key in keys_of(AwsProfile):
        named = re.search(rf"[`.]{key}[`.\]]", documentation)
        assert named or re.search(rf"\b{key}\b", example), key


def test_the_example_names_no_secret() -> None:
    data = tomllib.loads((ROOT / "lab.toml").read_text(encoding="utf-8"))["profiles"]["aws"]
    text = str(data).lower()
    assert "password" not in text


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('account = "111122223333"', 'account = "1111"', "profiles.aws.account: String should"),
        ('region = "us-east-1"\nprefix', 'region = "mars"\nprefix', "profiles.aws.region"),
        ("mcu = 1", "mcuu = 1", "profiles.aws.connect.mcuu: unknown key; did you mean 'mcu'?"),
        ("brokers = 2", "brokers = 0", "profiles.aws.msk.brokers: Input should be greater"),
        (
            'kind = "provisioned"',
            'kind = "huge"',
            "profiles.aws.msk.kind: Input should be 'provisioned' or 'serverless' (found 'huge')",
        ),
        ('vpc = "vpc-', 'vpc = "net-', "profiles.aws.network.vpc"),
        ('runtime = "aws"', 'runtime = "gcp"', "profiles.aws.runtime"),
        ("[profiles.aws.rds.mysql]", "[profiles.aws.rds.oracle]", "profiles.aws.rds.oracle"),
        ("[profiles.aws.registry]", "[profiles.aws.registri]", "did you mean 'registry'?"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = (ROOT / "lab.toml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "lab.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(LabError) as raised:
        LabConfig.load(path)
    assert said in "\n".join((raised.value.what, *raised.value.details))
    assert raised.value.exit_code is ExitCode.USAGE


def test_only_a_profile_of_aws_is_promoted() -> None:
    with pytest.raises(LabError, match=r"'native' .* is not one of AWS") as raised:
        load_promotion(ROOT, LabConfig.load(ROOT / "lab.toml"), "native")
    assert raised.value.hint == "say --profile aws"


def server(host: str) -> PromotedDatabase:
    return PromotedDatabase(host=host, port=1, database="d", secret="s")  # noqa: S106 - its name


def test_what_lab_toml_says_wins_over_what_apply_wrote(tmp_path: Path) -> None:
    written = PromotedEndpoints(
        registry_url="http://a",
        kafka=PromotedKafka(bootstrap_servers="b:1"),
        servers={"mysql": server("applied"), "postgres": server("applied")},
    )
    path = tmp_path / "outputs.json"
    path.write_text(written.model_dump_json())
    merged = PromotedEndpoints(registry_url="http://mine", servers={"mysql": server("mine")}).over(
        load_promoted(path)
    )
    assert merged.servers == {"mysql": server("mine"), "postgres": server("applied")}
    assert merged.registry_url == "http://mine"
    assert merged.kafka == PromotedKafka(bootstrap_servers="b:1")
    assert load_promoted(tmp_path / "none.json") == PromotedEndpoints()


def test_damaged_outputs_are_named(tmp_path: Path) -> None:
    path = tmp_path / "outputs.json"
    path.write_text('{"kafka": {"bootstrap": "b:1"}}')
    with pytest.raises(LabError, match=r"outputs.json is not usable: kafka\."):
        load_promoted(path)


def test_arns_have_the_partition_of_their_region() -> None:
    profile = LabConfig.load(ROOT / "lab.toml").profiles["aws"]
    assert isinstance(profile, AwsProfile)
    assert profile.arn("s3", "bucket", global_=True) == "arn:aws:s3:::bucket"
    assert profile.arn("iam", "role/x", global_=True) == "arn:aws:iam::111122223333:role/x"
    china = profile.model_copy(update={"region": "cn-north-1"})
    assert china.arn("glue", "catalog") == "arn:aws-cn:glue:cn-north-1:111122223333:catalog"
