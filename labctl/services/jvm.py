"""Settings that the Java services share: flags for small heaps, and logging."""

from __future__ import annotations

from pathlib import Path

from labctl.jvm_flags import FIRST_TIER
from labctl.services.service import Context
from labctl.state.lab_state import write_private

__all__ = [
    "FLAGS",
    "LESS_INLINING",
    "LOG4J",
    "LOG4J_FILE",
    "busy_compiler",
    "container_flags",
    "java",
    "log4j_text",
    "write_log4j",
]


FLAGS = (
    # For one small heap on few cores, the serial collector needs least memory and start-up time.
    "-XX:+UseSerialGC",
    "-XX:+ExitOnOutOfMemoryError",
    # The jars are those of the artefact lock, byte for byte. Verifying every class would take an
    # eighth of the time in which a lab starts.
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote",
    "-Djava.awt.headless=true",
    "-Duser.timezone=UTC",
)
"""Flags for every JVM, in addition to `FIRST_TIER` or `LESS_INLINING`."""
LESS_INLINING = ("-XX:MaxInlineLevel=6", "-XX:FreqInlineSize=150", "-XX:InlineSmallCode=1000")
"""Flags for long-running services. C2 optimises them, but with less inlining than its defaults (15,
325, 2500): C2 itself takes much of a first load's time, and less inlining makes the code no
slower."""
LOG4J_FILE = "log4j2.properties"
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
    """Return the start of a Java command line, with the service's heap size unless `heap` is set.

    A `busy` JVM has half of the heap for short-lived objects, and the whole heap from the start: by
    default the JVM begins with a small heap and collects it fully each time it grows.
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
    """Return a busy service's compiler flags: for a quick start, or for a long load."""
    return FIRST_TIER if context.settings.quick_start else LESS_INLINING


def container_flags(*, busy: bool = False) -> str:
    """Return the flags of a JVM in a container; a `busy` one runs long enough to be optimised."""
    return " ".join((*FLAGS, *(LESS_INLINING if busy else FIRST_TIER)))


def write_log4j(context: Context, *, quiet: tuple[str, ...] = ()) -> str:
    """Write a log4j 2 configuration that logs to standard output; return the JVM's option.

    Kafka's jars come without any configuration: a dying worker would log nothing.
    """
    path = context.conf / LOG4J_FILE
    write_private(path, log4j_text(quiet))
    return f"-Dlog4j2.configurationFile={path}"


def log4j_text(quiet: tuple[str, ...]) -> str:
    """Return a log4j 2 configuration; loggers named in `quiet` log only warnings and errors."""
    lines = [f"{key} = {value}" for key, value in LOG4J.items()]
    for index, name in enumerate(quiet):
        lines += [f"logger.q{index}.name = {name}", f"logger.q{index}.level = warn"]
    return "\n".join(lines) + "\n"
