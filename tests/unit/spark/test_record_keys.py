"""Which keys are put aside by name, and what the jar of the key generators is made of."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pyspark
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyspark.sql.types import BinaryType, IntegerType, StringType, StructField, StructType

import lakehouse
from labctl.artifacts import ArtifactStore
from labctl.errors import LabError
from lakecontract.options import JAR
from lakecontract.partitions import COMPLEX, NONPARTITIONED, SIMPLE
from lakehouse.record_keys import RecordKeys, distinct_generator, endless, have_text, is_distinct
from tests.unit.jdk import needs_jdk_17

COLUMNS = StructType(
    [
        StructField("n", IntegerType()),
        StructField("a", StringType()),
        StructField("b", StringType()),
        StructField("raw", BinaryType()),
    ]
)


@needs_jdk_17
def test_the_jar_is_made_of_the_sources_beside_it(tmp_path: Path) -> None:
    try:
        hudi = ArtifactStore().path("spark-packages")
    except LabError:
        pytest.skip("Hudi is not in the cache")
    jar = Path(lakehouse.__path__[0]) / JAR
    made = tmp_path / "made.jar"
    folders = f"{hudi}:{Path(pyspark.__path__[0]) / 'jars'}"
    subprocess.run([str(jar.with_name("build")), folders, str(made)], check=True)
    assert made.read_bytes() == jar.read_bytes()


def test_each_of_hudis_classes_has_its_own_that_keeps_keys_apart() -> None:
    for hudis in (NONPARTITIONED, SIMPLE, COMPLEX):
        own = distinct_generator(hudis)
        assert own == f"lakehouse.{hudis.rsplit('.', 1)[-1].removesuffix('KeyGenerator')}Keys"
        assert is_distinct(own)
        assert not is_distinct(hudis)
    assert distinct_generator("") == distinct_generator(NONPARTITIONED)


def test_only_keys_of_text_and_bytes_need_it() -> None:
    assert not have_text(("n",), COLUMNS)
    assert have_text(("n", "a"), COLUMNS)
    assert have_text(("raw",), COLUMNS)
    assert not have_text(("n", "elsewhere"), COLUMNS)


def test_of_a_table_that_keeps_keys_apart_only_null_is_wrong() -> None:
    keys = RecordKeys(("a", "b"))
    assert keys.problem(COLUMNS, str) == "CASE WHEN a IS NULL THEN 'its record key a is null' END"
    keys.are_distinct = False
    for why in ("is empty", "is a word", "where it ends and b begins", "never find where it ends"):
        assert why in keys.problem(COLUMNS, str)
    numbers = RecordKeys(("n",), are_distinct=False)
    assert numbers.problem(COLUMNS, str) == RecordKeys(("n",)).problem(COLUMNS, str)


def _finds_the_end(key: str, columns: tuple[str, ...]) -> bool:
    """Return whether KeyGenUtils.extractRecordKeysByFields of Hudi 1.2.0 comes to an end."""
    done = 0
    while "," in key and ":" in key and done < len(key):
        first = key.index(":", done)
        known = key[done:first] in columns
        second = key.find(":", first + 1)
        if second < 0:
            return True
        seen = set()
        comma = key.rfind(",", 0, second + 1)
        while comma < first:
            if known and second < 0:
                return True
            if second in seen:
                return False
            seen.add(second)
            second = key.find(":", second + 1)
            comma = key.rfind(",", 0, max(second + 1, 0))
        done = comma + 1
    return True


TEXTS = st.text("x,:", max_size=14)


@given(TEXTS)
@example("urn:a:b,c")
@example("https://x/y,z")
@example('{"lab_key_0":1,"lab_key_1":"2024-01-01T10:20:30.000Z"}')
def test_a_single_text_is_put_aside_where_hudi_never_finds_its_end(text: str) -> None:
    found = "," in text and re.search(endless(is_alone=True), text)
    assert bool(found) != _finds_the_end(text, ("id",))


@given(TEXTS, TEXTS)
@example("x", "x,y:z:w")
def test_the_last_of_several_texts_is_put_aside_where_hudi_never_finds_its_end(
    a: str, b: str
) -> None:
    if ",b:" not in a:
        found = re.search(endless(is_alone=False), b)
        assert bool(found) != _finds_the_end(f"a:{a},b:{b}", ("a", "b"))
