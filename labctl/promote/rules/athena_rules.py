"""Rules for Athena: its results have a folder of their own, and views have tables to read."""

from __future__ import annotations

from collections.abc import Iterator

from labctl.config.aws import RESULTS
from labctl.promote.rules.rule import Finding, Subject, rule

__all__: list[str] = []


@rule
def results_apart(subject: Subject) -> Iterator[Finding]:
    """Check that no sink writes to the results folder, whose files are deleted after some days."""
    for sink in subject.promotion.sinks:
        if sink.topics_dir.split("/")[0] == RESULTS:
            yield Finding(
                f"connectors/{sink.file.path.name}",
                "topics.dir",
                f"bronze would be in {RESULTS}/, whose files are deleted after "
                f"{subject.promotion.profile.athena.result_days} days, as Athena's results",
                "name another folder",
            )


@rule
def views_have_tables(subject: Subject) -> Iterator[Finding]:
    """Check that a table of silver's databases exists if a view or statement reads it."""
    promotion = subject.promotion
    known = promotion.table_names | {view.name for view in promotion.views}
    read = [(view.file, view.reads) for view in promotion.views]
    read += [(query.file, query.reads) for query in promotion.queries]
    for file, reads in read:
        for table in sorted(reads - known):
            if table.partition(".")[0] in promotion.databases:
                yield Finding(
                    file.relative_to(promotion.project).as_posix(),
                    table,
                    "the lab has no such table",
                    f"correct the name; there are {', '.join(sorted(promotion.table_names))}",
                )
