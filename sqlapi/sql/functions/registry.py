"""The registry of functions: names, argument types, and DuckDB's SQL."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TypeVar

from sqlapi.sql.code import Code, coerced
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import Type, can_coerce

__all__ = [
    "LAMBDAS",
    "SCALARS",
    "Scalar",
    "constant",
    "element_of",
    "function",
    "simple",
    "wrong_arguments",
]

Scalar = Callable[..., Code]
SCALARS: dict[str, Scalar] = {}
LAMBDAS: dict[str, Callable[..., Code]] = {}
"""Functions that take a lambda. They receive the compiler and their arguments' trees."""
F = TypeVar("F", bound=Callable[..., Code])


def wrong_arguments(name: str, codes: Sequence[Code]) -> SqlError:
    given = ", ".join(str(code.type) for code in codes)
    return SqlError(
        "FUNCTION_NOT_FOUND",
        f"Unexpected parameters ({given}) for function {name}, or a form that is not supported",
    )


def function(*names: str) -> Callable[[F], F]:
    """Register a function, which makes code from a call's arguments, under all names."""

    def register(make: F) -> F:
        takes = inspect.signature(make)
        for name in names:

            def call(*codes: Code, _name: str = name) -> Code:
                try:
                    takes.bind(*codes)
                except TypeError:
                    raise wrong_arguments(_name, codes) from None
                return make(*codes)

            SCALARS[name] = call
        return make

    return register


def simple(names: str, takes: Sequence[Type], gives: Type, sql: str) -> None:
    """Register a function by a template: `{0}` is the first argument, coerced to its type.

    Several calls for one name register several forms; the first whose types fit is used.
    """
    for name in names.split():
        earlier = SCALARS.get(name)

        def call(*codes: Code, _name: str = name, _earlier: Scalar | None = earlier) -> Code:
            if _earlier:
                try:
                    return _earlier(*codes)
                except SqlError as error:
                    if error.kind != "FUNCTION_NOT_FOUND":
                        raise
            if len(codes) != len(takes) or not all(
                can_coerce(code.type, kind) for code, kind in zip(codes, takes, strict=True)
            ):
                raise wrong_arguments(_name, codes)
            fitting = [coerced(c, kind).sql for c, kind in zip(codes, takes, strict=True)]
            return Code(sql.format(*fitting), gives)

        SCALARS[name] = call


def constant(code: Code, name: str) -> str:
    """Return the value of a string literal argument. Raises SqlError for a computed one."""
    if not isinstance(code.value, str):
        raise SqlError("NOT_SUPPORTED", f"Function {name} with a computed argument")
    return code.value


def element_of(code: Code, name: str, *others: Code) -> Type:
    """Return the type of an array's elements. Raises SqlError if `code` is no array."""
    if code.type.name != "array":
        raise wrong_arguments(name, [code, *others])
    return code.type.args[0]
