"""The application's command line, and the one `spark-submit` is given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lakecontract.errors import ConfigurationError
from lakecontract.options import Options, submit_argv

OPTIONS = Options(
    properties=("spark/properties",),
    bootstrap_servers="127.0.0.1:9092",
    registry_url="http://127.0.0.1:8080",
    target_base_path="s3a://lake/silver",
    bronze_base_path="s3a://lake",
    checkpoint_base_path="file:///var/lib/checkpoints",
    tables=("sale", "event"),
    source="bronze",
    sink_configs=("connectors/sink.json", "connectors/sink_moma.json"),
    secrets_dir="/run/secrets",
    status_port=4041,
    status_token_file="/run/lab/status-token",  # noqa: S106 - its name
    gold="/run/lab/gold.json",
    retention_seconds=86_400,
    once=True,
    rebuild=("sale",),
    hoodie_conf={"hoodie.index.type": "BLOOM", "lab.deletes": "hard"},
)


def test_what_is_built_is_what_is_read() -> None:
    assert Options.parse(OPTIONS.argv()) == OPTIONS


def test_what_is_left_out_has_its_default() -> None:
    least = Options(
        properties=("p",),
        bootstrap_servers="b:1",
        registry_url="http://r",
        target_base_path="s3a://lake/silver",
        bronze_base_path="s3a://lake",
        checkpoint_base_path="s3a://lake/checkpoints",
        hoodie_conf={},
    )

    parsed = Options.parse(least.argv())

    assert parsed == least
    assert (parsed.source, parsed.once, parsed.tables) == ("kafka", False, ())


def test_submit_names_properties_application_and_arguments() -> None:
    argv = submit_argv(
        OPTIONS,
        spark_submit=("/opt/spark/bin/spark-submit",),
        properties_file="/run/spark.properties",
        application="spark/silver.py",
        submit_options=("--deploy-mode", "cluster"),
    )

    assert argv[:5] == [
        "/opt/spark/bin/spark-submit",
        "--properties-file=/run/spark.properties",
        "--deploy-mode",
        "cluster",
        "spark/silver.py",
    ]
    assert argv[5:] == OPTIONS.argv()


def test_dead_letters_and_rebuild_requests_lie_beside_silver() -> None:
    assert OPTIONS.dead_letter_base_path == "s3a://lake/deadletter"
    assert OPTIONS.rebuild_request_path("sale") == "s3a://lake/rebuild/sale"


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--hoodie-conf=hoodie.index.type"], "is not key=value"),
        (["--sink-config=sink.json"], "--secrets-dir is missing"),
        (["--catalog=unity"], "there is no such catalog"),
        (["--retention-seconds=0"], "would keep no bronze file"),
    ],
)
def test_what_cannot_work_is_refused(extra: list[str], message: str) -> None:
    argv = [
        "--properties=p",
        "--bootstrap-servers=b:1",
        "--registry-url=http://r",
        "--target-base-path=s3a://lake/silver",
        "--bronze-base-path=s3a://lake",
        "--checkpoint-base-path=s3a://lake/checkpoints",
    ]

    with pytest.raises(ConfigurationError, match=message):
        Options.parse(argv + extra)


@pytest.mark.parametrize(("text", "words"), [(None, "No such file"), (" \n", "is empty")])
def test_a_token_that_cannot_be_had_is_refused(
    text: str | None, words: str, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=words):
        replace(OPTIONS, status_token_file=str(file)).status_token()
    assert replace(OPTIONS, status_token_file=None).status_token() is None
