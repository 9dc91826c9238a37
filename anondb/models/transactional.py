"""The promises on transactions alone."""

import math
import numbers
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from anondb.errors import InputError
from anondb.models import NUMBER, TEXT, Model, parameter, parameter_k, parameter_m, whole_or_infinity

MAX_DENOMINATOR = 10**18  # of h


@dataclass(frozen=True)
class KmAnonymity(Model):
    """k^m-anonymity (Terrovitis et al. 2008; Liu and Wang, PAKDD 2010, Definition 1).

    An itemset X with 1 <= |X| <= m is a *threat* if it occurs in at least one and in fewer than k transactions. The
    promise holds if no itemset is a threat: an attacker who knows up to m released items of a person is left with at
    least k candidates. ``m = math.inf`` protects against any number of known items. ``k = 1`` promises nothing.

    Raises:
        InputError: k or m is not an exact integer of at least 1 (m may be infinity).
    """

    k: int = parameter_k()
    m: int | float = parameter_m()
    name: ClassVar[str] = "km"
    layout: ClassVar[str] = "transactions"
    words: ClassVar[str] = "{k}^{m}-anonymity"
    supports: ClassVar[bool] = True


@dataclass(frozen=True)
class TransactionalK(Model):
    """Transactional k-anonymity (He and Naughton, VLDB 2009; Milani Fard and Wang, SECRYPT 2010, section 2.3;
    docs/algorithms/models.md#k).

    Every published transaction equals at least k - 1 others: as a set of released items, or as a bag if the release
    states the number of copies of each item. Transactions without items form a class. So an attacker who knows a whole
    transaction, absent items included, is left with at least k candidates. It implies k^m-anonymity for every m.
    ``k = 1`` promises nothing.

    Raises:
        InputError: k is not an exact integer of at least 1.
    """

    k: int = parameter_k()
    name: ClassVar[str] = "k"
    layout: ClassVar[str] = "local"
    words: ClassVar[str] = "transactional {k}-anonymity"
    supports: ClassVar[bool] = True


@dataclass(frozen=True)
class ConstraintAnonymity(Model):
    """Satisfaction of privacy constraints (Loukides, Gkoulalas-Divanis and Malin, COAT, Definition 3.4;
    docs/algorithms/models.md#constraints).

    A privacy constraint is a set of original items that an attacker may know. Let q be the released items that stand for
    them; suppressed items add nothing. The constraint is satisfied if q is empty, if at least k transactions hold all of q,
    or if none does and every proper non-empty subset of q is held by none or by at least k. Equivalently: every part of q
    that a transaction holds, at least k transactions hold. Itemsets that no constraint covers are not protected.

    Raises:
        InputError: k is not an exact integer of at least 1.
    """

    k: int = parameter_k()
    name: ClassVar[str] = "constraints"
    layout: ClassVar[str] = "transactions"
    words: ClassVar[str] = "privacy constraints with k = {k}"
    supports: ClassVar[bool] = True


@dataclass(frozen=True)
class HkpCoherence(Model):
    """(h,k,p)-coherence (Xu, Wang, Fu and Yu, KDD 2008; docs/algorithms/models.md#hkp).

    The items are public or private. For every set of 1 to p public items that a transaction holds, at least k
    transactions hold it, and of those at most the share h holds any one private item. A set that violates this is a
    *mole*. An attacker who knows up to p public items of a person is left with at least k candidates, and can guess no
    private item with a confidence above h. The second part is not monotone: a set that is not a mole may contain one.
    The share of a private item among all transactions is not bounded. With h = 1, or without private items, this is
    k^p-anonymity of the public items.

    Attributes:
        h: from 0 to 1, exact: a fraction, or a number or text that denotes one (``"1/3"``, ``0.8``).
        k: an integer of at least 1.
        p: an integer of at least 1, or infinity.

    Raises:
        InputError: a parameter is out of its range.
    """

    h: Fraction = parameter(
        Fraction(4, 5),
        "Largest share of a private item, such as 0.8 or 4/5 (default 4/5).",
        "SHARE",
        check=lambda _, value: _share(value),
        kinds=(NUMBER, TEXT),
    )
    k: int = parameter_k()
    p: int | float = whole_or_infinity("p", "Public items that an attacker may know: an integer (default 2), or inf.")
    name: ClassVar[str] = "hkp"
    layout: ClassVar[str] = "transactions"
    words: ClassVar[str] = "({h},{k},{p})-coherence"


def _share(value: Any) -> Fraction:
    """Read an exact fraction from 0 to 1; a float stands for its shortest decimal form."""
    share = Fraction(-1)
    if isinstance(value, numbers.Rational) and not isinstance(value, bool):
        share = Fraction(value)
    elif isinstance(value, numbers.Real) and math.isfinite(value) and not isinstance(value, bool):
        share = Fraction(str(float(value)))
    elif isinstance(value, str) and re.fullmatch(r"\s*(\d{1,20}|\d{0,20}\.\d{1,20}|\d{1,20}/0*[1-9]\d{0,19})\s*", value):
        share = Fraction(value.strip())
    if not 0 <= share <= 1 or share.denominator > MAX_DENOMINATOR:
        shown = f", not {value!r}" if len(str(value)) <= 40 else ""
        raise InputError(f"h must be a share from 0 to 1, such as 0.8 or 4/5{shown}.", code="bad_parameter")
    return share
