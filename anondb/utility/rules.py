"""Compares the association rules of a reconstruction with those of the original (*Privacy Preservation in Transaction
Databases based on Anatomy technique*, ICCSE 2010, section V.C; docs/algorithms/metrics.md#rules)."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from anondb.engine import Engine, Table
from anondb.errors import InputError
from anondb.models import check_count, json_of

PAIRS = 100  # the default min_support is the least that at most so many pairs of items reach
Rule = tuple[frozenset[int], frozenset[int]]


@dataclass(frozen=True)
class RuleThresholds:
    """The thresholds of rules, the same for the original and the reconstruction.

    Attributes:
        min_support: least number of transactions that hold all items of the rule.
        min_confidence: least share of the transactions with its antecedent that hold its consequent, from 0 to 1.
        min_length, max_length: bounds on the number of items of both sides together.

    Raises:
        InputError: ``bad_parameter``.
    """

    min_support: int
    min_confidence: Fraction = Fraction(1, 5)
    min_length: int = 2
    max_length: int = 4

    def __post_init__(self) -> None:
        for name in ("min_support", "min_length", "max_length"):
            object.__setattr__(self, name, int(check_count(name, getattr(self, name))))
        object.__setattr__(self, "min_confidence", Fraction(self.min_confidence))
        if not 0 <= self.min_confidence <= 1 or not 2 <= self.min_length <= self.max_length:
            raise InputError(
                "Rules have at least 2 items, at most max_length, and a confidence from 0 to 1.", code="bad_parameter"
            )


@dataclass(frozen=True)
class RuleAccuracy:
    """How many rules of the original the reconstruction keeps.

    Attributes:
        thresholds: the thresholds of rules.
        original, reconstructed, common: number of rules in the original, in the reconstruction, and in both.
    """

    thresholds: RuleThresholds
    original: int
    reconstructed: int
    common: int

    @property
    def accuracy_ratio(self) -> Fraction | None:
        """AR: the share of the original's rules that the reconstruction has; None without rules."""
        return Fraction(self.common, self.original) if self.original else None

    @property
    def difference(self) -> int:
        """The number of rules of the reconstruction less that of the original."""
        return self.reconstructed - self.original

    def to_json(self) -> dict[str, Any]:
        """The figures as JSON values."""
        counts = json_of(self, "original", "reconstructed", "common", "difference", "accuracy_ratio")
        return {**json_of(vars(self.thresholds)), **counts}


def default_thresholds(engine: Engine, transactions: Table) -> RuleThresholds:
    """The default thresholds: the least support that at most ``PAIRS`` pairs of items of the original reach."""
    beyond = engine.query("utility/pair_support", {"transactions": transactions}, place=PAIRS)["together"].tolist()
    return RuleThresholds(min_support=int(beyond[0]) + 1 if beyond else 1)


def rule_accuracy(engine: Engine, original: Table, reconstructed: Table, thresholds: RuleThresholds) -> RuleAccuracy:
    """Mine the rules of original and reconstruction ``(tid, item)``, each pair once and with the same numbers, with apriori,
    and compare them."""
    mined = [mine_rules(engine, side, thresholds) for side in (original, reconstructed)]
    return RuleAccuracy(thresholds, len(mined[0]), len(mined[1]), len(mined[0] & mined[1]))


def mine_rules(engine: Engine, transactions: Table, thresholds: RuleThresholds) -> set[Rule]:
    """Mine the association rules of transactions with mlxtend's apriori. Only items of a frequent pair can be in a rule. SQL
    selects them, which keeps the matrix for apriori small. Supports and confidences are compared exactly, as counts."""
    apriori, association_rules = _mlxtend()
    rows = engine.query("utility/rule_rows", {"transactions": transactions}, min_support=thresholds.min_support)
    if not len(rows["tid"]):
        return set()
    import pandas as pd

    _, row = np.unique(rows["tid"], return_inverse=True)
    items, column = np.unique(rows["item"], return_inverse=True)
    number = int(row.max()) + 1
    held = np.zeros((number, len(items)), dtype=bool)
    held[row, column] = True
    least = (thresholds.min_support - 0.5) / number
    frequent = apriori(pd.DataFrame(held), min_support=least, max_len=thresholds.max_length, low_memory=True)
    counts = {
        itemset: round(support * number) for itemset, support in zip(frequent["itemsets"], frequent["support"], strict=True)
    }
    if max(map(len, counts), default=0) < 2:
        return set()
    with np.errstate(divide="ignore", invalid="ignore"):  # from metrics that are not used
        table = association_rules(frequent, metric="confidence", min_threshold=float(thresholds.min_confidence) - 1e-9)
    rules = set()
    for left, right in zip(table["antecedents"], table["consequents"], strict=True):
        both = left | right
        if len(both) >= thresholds.min_length and counts[both] >= thresholds.min_confidence * counts[left]:
            rules.add((frozenset(items[list(left)].tolist()), frozenset(items[list(right)].tolist())))
    return rules


def has_mlxtend() -> bool:
    """Whether mlxtend is installed, so that rules can be mined."""
    from importlib.util import find_spec

    return find_spec("mlxtend") is not None


def _mlxtend() -> tuple[Any, Any]:
    try:
        from mlxtend.frequent_patterns import apriori, association_rules
    except ImportError:
        raise InputError(
            "Mining rules needs the package mlxtend, which is not installed.",
            code="missing_package",
            hint='Install it with pip install "anondb[anatomy]".',
        ) from None
    return apriori, association_rules
