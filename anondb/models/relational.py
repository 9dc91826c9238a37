"""The promises for combined relational and transaction data: (k,k^m)-anonymity and (k,l^m)-diversity."""

from dataclasses import dataclass
from typing import ClassVar

from anondb.models import INTEGER, NUMBER, TEXT, Model, parameter_k, parameter_m, whole


@dataclass(frozen=True)
class KkmAnonymity(Model):
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
    words: ClassVar[str] = "({k},{k}^{m})-anonymity"


@dataclass(frozen=True)
class KlmDiversity(Model):
    """(k,l^m)-diversity (the same paper, section 5; docs/algorithms/models.md#klm).

    Items are nonsensitive or sensitive, and only the former are generalized. On the nonsensitive items the release is
    (k,k^m)-anonymous; and within each class of equal relational values, among the records that hold a set of at most m
    nonsensitive items, the empty set included, at most one in l holds any one sensitive item (hence any combination of
    them).

    Raises:
        InputError: k, l or m is not an exact integer of at least 1 (m may be infinity).
    """

    k: int = parameter_k()
    l: int = whole(2, "At most one in l candidates holds any one sensitive item (default 2).", "L", (INTEGER, NUMBER, TEXT))
    m: int | float = parameter_m()
    name: ClassVar[str] = "klm"
    layout: ClassVar[str] = "records"
    words: ClassVar[str] = "({k},{l}^{m})-diversity"
