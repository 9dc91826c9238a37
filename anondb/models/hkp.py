"""(h,k,p)-coherence: a bound on what known public items tell about private ones."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from anondb.errors import InputError
from anondb.models import check_count


@dataclass(frozen=True)
class HkpCoherence:
    """(h,k,p)-coherence (Xu, Wang, Fu and Yu, KDD 2008; spec 1.5).

    The items are public or private. For every set of 1 to p public items that a transaction holds, at least k
    transactions hold it, and of those at most the share h holds any one private item. A set that violates this is a
    *mole*. Whoever knows up to p public items of a person is left with at least k candidates, and guesses none of the
    private items with a confidence above h. The second part is not monotone: a mole may lie within a set that is none.
    The share of a private item among all transactions is not bounded. With h = 1, or without private items, this is
    k^p-anonymity of the public items.

    Attributes:
        h: from 0 to 1, exact: a fraction, or a number or text that stands for one (``"1/3"``, ``0.8``).
        k: an integer of at least 1.
        p: an integer of at least 1, or infinity.

    Raises:
        InputError: a parameter is out of its range.
    """

    h: Fraction = Fraction(4, 5)
    k: int = 5
    p: int | float = 2
    name = "hkp"

    def __post_init__(self) -> None:
        object.__setattr__(self, "h", _share(self.h))
        object.__setattr__(self, "k", int(check_count("k", self.k)))
        object.__setattr__(self, "p", check_count("p", self.p, infinity=True))

    def parameters(self) -> dict[str, int | str]:
        """The parameters as they appear in JSON and in the manifest: ``h`` as the text of a fraction."""
        return {"h": str(self.h), "k": self.k, "p": "inf" if self.p == math.inf else int(self.p)}


def _share(value: Any) -> Fraction:
    """An exact fraction from 0 to 1; a float stands for the decimal number that it is written as."""
    try:
        if isinstance(value, bool) or not isinstance(value, str | numbers.Real):
            raise ValueError
        share = value if isinstance(value, Fraction) else Fraction(str(value).strip())
    except (ValueError, ZeroDivisionError):
        share = Fraction(-1)
    if not 0 <= share <= 1:
        raise InputError(f"h must be a share from 0 to 1 (such as 0.8 or 4/5), not {value!r}.", code="bad_parameter")
    return share
