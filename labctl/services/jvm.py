"""What the Java services share: flags for small heaps, and logging."""

from __future__ import annotations

from pathlib import Path

from labctl.lab.state import write_private
from labctl.services.model import Context

__all__ = ["FLAGS", "LOG4J", "java", "write_log4j"]


FLAGS = (
    # One small heap on few cores: the serial collector costs least memory and start-up time,
    # and the optimising compiler would take the cores from what starts beside it.
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:+ExitOnOutOfMemoryError",
    "-Djava.awt.headless=true",
    "-Duser.timezone=UTC",
)
LOG4J = {
    "appender.out.type": "Console",
    "appender.out.name": "out",
    "appender.out.layout.type": "PatternLayout",
    "appender.out.layout.pattern": "%d{yyyy-MM-dd HH:mm:ss.SSS} %-5p %c{1} %m%n",
    "rootLogger.level": "info",
    "rootLogger.appenderRef.out.ref": "out",
}


def java(
    context: Context, *, heap: str, classpath: Path | None = None, much_garbage: bool = False
) -> list[str]:
    """The start of a Java command line: `heap` unless `lab.toml` sets another.

    With `much_garbage` half of the heap is for what does not live long, and all of it is there from
    the start: the JVM would begin with a small one, and collect it fully each time it grows.
    """
    size = context.settings.heap or heap
    command = [str(context.artifacts.java()), f"-Xmx{size}", *FLAGS]
    if much_garbage:
        command += [f"-Xms{size}", "-XX:NewRatio=1"]
    if classpath is not None:
        command += ["-cp", f"{classpath}/*"]
    return command


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
