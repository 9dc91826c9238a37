"""PCTA, privacy-constrained clustering-based transaction anonymization (Gkoulalas-Divanis and Loukides 2011;
docs/algorithms/pcta.md).

Initially every item is a cluster. While a privacy constraint is unsatisfied, the algorithm takes the one with the largest
support and merges its rarest cluster with the cluster of the whole domain that makes the least utility loss. It suppresses
only if one cluster is left and the constraint is still unsatisfied. This is COAT with all items in one utility constraint:
the rarest generalized item always has a companion until a single one is left.
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
    """Satisfy privacy constraints by merging items; arguments, result and errors are those of ``coat``."""
    return coat(engine, dataset, model, privacy=privacy, weights=weights)
