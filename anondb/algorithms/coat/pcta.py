"""PCTA, privacy-constrained clustering-based transaction anonymization (Gkoulalas-Divanis and Loukides 2011;
docs/algorithms/pcta.md).

Every item is a cluster at first. While a privacy constraint is unsatisfied, take the one with the largest support, and
merge its rarest cluster with that cluster of the whole domain that makes the least utility loss; suppress only when one
cluster is left and the constraint still unsatisfied. This is COAT where all items form one utility constraint: its rarest
generalized item then always has a companion, until a single one is left.
"""

from __future__ import annotations

from typing import Any

from anondb.algorithms.coat.coat import coat
from anondb.data.transactions import Dataset
from anondb.engine import Engine
from anondb.models.constraints import ConstraintAnonymity
from anondb.models.km import KmAnonymity
from anondb.recoding import GlobalRecoding


def pcta(
    engine: Engine,
    dataset: Dataset,
    model: KmAnonymity | ConstraintAnonymity,
    *,
    privacy: Any = None,
    weights: Any = None,
) -> GlobalRecoding:
    """Meet privacy constraints by merging items; for the arguments, the result and the errors see ``coat``."""
    return coat(engine, dataset, model, privacy=privacy, weights=weights)
