"""What the Java services share: flags for small heaps, and logging."""

from __future__ import annotations

from pathlib import Path

from labctl.home.state import write_private
from labctl.jvm_flags import FIRST_TIER
from labctl.services.model import Context

__all__ = ["FLAGS", "LESS_INLINING", "LOG4J", "busy_compiler", "java", "write_log4j"]


FLAGS = (
    # One small heap on few cores: the serial collector costs least memory and start-up time.
    "-XX:+UseSerialGC",
    "-XX:+ExitOnOutOfMemoryError",
    # The jars are those of the artefact lock, byte for byte. Verifying every class at every start
    # would be an eighth of what the start of a lab takes.
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote",
    "-Djava.awt.headless=true",
    "-Duser.timezone=UTC",
)
"""For every JVM, beside `FIRST_TIER` or `LESS_INLINING`."""
LESS_INLINING = ("-XX:MaxInlineLevel=6", "-XX:FreqInlineSize=150", "-XX:InlineSmallCode=1000")
"""What works for long is worth optimising, but with less inlining than C2 does by itself (15, 325,
2500): much of the time of a first load is its own, and what it compiles runs no slower for it."""
LOG4J = {
    "appender.out.type": "Console",
    "appender.out.name": "out",
    "appender.out.layout.type": "PatternLayout",
    "appender.out.layout.pattern": "%d{yyyy-MM-dd HH:mm:ss.SSS} %-5p %c{1} %m%n",
    "rootLogger.level": "info",
    "rootLogger.appenderRef.out.ref": "out",
}


def java(
    context: Context, *, heap: str = "", classpath: Path | None = None, busy: bool = False
) -> list[str]:
    """The start of a Java command line, with the service's own heap unless `heap` is another.

    A `busy` one has half of the heap for what does not live long, and all of it from the start: the
    JVM would begin with a small one, and collect it fully each time it grows.
    """
    size = heap or context.heap
    command = [str(context.artifacts.java()), f"-Xmx{size}", *FLAGS]
    if busy:
        command += [*busy_compiler(context), f"-Xms{size}", "-XX:NewRatio=1"]
    else:
        command += FIRST_TIER
    if classpath is not None:
        command += ["-cp", f"{classpath}/*"]
    return command


def busy_compiler(context: Context) -> tuple[str, ...]:
    """How a busy service is compiled: to be usable soon, or for a long load."""
    return FIRST_TIER if context.settings.quick_start else LESS_INLINING


def write_log4j(context: Context, *, quiet: tuple[str, ...] = ()) -> str:
    """Write a log4j 2 configuration that logs to standard output; returns the JVM's option.

    Kafka's jars come without any: a dying worker would say nothing. `quiet` names loggers
    that speak only of warnings.
    """
    path = context.conf / "log4j2.properties"
    lines = [f"{key} = {value}" for key, value in LOG4J.items()]
    for index, name in enumerate(quiet):
        lines += [f"logger.q{index}.name = {name}", f"logger.q{index}.level = warn"]
    write_private(path, "\n".join(lines) + "\n")
    return f"-Dlog4j2.configurationFile={path}"
