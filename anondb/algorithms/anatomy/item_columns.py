"""The columns of Multi-Anatomy: clusters of correlated items, by mean-square contingency and PAM. *Privacy Preservation in
Transaction Databases based on Anatomy technique* (ICCSE 2010), section IV.A; PAM is that of Kaufman and Rousseeuw (1987);
docs/algorithms/multi_anatomy.md."""

from typing import Any

import numpy as np

from anondb.data.constraints import load_columns
from anondb.data.transactions import Dataset
from anondb.engine import Engine
from anondb.engine.arrays import Floats, Ints
from anondb.errors import BudgetExceeded, InputError

MAX_ITEMS = 6_000  # PAM keeps a few square matrices of 8-byte numbers: about 1 GB
SCALE = 2**40  # distances are integers, so sums are exact and equal costs compare equal


def item_columns(
    engine: Engine, dataset: Dataset, columns: Any, correlation: str = "truncated"
) -> tuple[Ints, tuple[str, ...]]:
    """Compute or read the column of each item, numbered from 1, and the names of the columns.

    Args:
        columns: number of columns for PAM, or the owner's columns (see ``data.constraints.load_columns``).
        correlation: ``truncated`` (the paper's equation 4) or ``full`` (equation 3).

    Raises:
        InputError: fewer than two columns, or more than items; the package kmedoids is missing.
        BudgetExceeded: too many items for PAM.
    """
    if not isinstance(columns, int):
        return load_columns(engine, columns, dataset)
    if not 2 <= columns <= dataset.n_items:
        raise InputError(
            f"columns must be from 2 to the number of items, which is {dataset.n_items}, not {columns}.",
            code="bad_parameter",
        )
    clusters = cluster_items(phi_squared(engine, dataset, correlation), columns)
    clusters.sort(key=lambda items: items[0])
    column = np.zeros(dataset.n_items, dtype=np.int64)
    for number, items in enumerate(clusters, 1):
        column[items] = number
    return column, tuple(str(number) for number in range(1, columns + 1))


def phi_squared(engine: Engine, dataset: Dataset, correlation: str = "truncated") -> Floats:
    """The squared mean-square contingency coefficient of every pair of items, as a symmetric matrix. With f the share of
    transactions that hold an item, it is (f_ab - f_a f_b)^2 / (f_a f_b), one of the four cells of the coefficient (equation
    4). ``full`` also divides by (1 - f_a)(1 - f_b), and is NaN for an item that every transaction holds. Raises
    BudgetExceeded: the matrix would need too much memory."""
    m, n = dataset.n_items, dataset.n_transactions
    if m > MAX_ITEMS:
        raise BudgetExceeded(
            f"PAM compares all pairs of {m} items; the limit is {MAX_ITEMS} items.",
            hint="Define the columns with --columns FILE.",
        )
    pairs = engine.query("transactions/pairs", {"transactions": dataset.transactions})
    surplus = -np.outer(dataset.supports, dataset.supports)
    a, b, together = (pairs[c].astype(np.int64) for c in ("first", "second", "transactions"))
    surplus[a, b] += n * together
    surplus[b, a] += n * together
    scale = dataset.supports * ((n - dataset.supports) if correlation == "full" else n)
    with np.errstate(divide="ignore", invalid="ignore"):
        phi: Floats = (surplus / scale[:, None]) * (surplus / scale[None, :])
    phi[:, scale == 0] = phi[scale == 0, :] = np.nan
    return phi


def cluster_items(phi: Floats, columns: int) -> list[list[int]]:
    """Divide the items into ``columns`` sorted clusters by PAM with the distance 1 - phi^2. Items without a coefficient are
    added one by one to the smallest cluster."""
    defined = np.flatnonzero(~np.isnan(phi).all(axis=1))
    distance = np.rint((1 - phi[np.ix_(defined, defined)].clip(0, 1)) * SCALE).astype(np.int64)
    np.fill_diagonal(distance, 0)
    number = min(columns, len(defined))
    medoids = _swap(distance, _build(distance, number)) if number else np.empty(0, dtype=np.int64)
    clusters: list[list[int]] = [[] for _ in range(columns)]
    for position, nearest in enumerate(_assign(distance, medoids).tolist()):
        clusters[nearest].append(int(defined[position]))
    for item in sorted(set(range(len(phi))) - set(defined.tolist())):
        min(clusters, key=len).append(item)
    return [sorted(items) for items in clusters]


def _build(distance: Ints, number: int) -> Ints:
    """PAM's BUILD: take the item with the least total distance, then always the one that most reduces the cost. Ties go by
    label. The package kmedoids is not used here: its BUILD never takes the first item after the first medoid, and ignores
    the gain of the new medoid itself."""
    medoids = [int(distance.sum(axis=1).argmin())]
    nearest = distance[medoids[0]].copy()
    while len(medoids) < number:
        gains = np.fromiter((np.maximum(nearest - row, 0).sum() for row in distance), np.int64, len(distance))
        gains[medoids] = -1
        medoids.append(int(gains.argmax()))
        np.minimum(nearest, distance[medoids[-1]], out=nearest)
    return np.array(sorted(medoids), dtype=np.int64)


def _swap(distance: Ints, medoids: Ints) -> Ints:
    """PAM's SWAP by the package kmedoids, with one best swap per call. Among equally good swaps the package takes the first
    item in the order of the matrix, then the first medoid in the order of its argument. Since the medoids are sorted before
    each call, both orders are that of the labels. Integers make the costs exact."""
    if len(medoids) in (1, len(distance)):
        return medoids
    kmedoids = _kmedoids()
    cost = int(distance[medoids].min(axis=0).sum())
    while True:
        result = kmedoids.pam(distance, medoids.astype(np.uint64), max_iter=1)
        if int(result.loss) >= cost:
            return medoids
        cost, medoids = int(result.loss), np.sort(np.asarray(result.medoids).astype(np.int64))


def _assign(distance: Ints, medoids: Ints) -> Ints:
    """The position of each item's nearest medoid, ties by label; a medoid belongs to itself."""
    if not len(medoids):
        return medoids
    nearest: Ints = distance[medoids].argmin(axis=0).astype(np.int64)
    nearest[medoids] = np.arange(len(medoids))
    return nearest


def _kmedoids() -> Any:
    try:
        import kmedoids
    except ImportError:
        raise InputError(
            "Clustering items needs the package kmedoids, which is not installed.",
            code="missing_package",
            hint='Install it with pip install "anondb[anatomy]", or define the columns with --columns FILE.',
        ) from None
    return kmedoids
