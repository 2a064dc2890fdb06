"""Functions of texts and lists that take one value at a time."""

from __future__ import annotations

import itertools
import math
import re

from sqlapi.sql.code import failure

__all__ = ["combinations", "luhn", "soundex", "split_to_pairs"]

_SOUNDS = str.maketrans("AEIOUYHWBFPVCGJKQSXZDTLMNR", "00000077111122222222334556")


def soundex(value: str) -> str:
    """Return the code of Soundex: the letter, and three digits; h and w part no equal sounds."""
    if not value.isascii():
        raise failure("NOT_SUPPORTED", "soundex of other letters than A to Z")
    letters = [letter for letter in value.upper() if letter.isalpha()]
    if not letters:
        return ""
    codes = "".join(letters).translate(_SOUNDS)
    found, last = letters[0], codes[0]
    for code in codes[1:]:
        if code in "123456" and code != last:
            found += code
        if code != "7":
            last = code
    return found.ljust(4, "0")[:4]


def luhn(value: str) -> bool:
    """Return whether the last digit is the check digit by Luhn's formula."""
    if not value:
        return False
    if not re.fullmatch("[0-9]+", value):
        raise failure("INVALID_FUNCTION_ARGUMENT", "Input must consist of digits")
    digits = [int(digit) for digit in reversed(value)]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def split_to_pairs(value: str, entry: str, pair: str) -> list[dict[str, str]]:
    """Return keys and values of a text such as `a=1,b=2`. Raises ValueError for other texts."""
    found = []
    for part in value.split(entry) if value else []:
        key, there, rest = part.partition(pair)
        if not there or pair in rest:
            raise failure("INVALID_FUNCTION_ARGUMENT", f"Bad entry: {part}")
        found.append({"k": key, "v": rest})
    return found


_MOST_COMBINATIONS = 100_000


def combinations(count: int, size: int) -> list[list[int]]:
    """Return the indexes from 1 of the elements of each combination, in Trino's order."""
    if not 0 <= size <= 5:
        raise failure("INVALID_FUNCTION_ARGUMENT", "combination size must be from 0 to 5")
    if math.comb(count, size) > _MOST_COMBINATIONS:
        raise failure("INVALID_FUNCTION_ARGUMENT", "combinations exceed max size")
    return [list(indexes) for indexes in itertools.combinations(range(1, count + 1), size)]
