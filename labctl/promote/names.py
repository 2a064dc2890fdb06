"""What things are called on AWS: one place, so that rules, templates and apply agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from labctl.kafkaconnect.msk import msk_name
from labctl.promote.promotion import Promotion

__all__ = ["CREATOR_TAG", "STACKS", "Names", "Stack", "logical", "stacks_of"]

Stack = Literal["foundation", "data", "connect", "spark", "api"]
STACKS: tuple[Stack, ...] = get_args(Stack)
"""In the order they are made: each needs only what the ones before it put out."""

CREATOR_TAG = "labctl"
"""The tag without which apply and destroy touch nothing; its value names lab and profile."""


def stacks_of(promotion: Promotion) -> tuple[Stack, ...]:
    """Those that this promotion has, in the same order: the lake API is not every lab's."""
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
        """The lake API: its image, service, load balancer, cache and task's role."""
        return f"{self.prefix}-api"

    @property
    def api_start_role(self) -> str:
        """The role by which ECS starts a task."""
        return f"{self.prefix}-api-start"

    @property
    def api_log_group(self) -> str:
        return f"/labctl/{self.prefix}/api"

    @property
    def cache_secret(self) -> str:
        """The secret that is the cache's password."""
        return f"{self.prefix}/api-cache"

    @property
    def log_group(self) -> str:
        return f"/labctl/{self.prefix}/connect"

    @staticmethod
    def connector(name: str) -> str:
        """A connector file's name as MSK Connect takes it."""
        return msk_name(name)

    def offsets_topic(self, connector: str) -> str:
        """Where a connector's source positions are kept, also over its replacement."""
        return f"{self.prefix}-offsets-{connector}"

    def parameter_group(self, engine: str) -> str:
        return f"{self.prefix}-{engine}-cdc"


def logical(*words: str) -> str:
    """A CloudFormation logical id: letters and digits alone."""
    parts = "-".join(words).replace("_", "-").replace("/", "-").replace(".", "-").split("-")
    return "".join(part[:1].upper() + part[1:] for part in parts if part)
