"""The names of a lab's resources on AWS, in one place for rules, templates and apply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from labctl.kafkaconnect.msk import msk_name
from labctl.promote.promotion import Promotion

__all__ = ["CREATOR_TAG", "STACKS", "Names", "Stack", "logical", "stacks_of"]

Stack = Literal["foundation", "data", "connect", "spark", "api"]
STACKS: tuple[Stack, ...] = get_args(Stack)
"""All stacks in creation order: each needs only outputs of earlier ones."""

CREATOR_TAG = "labctl"
"""The tag that apply and destroy require before they change a resource; names lab and profile."""


def stacks_of(promotion: Promotion) -> tuple[Stack, ...]:
    """Return this promotion's stacks in creation order; `api` only if the lab has a lake API."""
    return tuple(s for s in STACKS if s != "api" or promotion.config.api.enabled)


@dataclass(frozen=True)
class Names:
    """Names of one promoted lab."""

    prefix: str
    creator: str
    """Value of `CREATOR_TAG`."""

    @classmethod
    def of(cls, promotion: Promotion) -> Names:
        creator = f"{promotion.config.name}/{promotion.profile_name}"
        return cls(promotion.profile.prefix, creator)

    def stack(self, stack: Stack) -> str:
        return f"{self.prefix}-{stack}"

    @property
    def cluster(self) -> str:
        """The MSK cluster."""
        return self.prefix

    @property
    def connect_role(self) -> str:
        return f"{self.prefix}-connect"

    @property
    def spark_role(self) -> str:
        return f"{self.prefix}-spark"

    @property
    def emr_role(self) -> str:
        return f"{self.prefix}-emr"

    @property
    def application(self) -> str:
        """The EMR application or cluster, and the job on it."""
        return f"{self.prefix}-silver"

    @property
    def api(self) -> str:
        """The lake API's image, service, load balancer, cache and task role."""
        return f"{self.prefix}-api"

    @property
    def api_start_role(self) -> str:
        """The role that ECS uses to start a task."""
        return f"{self.prefix}-api-start"

    @property
    def api_log_group(self) -> str:
        return f"/labctl/{self.prefix}/api"

    @property
    def cache_secret(self) -> str:
        """The secret that holds the cache's password."""
        return f"{self.prefix}/api-cache"

    @property
    def log_group(self) -> str:
        return f"/labctl/{self.prefix}/connect"

    @staticmethod
    def connector(name: str) -> str:
        """Return a connector file's name in the form that MSK Connect accepts."""
        return msk_name(name)

    def offsets_topic(self, connector: str) -> str:
        """Return the topic that keeps a connector's source positions, even if it is replaced."""
        return f"{self.prefix}-offsets-{connector}"

    def parameter_group(self, engine: str) -> str:
        return f"{self.prefix}-{engine}-cdc"


def logical(*words: str) -> str:
    """Return a CloudFormation logical id made of `words`: letters and digits only."""
    parts = "-".join(words).replace("_", "-").replace("/", "-").replace(".", "-").split("-")
    return "".join(part[:1].upper() + part[1:] for part in parts if part)
