"""What the service is told when it starts, by environment."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import AliasChoices, Field, FilePath, SecretStr
from pydantic import model_validator as validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from lakeapi.tables import Name, Tables

__all__ = ["Settings", "environment_name", "of_environment"]

TIME_TO_LIVE = {"dev": 60, "prod": 300}
"""Seconds that an answer is kept, by environment."""


def _named(name: str) -> AliasChoices:
    """By the name of the environment, or by that of the field in code: `ATHENA_LIMIT`, `limit`."""
    return AliasChoices(name, name.lower().removeprefix("athena_"))


class Settings(BaseSettings):
    """Region, credentials and addresses of AWS are boto3's own: AWS_REGION, AWS_ENDPOINT_URL…"""

    model_config = SettingsConfigDict(frozen=True, env_nested_delimiter="__", extra="ignore")

    environment: Literal["dev", "prod"] = "dev"
    host: str = Field("127.0.0.1", validation_alias=_named("LAKEAPI_HOST"))
    port: int = Field(8080, validation_alias=_named("LAKEAPI_PORT"))
    workers: int = Field(1, ge=1, validation_alias=_named("LAKEAPI_WORKERS"))
    allowed_hosts: tuple[str, ...] = ()
    """Names by which it may be asked, besides addresses and `localhost`."""
    cors_origins: tuple[str, ...] = ()
    """Origins of web pages that a browser lets read it."""

    results_bucket: str
    """`bucket`, `bucket/folder` or `s3://bucket/folder/`: where Athena writes results."""
    named_query_id: str | None = None
    """Of `buyer_likes_by_category`; without it that is found by its name, or made."""
    workgroup: str = Field("primary", validation_alias=_named("ATHENA_WORKGROUP"))
    catalog: str = Field("AwsDataCatalog", validation_alias=_named("ATHENA_CATALOG"))
    database: Name = Field("tickit_demo", validation_alias=_named("ATHENA_DATABASE"))
    tables: Tables = Field(Tables(), validation_alias=_named("ATHENA_TABLES"))
    limit: int = Field(25, ge=1, validation_alias=_named("ATHENA_LIMIT"))
    """Rows of a list at most, and when no number is asked for."""
    query_seconds: float = Field(30.0, gt=0, validation_alias=_named("ATHENA_QUERY_SECONDS"))
    """After them a query is stopped, and answered with 504."""
    poll_seconds: float = Field(0.02, gt=0, validation_alias=_named("ATHENA_POLL_SECONDS"))
    """Between the first two looks at a query; later ones are longer."""
    attempts: int = Field(3, ge=1, validation_alias=_named("ATHENA_ATTEMPTS"))
    """Of a request to AWS, and of a query that failed for a cause that passes."""
    concurrency: int = Field(16, ge=1, validation_alias=_named("ATHENA_CONCURRENCY"))
    """Queries of one worker at a time; others wait."""

    cache_mode: Literal["commit", "ttl", "off"] = "commit"
    """`commit`: an answer is as new as its tables; `ttl`: as old as its time to live at most."""
    cache_seconds: int | None = Field(None, ge=1)
    """Time to live; by environment without it."""
    cache_stale_seconds: int = Field(0, ge=0)
    """For so long after its time to live an answer is given while one request renews it."""
    version_seconds: float = Field(0.1, gt=0)
    """For how long the latest commit of a table is believed in mode `commit`."""
    redis_host: str = "localhost"
    redis_port: int = 6379
    redis_password: SecretStr | None = None
    redis_password_file: FilePath | None = None
    """A file with the password, instead of the password itself."""
    redis_ssl: bool = False
    redis_seconds: float = Field(0.25, gt=0)
    """What an answer of Redis may take; slower counts as away."""

    @validator(mode="after")
    def _has_a_bucket(self) -> Self:
        if not self.results_bucket.removeprefix("s3://").strip("/"):
            raise ValueError("RESULTS_BUCKET is empty: name the bucket for Athena's results")
        return self

    @validator(mode="after")
    def _is_stale_by_time_alone(self) -> Self:
        if self.cache_stale_seconds and self.cache_mode != "ttl":
            raise ValueError(
                "CACHE_STALE_SECONDS goes with CACHE_MODE=ttl alone: in mode commit no answer is "
                "older than its tables, in mode off none is kept"
            )
        return self

    @property
    def redis_login(self) -> str | None:
        """The password, from wherever it is; None where Redis asks for none."""
        if self.redis_password is not None:
            return self.redis_password.get_secret_value()
        file = self.redis_password_file
        return None if file is None else file.read_text(encoding="utf-8").strip()

    @property
    def output(self) -> str:
        """Where results go, as Athena is told."""
        return f"s3://{self.results_bucket.removeprefix('s3://').strip('/')}/"

    @property
    def time_to_live(self) -> int:
        return self.cache_seconds or TIME_TO_LIVE[self.environment]


def environment_name(setting: str) -> str:
    """What the environment calls a setting. Raises KeyError for one that there is not."""
    alias = Settings.model_fields[setting].validation_alias
    name = alias.choices[0] if isinstance(alias, AliasChoices) else setting
    return str(name).upper()


def of_environment(**given: Any) -> Settings:
    """What is not given is taken from the environment. Raises pydantic.ValidationError."""
    return Settings(**given)
