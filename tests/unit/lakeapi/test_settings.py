"""What the environment may say."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from lakeapi.settings import Settings, environment_name, of_environment


def of(monkeypatch: pytest.MonkeyPatch, **values: str) -> Settings:
    monkeypatch.setenv("RESULTS_BUCKET", "results")
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return of_environment()


def test_the_time_to_live_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert of(monkeypatch).time_to_live == 60
    assert of(monkeypatch, ENVIRONMENT="prod").time_to_live == 300
    assert of(monkeypatch, CACHE_SECONDS="7").time_to_live == 7


def test_names_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = of(
        monkeypatch, NAMED_QUERY_ID="some-id", REDIS_HOST="cache", ATHENA_DATABASE="tickit",
        ATHENA_TABLES='{"sale": "sale"}', ATHENA_TABLES__USER="user", LAKEAPI_PORT="8099",
        CORS_ORIGINS='["https://example.org"]', REDIS_PASSWORD="not to be shown",  # noqa: S106
    )  # fmt: skip
    assert (settings.named_query_id, settings.redis_host) == ("some-id", "cache")
    assert (settings.database, settings.port) == ("tickit", 8099)
    assert (settings.tables.sale, settings.tables.user) == ("sale", "user")
    assert settings.tables.venue == "refined_tickit_public_venue"
    assert settings.cors_origins == ("https://example.org",)
    assert "not to be shown" not in repr(settings)


def test_the_password_may_be_in_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("not to be shown\n")
    settings = of(monkeypatch, REDIS_PASSWORD_FILE=str(file))
    assert settings.redis_login == "not to be shown"
    assert "not to be shown" not in repr(settings)
    assert of(monkeypatch, REDIS_PASSWORD="itself").redis_login == "itself"  # noqa: S106
    monkeypatch.delenv("REDIS_PASSWORD")
    monkeypatch.delenv("REDIS_PASSWORD_FILE")
    assert of(monkeypatch).redis_login is None


@pytest.mark.parametrize("bucket", ["b", "b/", "s3://b", "s3://b/"])
def test_the_bucket_in_its_forms(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert of(monkeypatch, RESULTS_BUCKET=bucket).output == "s3://b/"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RESULTS_BUCKET", "s3://"), ("ENVIRONMENT", "test"), ("CACHE_MODE", "always"),
        ("ATHENA_DATABASE", 'a"b'), ("ATHENA_TABLES__SALE", "sale; DROP TABLE sale"),
        ("ATHENA_LIMIT", "0"), ("ATHENA_QUERY_SECONDS", "never"),
        ("REDIS_PASSWORD_FILE", "/there/is/no/such/file"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    with pytest.raises(ValidationError):
        of(monkeypatch, **{name: value})


def test_only_an_answer_with_a_time_may_be_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    stale = of(monkeypatch, CACHE_MODE="ttl", CACHE_STALE_SECONDS="30")
    assert stale.cache_stale_seconds == 30
    assert of(monkeypatch, CACHE_STALE_SECONDS="0", CACHE_MODE="commit").cache_stale_seconds == 0
    for mode in ("commit", "off"):
        with pytest.raises(ValidationError, match="CACHE_STALE_SECONDS goes with CACHE_MODE=ttl"):
            of(monkeypatch, CACHE_MODE=mode, CACHE_STALE_SECONDS="30")
    with pytest.raises(ValidationError, match="greater than or equal to 0"):
        of(monkeypatch, CACHE_MODE="ttl", CACHE_STALE_SECONDS="-1")


def test_what_the_environment_calls_a_setting() -> None:
    names = {setting: environment_name(setting) for setting in Settings.model_fields}
    assert (names["limit"], names["cache_mode"]) == ("ATHENA_LIMIT", "CACHE_MODE")
    assert len({*names.values()}) == len(names)
    with pytest.raises(KeyError):
        environment_name("limt")
