"""The README's section on the lake API: its image and the commands."""

from __future__ import annotations

from collections.abc import Iterator

from labctl.promote.api_image import API_IMAGE, image, registry
from labctl.promote.aws_names import Names
from labctl.promote.lake_api_settings import api_database
from labctl.promote.promotion import Promotion
from labctl.services.api_service import ALIVE, PREFIX

__all__ = ["api_lines"]


def api_lines(promotion: Promotion) -> Iterator[str]:
    """Yield the Markdown lines; none if the lab has no lake API."""
    if not promotion.config.api.enabled:
        return
    names, profile = Names.of(promotion), promotion.profile
    stack, region = names.stack("api"), profile.region
    yield "## The lake API"
    yield (
        f"`{API_IMAGE}/` is what its image is built of. Build it and push it, from this folder, "
        f"once `{names.stack('foundation')}` is there; before that `apply` stops at the stack "
        f"`{stack}`. Another content has another tag."
    )
    yield ""
    yield f"    labctl promote apply --profile {promotion.profile_name} --until foundation"
    yield f"    docker build --platform linux/amd64 --tag {image(promotion)} {API_IMAGE}"
    yield (
        f"    aws ecr get-login-password --region {region} | docker login --username AWS "
        f"--password-stdin {registry(promotion)}"
    )
    yield f"    docker push {image(promotion)}"
    yield f"    labctl promote apply --profile {promotion.profile_name}"
    yield ""
    yield (
        f"{profile.api.min_tasks} to {profile.api.max_tasks} tasks of Fargate answer behind an "
        "internal load balancer, which `network.clients` reaches. Nothing has a public address. "
        f"The balancer asks `{ALIVE}`; `{PREFIX}/health` says how Athena and the cache are. Its "
        "address, its log, and new tasks instead of the old ones:"
    )
    yield ""
    yield (
        f"    aws cloudformation describe-stacks --region {region} --stack-name {stack} "
        "--query 'Stacks[0].Outputs'"
    )
    yield f"    aws logs tail --region {region} --follow {names.api_log_group}"
    yield (
        f"    aws ecs update-service --region {region} --cluster {names.api} --service {names.api} "
        "--force-new-deployment"
    )
    yield ""
    if promotion.config.cache.enabled:
        yield (
            f"ElastiCache asks for the password in the secret `{names.cache_secret}`, which "
            "Secrets Manager made, and speaks TLS alone. Answers are kept by time to live "
            "(`CACHE_MODE` is `ttl`): the catalog hears of a commit only when a table's shape "
            "changes."
        )
        yield ""
    yield (
        f"It asks the views of `{api_database()}`, and waits until `catalog apply`, as above, has "
        f"made them. Where Lake Formation governs the catalogue, the role `{names.api}` needs "
        "`SELECT` and `DESCRIBE` on them, and on the tables that they read."
    )
    yield ""
