"""The diagrams of the explanations: the pipeline, one change's way, what builds on what."""

from __future__ import annotations

from docsite.svg import Drawing

__all__ = ["exactly_once", "layers", "pipeline"]


def pipeline() -> str:
    """Draw the way from the databases to the clients."""
    picture = Drawing(980, 400, "How a change gets from a database to a query")
    for number, (name, tables) in enumerate(
        (("PostgreSQL", "ems.*"), ("MySQL", "ecomm.*"), ("SQL Server", "crm.*"))
    ):
        y = 40 + 90 * number
        picture.box(20, y, 130, 60, (name, tables), "source")
        picture.arrow((150, y + 30), (180, y + 30), (180, 160), (205, 160))
    picture.box(205, 110, 140, 100, ("Kafka Connect", "Debezium", "Avro"), "stream")
    picture.arrow((345, 160), (385, 160))
    picture.box(385, 110, 140, 100, ("Kafka", "one topic", "per table"), "stream")
    picture.box(295, 270, 140, 60, ("Registry", "Avro schemas"), "stream")
    picture.arrow((275, 210), (275, 300), (295, 300), dashed=True)
    picture.arrow((570, 210), (570, 300), (435, 300), dashed=True)
    picture.arrow((525, 160), (550, 160))
    picture.box(550, 110, 155, 100, ("Spark application", "one streaming query", "per table"))
    picture.arrow((630, 110), (630, 70), (745, 70))
    picture.arrow((705, 160), (745, 160))
    picture.box(745, 40, 215, 60, ("Bronze", "Avro files by day"), "lake")
    picture.box(745, 125, 215, 70, ("Silver", "Hudi tables, CoW and MoR"), "lake")
    picture.text(875, 215, "both on the object store", faint=True, size=12)
    picture.arrow((790, 195), (790, 265))
    picture.box(
        600, 265, 360, 70, ("Reader: hudi-rs and DuckDB", "query, verify, trace, SQL API, tests")
    )
    picture.text(
        490,
        370,
        "Dashed: Connect registers schemas, the Spark application reads them.",
        faint=True,
        size=12,
    )
    return picture.svg()


def exactly_once() -> str:
    """Draw where each step keeps its position."""
    picture = Drawing(980, 330, "Where each step notes how far it has come")
    steps = (
        (("Source", "log position"), "source"),
        (("Debezium", "reads the log"), "stream"),
        (("Topic", "offset"), "stream"),
        (("Batch", "offsets 120 to 149"), "plain"),
        (("Hudi commit", "rows and offset 150"), "lake"),
    )
    for number, (words, kind) in enumerate(steps):
        x = 20 + 195 * number
        picture.box(x, 50, 160, 60, words, kind)
        if number:
            picture.arrow((x - 35, 80), (x, 80))
    picture.text(490, 25, "A change goes this way", faint=True)
    picture.arrow((295, 110), (295, 190))
    picture.box(215, 190, 160, 60, ("Connect's offsets", "every 5 s"), "stream")
    picture.text(295, 272, "after a crash: sent again", faint=True, size=12)
    picture.arrow((880, 110), (880, 150), (685, 150), (685, 110), dashed=True)
    picture.text(782, 168, "after a crash: go on at offset 150", faint=True, size=12)
    picture.box(
        600,
        205,
        360,
        60,
        ("One atomic step", "rows and offset are in the table together, or neither is"),
    )
    picture.text(
        490,
        305,
        "Sent twice is stored once: a row's newest record in the topic wins, by its offset.",
        faint=True,
    )
    return picture.svg()


def layers() -> str:
    """Draw which layers may import which."""
    picture = Drawing(760, 532, "Imports go one way, from the top to the bottom")
    rows = (
        ("cli", "one file per command"),
        ("testing, latency, soak, promote, importing, watching, conformance", "built on a lab"),
        ("lab", "up, down, status, seeding, connectors, snapshots"),
        ("runtimes, images", "processes, containers, managed services"),
        ("services, datasets", "one record per service, data set"),
        ("kafka, kafkaconnect, lake, verify, aws", "clients of the services"),
        ("sources", "one record per engine, and access by it"),
        ("config, artifacts, state", "lab.toml, locked parts, state on this machine"),
    )
    for number, words in enumerate(rows):
        y = 20 + 62 * number
        picture.box(20, y, 480, 46, words)
        if number:
            picture.arrow((260, y - 16), (260, y))
    picture.text(630, 35, "import nothing of labctl", bold=True)
    for number, words in enumerate(
        (
            ("lakecontract", "shared with Spark"),
            ("spark/lakehouse", "Spark application"),
            ("sqlapi", "Athena and Glue"),
            ("lakeapi", "analytics service"),
            ("labctl/sqlserver", "stand-in"),
        )
    ):
        picture.box(530, 55 + 74 * number, 200, 58, words, "lake")
    return picture.svg()
