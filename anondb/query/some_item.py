"""How many persons have some item that passes a test, or none: all transactions at once, from the rows in memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anondb.query.cached_release import Opened
from anondb.query.classes import Classes
from anondb.query.evaluate import Evaluator, Part
from anondb.query.held_sums import Array, HeldRows, indices
from anondb.query.totals import Bounds


def of_some_item(release: Opened, evaluator: Evaluator, classes: Classes, outside: Sequence[Part]) -> Bounds | None:
    """What ``Evaluator.outcome`` adds up to over all transactions.

    Args:
        release: the release, of a global recoding.
        evaluator: the question.
        classes: the classes of released items with a member that passes the test.
        outside: the parts of suppressed items.

    Returns:
        None for another question, and where the rows are not in memory, or are not needed.
    """
    if evaluator.some is None or release.numbered is None or len(classes.of) < 2:
        return None
    rows = release.numbered.rows_for(classes)
    if rows is None:
        return None
    others = {} if classes.default is None else dict.fromkeys(release.sizes, classes.default)
    classed = others | dict(classes.of)
    zero = (0,) * len(evaluator.question.caps)
    certain = [part.vectors[0] != zero for part in classes.parts]
    sure = np.zeros(rows.size, dtype=bool)
    sure[_transactions(rows, [label for label, n in classed.items() if certain[n]])] = True
    held = sure.copy()
    held[_transactions(rows, [label for label, n in classed.items() if not certain[n]])] = True
    least = rows.size if any(part.vectors[0] != zero for part in outside) else int(sure.sum())
    greatest = rows.size if any(part.most != zero for part in outside) else int(held.sum())
    return (least, greatest) if evaluator.some else (rows.size - greatest, rows.size - least)


def _transactions(rows: HeldRows, labels: Sequence[str]) -> Array:
    """The transactions of each of some released items, one after the other."""
    numbers = [rows.numbers[label] for label in labels]
    if rows.ends is None:
        order = np.argsort(rows.items, kind="stable")
        transactions, ends = rows.transactions[order], np.cumsum(rows.supports).tolist()
    else:
        transactions, ends = rows.transactions, rows.ends
    slices = [transactions[ends[number - 1] : ends[number]] for number in numbers]
    return indices(np.concatenate([transactions[:0], *slices]))
