"""One test of a rule for many cases: files, queries, seeds."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

SHOWN = 5  # failures


def each(name: str, cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator that calls a test for each case of one argument, or of several with names between commas.

    Raises:
        BaseExceptionGroup: the first failures, each with a note that names its case.
    """
    names = [part.strip() for part in name.split(",")]

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def of_all(**fixtures: Any) -> None:
            failed: list[BaseException] = []
            listed = list(cases)
            assert listed, "no case"
            for case in listed:
                values = dict(zip(names, case if len(names) > 1 else (case,), strict=True))
                try:
                    test(**fixtures, **values)
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"case: {values}")
                    failed.append(error)
                if len(failed) == SHOWN:
                    break
            if failed:
                raise BaseExceptionGroup(f"{test.__name__}: cases that fail", failed)

        asked = inspect.signature(test)
        left = [parameter for parameter in asked.parameters.values() if parameter.name not in names]
        of_all.__signature__ = asked.replace(parameters=left)  # type: ignore[attr-defined]
        return of_all

    return decorated
