"""The promises for combined relational and transaction data: (k,k^m)-anonymity and (k,l^m)-diversity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from anondb.models import INTEGER, NUMBER, TEXT, check_count, digits, parameter, parameter_k, parameter_m


@dataclass(frozen=True)
class KkmAnonymity:
    """(k,k^m)-anonymity (Poulis, Loukides, Gkoulalas-Divanis and Skiadopoulos, ECML/PKDD 2013, Definition 2;
    docs/algorithms/models.md#kkm).

    For every record and every set I of at most m of its items, the empty set included, at least k records have the same
    published relational values and hold I: an attacker who knows all relational values of a person and up to m released
    items is left with at least k candidates. Equivalently, every class of equal relational values has at least k records
    and its transactions are k^m-anonymous. Sensitive items are published unchanged; the model assumes that attackers do
    not know them.

    Raises:
        InputError: k or m is not an exact integer of at least 1 (m may be infinity).
    """

    k: int = parameter_k()
    m: int | float = parameter_m()
    name: ClassVar[str] = "kkm"
    layout: ClassVar[str] = "records"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", int(check_count("k", self.k)))
        object.__setattr__(self, "m", check_count("m", self.m, infinity=True))

    def parameters(self) -> dict[str, int | str]:
        """The parameters as they appear in JSON and in the manifest: ``m`` is an integer or the text ``inf``."""
        return {"k": self.k, "m": "inf" if self.m == math.inf else int(self.m)}

    @property
    def promise(self) -> str:
        """The promise in a few words."""
        return f"({self.k},{self.k}^{self.parameters()['m']})-anonymity"


@dataclass(frozen=True)
class KlmDiversity:
    """(k,l^m)-diversity (the same paper, section 5; docs/algorithms/models.md#klm).

    Items are nonsensitive or sensitive, and only the former are generalized. On the nonsensitive items the release is
    (k,k^m)-anonymous; and within each class of equal relational values, among the records that hold a set of at most m
    nonsensitive items, the empty set included, at most one in l holds any one sensitive item (hence any combination of
    them).

    Raises:
        InputError: k, l or m is not an exact integer of at least 1 (m may be infinity).
    """

    k: int = parameter_k()
    l: int = parameter(
        2,
        "At most one in l candidates holds any one sensitive item (default 2).",
        "L",
        kinds=(INTEGER, NUMBER, TEXT),
        read=digits,
    )
    m: int | float = parameter_m()
    name: ClassVar[str] = "klm"
    layout: ClassVar[str] = "records"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", int(check_count("k", self.k)))
        object.__setattr__(self, "l", int(check_count("l", self.l)))
        object.__setattr__(self, "m", check_count("m", self.m, infinity=True))

    def parameters(self) -> dict[str, int | str]:
        """The parameters as they appear in JSON and in the manifest: ``m`` is an integer or the text ``inf``."""
        return {"k": self.k, "l": self.l, "m": "inf" if self.m == math.inf else int(self.m)}

    @property
    def promise(self) -> str:
        """The promise in a few words."""
        return f"({self.k},{self.l}^{self.parameters()['m']})-diversity"
