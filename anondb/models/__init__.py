"""What is promised: small frozen values, each with its definition in the docstring, and no SQL."""

from __future__ import annotations

import math
import numbers
from typing import Any, ClassVar, Protocol

from anondb.errors import InputError

MAX_PARAMETER = 2**31 - 1


def check_count(name: str, value: Any, *, infinity: bool = False) -> int | float:
    """An exact integer from 1 to 2^31-1 (Python or NumPy; no bool, no float, no text), or infinity where allowed.

    Raises:
        InputError: ``bad_parameter``, with the offending value: a parameter is not data.
    """
    if infinity and isinstance(value, numbers.Real) and not isinstance(value, bool) and value == math.inf:
        return math.inf
    wanted = "an integer from 1 to 2147483647" + (", or infinity" if infinity else "")
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InputError(f"{name} must be {wanted}, not {value!r}.", code="bad_parameter")
    number = int(value)
    if not 1 <= number <= MAX_PARAMETER:
        shown = str(number) if abs(number) < 10**40 else "a number of more than 40 digits"
        raise InputError(f"{name} must be {wanted}, not {shown}.", code="bad_parameter")
    return number


class Model(Protocol):
    """What every model has: its name, its parameters as JSON and the manifest have them, and the promise in words."""

    name: ClassVar[str]

    def parameters(self) -> dict[str, int | str]:
        """The parameters as they appear in JSON and in the manifest."""
        ...

    @property
    def promise(self) -> str:
        """The promise in a few words, such as ``5^2-anonymity``."""
        ...
