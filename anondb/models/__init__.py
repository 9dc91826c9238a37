"""What is promised: small frozen values, each with its definition in the docstring, and no SQL."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True)
class KmAnonymity:
    """k^m-anonymity (Terrovitis et al. 2008; Liu and Wang, PAKDD 2010, Definition 1).

    An itemset X with 1 <= |X| <= m is a *threat* if it occurs in at least one and in fewer than k transactions. The
    promise holds if no itemset is a threat: whoever knows up to m released items of a person is left with at least k
    candidates. ``m = math.inf`` protects against any number of known items. ``k = 1`` promises nothing.

    Raises:
        InputError: k or m is no exact integer of at least 1 (m: or infinity).
    """

    k: int = 5
    m: int | float = 2
    name = "km"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", int(check_count("k", self.k)))
        object.__setattr__(self, "m", check_count("m", self.m, infinity=True))

    def parameters(self) -> dict[str, int | str]:
        """The parameters as they appear in JSON and in the manifest: ``m`` is an integer or the text ``inf``."""
        return {"k": self.k, "m": "inf" if self.m == math.inf else int(self.m)}


Model = KmAnonymity
