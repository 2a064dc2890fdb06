"""The service's settings, from environment variables."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import AliasChoices, Field, FilePath, SecretStr
from pydantic import model_validator as validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from lakeapi.tables import Name, Tables

__all__ = ["Settings", "environment_name", "of_environment"]

TIME_TO_LIVE = {"dev": 60, "prod": 300}
"""Seconds for which an answer is cached, by environment."""


def _named(name: str) -> AliasChoices:
    """Return a setting's names in the environment and in code: `ATHENA_LIMIT`, `limit`."""
    return AliasChoices(name, name.lower().removeprefix("athena_"))


class Settings(BaseSettings):
    """Region, credentials and addresses of AWS are boto3's own: AWS_REGION, AWS_ENDPOINT_URL…"""

    model_config = SettingsConfigDict(frozen=True, env_nested_delimiter="__", extra="ignore")

    environment: Literal["dev", "prod"] = "dev"
    host: str = Field("127.0.0.1", validation_alias=_named("LAKEAPI_HOST"))
    port: int = Field(8080, validation_alias=_named("LAKEAPI_PORT"))
    workers: int = Field(1, ge=1, validation_alias=_named("LAKEAPI_WORKERS"))
    allowed_hosts: tuple[str, ...] = ()
    """Host names of the service, besides IP addresses and `localhost`."""
    cors_origins: tuple[str, ...] = ()
    """Origins of web pages whose scripts may read the answers."""

    results_bucket: str
    """Place for Athena's results: `bucket`, `bucket/folder` or `s3://bucket/folder/`."""
    named_query_id: str | None = None
    """Id of `buyer_likes_by_category`. Without it, the query is found by its name, or created."""
    workgroup: str = Field("primary", validation_alias=_named("ATHENA_WORKGROUP"))
    catalog: str = Field("AwsDataCatalog", validation_alias=_named("ATHENA_CATALOG"))
    database: Name = Field("tickit_demo", validation_alias=_named("ATHENA_DATABASE"))
    tables: Tables = Field(Tables(), validation_alias=_named("ATHENA_TABLES"))
    limit: int = Field(25, ge=1, validation_alias=_named("ATHENA_LIMIT"))
    """Largest number of rows per page, and the default."""
    query_seconds: float = Field(30.0, gt=0, validation_alias=_named("ATHENA_QUERY_SECONDS"))
    """Seconds after which a query is stopped; the response is 504."""
    poll_seconds: float = Field(0.02, gt=0, validation_alias=_named("ATHENA_POLL_SECONDS"))
    """Seconds between the first two polls of a query; later intervals are longer."""
    attempts: int = Field(3, ge=1, validation_alias=_named("ATHENA_ATTEMPTS"))
    """Attempts of a request to AWS, and of a query that fails with a retryable error."""
    concurrency: int = Field(16, ge=1, validation_alias=_named("ATHENA_CONCURRENCY"))
    """Queries that one worker runs at a time; others wait."""

    cache_mode: Literal["commit", "ttl", "off"] = "commit"
    """`commit`: an answer is as new as its tables; `ttl`: no older than its time to live."""
    cache_seconds: int | None = Field(None, ge=1)
    """Time to live in seconds; the default depends on `environment`."""
    cache_stale_seconds: int = Field(0, ge=0)
    """Seconds after its time to live for which an answer is still used, while it is renewed."""
    version_seconds: float = Field(0.1, gt=0)
    """Seconds for which a table's latest commit stays cached in mode `commit`."""
    redis_host: str = "localhost"
    redis_port: int = 6379
    redis_password: SecretStr | None = None
    redis_password_file: FilePath | None = None
    """File with the password, instead of the password itself."""
    redis_ssl: bool = False
    redis_seconds: float = Field(0.25, gt=0)
    """Seconds that Redis may take to answer; if it takes longer, it counts as down."""

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
        """The password, from the setting or its file; None if Redis needs none."""
        if self.redis_password is not None:
            return self.redis_password.get_secret_value()
        file = self.redis_password_file
        return None if file is None else file.read_text(encoding="utf-8").strip()

    @property
    def output(self) -> str:
        """Output location for Athena's results."""
        return f"s3://{self.results_bucket.removeprefix('s3://').strip('/')}/"

    @property
    def time_to_live(self) -> int:
        return self.cache_seconds or TIME_TO_LIVE[self.environment]


def environment_name(setting: str) -> str:
    """Return a setting's environment variable. Raises KeyError for an unknown setting."""
    alias = Settings.model_fields[setting].validation_alias
    name = alias.choices[0] if isinstance(alias, AliasChoices) else setting
    return str(name).upper()


def of_environment(**given: Any) -> Settings:
    """Return settings; others come from the environment. Raises pydantic.ValidationError."""
    return Settings(**given)
