"""The class that makes a table's record keys: the table's own, or that for its first rows."""

from __future__ import annotations

from typing import Any

from pyspark.sql.types import StructType

from lakecontract.errors import ConfigurationError
from lakecontract.partitions import KEY_GENERATOR
from lakecontract.properties import TableConfig
from lakehouse.record_keys import RecordKeys, distinct_generator, have_text, is_distinct

__all__ = ["KeyGenerator"]


class KeyGenerator:
    """The key generator's class of one table. `keys` follows it."""

    def __init__(self, jvm: Any, config: TableConfig, noted: str | None = None) -> None:
        """`noted` is the class that the table has; None when it is not known."""
        self._jvm = jvm
        self._config = config
        self._given = config.hoodie.get(KEY_GENERATOR, "")
        self.can_be_distinct = _is_there(jvm, distinct_generator(self._given))
        """True if Spark has the classes that keep all keys apart."""
        self._noted = noted
        self.keys = RecordKeys(config.key_fields, self._are_distinct())

    @property
    def is_known(self) -> bool:
        """True if the table's class is known, because it has been read or written."""
        return self._noted is not None

    def described_by(self, config: TableConfig) -> KeyGenerator:
        """Return the generator for the same table with other properties."""
        return KeyGenerator(self._jvm, config, self._noted)

    def read(self, properties: Any) -> None:
        """Take over the class that the table has: `properties` is Hudi's HoodieTableConfig.

        Raises ConfigurationError when Spark does not have the class.
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
        """Forget the class, because the table is gone."""
        self._keep(None)

    def written(self, columns: StructType) -> None:
        """Note that rows of `columns` have been committed."""
        if self._noted is None:
            is_own = self._is_needed(columns)
            self._keep(distinct_generator(self._given) if is_own else self._given)

    def options(self, columns: StructType) -> dict[str, str]:
        """Return Hudi's options besides the table's properties, for rows of `columns`.

        A new table needs another class than Hudi's only for keys of text. Without that class, other
        writers of the table need nothing but Hudi.
        """
        is_own = self._is_needed(columns) if self._noted is None else is_distinct(self._noted)
        return {KEY_GENERATOR: distinct_generator(self._given)} if is_own else {}

    def is_as_new(self, columns: StructType) -> bool:
        """Return whether a new table with these columns would have the class of this one."""
        return self._noted is None or is_distinct(self._noted) == self._is_needed(columns)

    def _is_needed(self, columns: StructType) -> bool:
        return self.can_be_distinct and have_text(self._config.key_fields, columns)

    def _keep(self, noted: str | None) -> None:
        self._noted = noted
        self.keys.are_distinct = self._are_distinct()

    def _are_distinct(self) -> bool:
        return self.can_be_distinct if self._noted is None else is_distinct(self._noted)


def _is_there(jvm: Any, name: str) -> bool:
    """Return whether Hudi finds a class of that name."""
    try:
        jvm.org.apache.hudi.common.util.ReflectionUtils.getClass(name)
    except Exception:
        return False
    return True
