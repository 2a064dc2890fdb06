"""`labctl promote`."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from labctl.cli.app import Invocation, command, group
from labctl.cli.confirming import YesOption, confirm
from labctl.cli.output import print_result, stderr
from labctl.config.lab_config import LabConfig, find_project, lab_file
from labctl.counted import counted
from labctl.errors import ExitCode, LabError

if TYPE_CHECKING:
    from labctl.promote import Promotion
    from labctl.promote.apply.promoted_state import Part
    from labctl.promote.apply.shown_changes import Change
    from labctl.promote.diff import Difference
    from labctl.promote.plan import Plan
    from labctl.promote.promoted_values import Settings

__all__ = ["app"]

app = group("promote")


class StageName(StrEnum):
    """The stacks, as labctl.promote.aws_names has them; here, so that --help need not import it."""

    FOUNDATION = "foundation"
    DATA = "data"
    CONNECT = "connect"
    SPARK = "spark"
    API = "api"


PlanFolder = Annotated[
    Path | None, typer.Option("--to", help="The plan's folder [default: promoted/PROFILE/plan].")
]
WithoutArtifacts = Annotated[
    bool,
    typer.Option("--without-artifacts", help="Leave out plugins and jars: to read, not to apply."),
]


@command(app, "plan", example="labctl promote plan --profile aws")
def plan_command(
    invocation: Invocation, to: PlanFolder = None, without_artifacts: WithoutArtifacts = False
) -> None:
    """Render everything a promotion makes into a folder, and check it. Touches nothing on AWS."""
    from labctl.promote.plan import write_plan

    promotion = open_promotion(invocation)
    plan = sound_plan(promotion, artifacts=not without_artifacts)
    folder = to or default_folder(promotion)
    digest = write_plan(plan, folder)
    data = {"folder": str(folder), "files": len(plan.files), "sha256": digest}
    print_result(
        invocation.format,
        data,
        lambda: Group(
            f"{counted(len(plan.files), 'file')} in {folder}, every check passed "
            f"(sha256 {digest[:12]})",
            f"read {folder / 'README.md'}, then `labctl promote apply`",
        ),
    )


@command(app, "diff", example="labctl promote diff native aws")
def diff_command(
    invocation: Invocation,
    one: Annotated[
        str | None, typer.Argument(help="A profile, or a plan's folder [default: the last plan].")
    ] = None,
    other: Annotated[
        str | None, typer.Argument(help="A profile, or a plan's folder [default: the profile now].")
    ] = None,
) -> None:
    """Show every value that differs between two profiles, or since a plan, and its origin."""
    from labctl.promote.diff import differences
    from labctl.services.lab_services import load_config

    project = find_project()
    config = load_config(lab_file(project, invocation.name))
    profile = profile_name(invocation, config)
    before = _values(project, config, one or str(project / "promoted" / profile / "plan"))
    after = _values(project, config, other or profile)
    found = differences(before, after)
    print_result(invocation.format, {"differences": found}, lambda: _render_differences(found))


@command(app, "apply", example="labctl promote apply --until data")
def apply_command(
    invocation: Invocation,
    until: Annotated[
        StageName, typer.Option("--until", help="The last stage to make.")
    ] = StageName.API,
    yes: YesOption = False,
) -> None:
    """Make the lab on AWS what the plan says. Shows what will change first; safe to repeat."""
    from labctl.aws.session import Aws, aws_errors
    from labctl.promote.apply.apply_run import Apply
    from labctl.promote.plan import write_plan

    promotion = open_promotion(invocation)
    plan = sound_plan(promotion, artifacts=True)
    with aws_errors():
        applying = Apply(promotion, plan, Aws(promotion.profile.region), _tell, until=until.value)
        with stderr.status("asking AWS what is there"):
            changes = applying.preview()
        if changes:
            stderr.print(_render_changes(changes))
            confirm(
                f"Make these {len(changes)} changes in account {promotion.profile.account}, "
                f"region {promotion.profile.region}?",
                yes=yes,
            )
            write_plan(plan, default_folder(promotion))
        applying.carry_out()
    data = {"changes": changes, "outputs": str(applying.outputs_file)}
    words = f"{counted(len(changes), 'change')} made" if changes else "nothing to change"
    print_result(
        invocation.format, data, lambda: f"{words}; addresses are in {applying.outputs_file}"
    )


@command(app, "status", example="labctl promote status")
def status_command(invocation: Invocation) -> None:
    """Show the stacks, connectors and jobs of the promoted lab, as AWS sees them."""
    from labctl.aws.session import Aws, aws_errors
    from labctl.promote.apply.promoted_state import read_state

    promotion = open_promotion(invocation)
    with aws_errors():
        parts = read_state(Aws(promotion.profile.region), promotion)
    print_result(invocation.format, {"parts": parts}, lambda: _render_parts(parts))


@command(app, "destroy", example="labctl promote destroy --yes")
def destroy_command(
    invocation: Invocation,
    data: Annotated[
        bool,
        typer.Option("--data", help="Databases, topics, buckets and secrets too."),
    ] = False,
    yes: YesOption = False,
) -> None:
    """Remove what runs (Spark, connectors). What holds data stays unless --data is given."""
    from labctl.aws.session import Aws, aws_errors
    from labctl.promote.apply.promoted_state import destroy

    promotion = open_promotion(invocation)
    what = "everything, with all its data" if data else "what runs; what holds data stays"
    confirm(f"Remove {what}, in account {promotion.profile.account}?", yes=yes)
    with aws_errors():
        left = destroy(Aws(promotion.profile.region), promotion, _tell, data=data)
    print_result(
        invocation.format,
        {"left": left},
        lambda: Group("still there, and paid for:", _render_parts(left)) if left else "all gone",
    )


@command(app, "schemas", example="labctl promote schemas")
def schemas_command(
    invocation: Invocation,
    names: Annotated[
        list[str] | None, typer.Argument(help="Which silver tables [default: all].")
    ] = None,
) -> None:
    """Write the schema of each table's bronze files, from a lab that runs: for HoodieStreamer."""
    from labctl.lab.tables.bronze_folders import lab_bronze
    from labctl.promote.streamer import write_schemas

    lab = invocation.lab().require_running()
    tables = [lab.table(name) for name in names or ()] or lab.tables
    written = write_schemas(lab.project, tables, lab_bronze(lab).schema)
    print_result(
        invocation.format, {"schemas": written}, lambda: Group(*(str(path) for path in written))
    )


def _tell(words: str) -> None:
    stderr.print(words, highlight=False)


def _render_changes(changes: list[Change]) -> RenderableType:
    signs = {"add": "+", "change": "~", "replace": "!", "remove": "-"}
    return _table(
        ("", "where", "what", "type"),
        [(signs[c.action], c.where, c.what, c.kind.removeprefix("AWS::")) for c in changes],
    )


def _render_parts(parts: list[Part]) -> RenderableType:
    return _table(("kind", "name", "state"), [(p.kind, p.name, p.state.lower()) for p in parts])


def _table(titles: tuple[str, ...], rows: list[tuple[str, ...]]) -> RenderableType:
    """Aligned columns, never shortened: what will be changed is to be read in full."""
    lines = [titles, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(titles))]
    return Text(
        "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )
    )


def open_promotion(invocation: Invocation) -> Promotion:
    """Return the promotion of the chosen profile, or of the only AWS profile."""
    from labctl.promote import load_promotion
    from labctl.services.lab_services import load_config

    project = find_project()
    config = load_config(lab_file(project, invocation.name))
    return load_promotion(project, config, profile_name(invocation, config))


def profile_name(invocation: Invocation, config: LabConfig) -> str:
    """Return the profile that was named, or else the only AWS profile."""
    if invocation.profile:
        return invocation.profile
    promotable = [*config.promotable]
    if len(promotable) == 1:
        return promotable[0]
    raise LabError(
        "Which profile is to be promoted?" if promotable else "lab.toml has no profile of AWS",
        hint=f"say --profile with one of {', '.join(promotable)}"
        if promotable
        else "docs/aws.md has an example",
        exit_code=ExitCode.USAGE,
    )


def default_folder(promotion: Promotion) -> Path:
    return promotion.project / "promoted" / promotion.profile_name / "plan"


def sound_plan(promotion: Promotion, *, artifacts: bool) -> Plan:
    """Return the checked plan. Locked parts that it lacks are fetched first."""
    from labctl.artifacts import ArtifactStore
    from labctl.cli.progress import ConsoleProgress
    from labctl.promote.plan import needed_parts, render
    from labctl.promote.rules import require_sound

    plan = render(promotion, None)
    # Before anything is fetched; of a plan with artifacts, the user's own files must be there.
    with stderr.status("checking the plan"):
        require_sound(promotion, replace(plan, complete=artifacts))
    if not artifacts:
        return plan
    store = ArtifactStore()
    with ConsoleProgress() as progress:
        store.fetch(needed_parts(promotion), progress=progress)
    with stderr.status("packing plugins"):
        return render(promotion, store)


def _values(project: Path, config: LabConfig, which: str) -> Settings:
    from labctl.promote.promoted_values import profile_values, read_values

    if which in config.profiles:
        return profile_values(project, config, which)
    return read_values(Path(which) / "values.json")


def _render_differences(found: list[Difference]) -> RenderableType:
    if not found:
        return "nothing differs"
    lines = []
    for difference in found:
        lines.append(Text(difference.name, style="bold"))
        for sign, setting in (("-", difference.before), ("+", difference.after)):
            if setting:
                line = Text(f"  {sign} {setting.value}  ")
                lines.append(line.append(setting.source, style="dim"))
    noun = "setting differs" if len(found) == 1 else "settings differ"
    return Group(*lines, f"{len(found)} {noun}")
