"""Verifiers, which re-derive each promise from its definition and share no code or SQL with the algorithms.

Each model has its verifier in a separate file, imported where it is used, since a run needs only one or two of them.
What all take, and drop their work tables before they return:

    transactions: ``(tid INTEGER, item INTEGER)``, the published rows, each pair once.
    items: ``(item INTEGER, label VARCHAR)``, the released items.
    released_items: ``(released_item VARCHAR, item VARCHAR)``, the original items that each stands for, by their labels.
    model: the promise; ``k = 1`` holds trivially.
    witnesses: the maximal number of violations to return, ordered by size, then by labels.

They raise ``BudgetExceeded``, with an estimated number of rows, for a check that would need too much memory or time.
"""

from anondb.verify.result import Verification, Witness

__all__ = ["Verification", "Witness"]
