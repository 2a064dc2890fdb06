"""Which class makes a table's record keys: as the table has it, or as its first rows need it."""

from __future__ import annotations

from typing import Any

from pyspark.sql.types import StructType

from lakehouse.errors import ConfigurationError
from lakehouse.partitions import KEY_GENERATOR
from lakehouse.properties import TableConfig
from lakehouse.record_keys import RecordKeys, distinct_generator, have_text, is_distinct

__all__ = ["KeyGenerator"]


class KeyGenerator:
    """Knows the class of one table. `keys` follows it."""

    def __init__(self, jvm: Any, config: TableConfig, noted: str | None = None) -> None:
        """`noted`: the class that the table has, where it is known."""
        self._jvm = jvm
        self._config = config
        self._given = config.hoodie.get(KEY_GENERATOR, "")
        self.can_be_distinct = _is_there(jvm, distinct_generator(self._given))
        """Whether Spark has the classes that keep all keys apart."""
        self._noted = noted
        self.keys = RecordKeys(config.key_fields, self._are_distinct())

    @property
    def is_known(self) -> bool:
        """Whether the table has one by now, as far as has been read or written."""
        return self._noted is not None

    def described_by(self, config: TableConfig) -> KeyGenerator:
        """The same table's by other properties."""
        return KeyGenerator(self._jvm, config, self._noted)

    def read(self, properties: Any) -> None:
        """Take over what the table says: `properties` is Hudi's HoodieTableConfig.

        Raises ConfigurationError where Spark does not have the class.
        """
        noted = str(properties.getKeyGeneratorClassName() or self._given)
        if is_distinct(noted) and not self.can_be_distinct:
            raise ConfigurationError(
                f"Table {self._config.name} was written with the key generator {noted}, which is "
                "not on Spark's class path",
                hint="Start the application with lakehouse/java/lakehouse.jar among Spark's jars",
            )
        self._keep(noted)

    def forget(self) -> None:
        """The table is gone."""
        self._keep(None)

    def written(self, columns: StructType) -> None:
        """Rows of `columns` have been committed."""
        if self._noted is None:
            is_own = self._is_needed(columns)
            self._keep(distinct_generator(self._given) if is_own else self._given)

    def options(self, columns: StructType) -> dict[str, str]:
        """What Hudi is told besides the table's properties, for rows of `columns`.

        A new table needs another class than Hudi's only for keys of text: without one, whoever
        else writes the table needs nothing but Hudi.
        """
        is_own = self._is_needed(columns) if self._noted is None else is_distinct(self._noted)
        return {KEY_GENERATOR: distinct_generator(self._given)} if is_own else {}

    def is_as_new(self, columns: StructType) -> bool:
        """Whether a new table with these columns would have the class that this one has."""
        return self._noted is None or is_distinct(self._noted) == self._is_needed(columns)

    def _is_needed(self, columns: StructType) -> bool:
        return self.can_be_distinct and have_text(self._config.key_fields, columns)

    def _keep(self, noted: str | None) -> None:
        self._noted = noted
        self.keys.are_distinct = self._are_distinct()

    def _are_distinct(self) -> bool:
        return self.can_be_distinct if self._noted is None else is_distinct(self._noted)


def _is_there(jvm: Any, name: str) -> bool:
    """Whether Hudi finds a class of that name."""
    try:
        jvm.org.apache.hudi.common.util.ReflectionUtils.getClass(name)
    except Exception:
        return False
    return True
