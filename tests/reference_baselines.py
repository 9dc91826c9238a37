"""Naive references of the algorithms that the papers compare with, beside those of reference.py, and (h,k,p)-coherence.

As there: written from docs/algorithms alone, with sets, itertools and exact fractions, and nothing is fast.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import combinations

import reference as ref
from reference import Block, Bound, Children, Itemset, Transactions

# --- (h,k,p)-coherence ----------------------------------------------------------------------------------------------


def moles(transactions: Transactions, private: Collection[str], h: Fraction, k: int, p: Bound) -> list[Itemset]:
    """Every set of 1..p public items that is supported by fewer than k, or tells a private item with more than h."""
    public = [set(t) - set(private) for t in transactions]
    found = []
    for beta in ref.supported_itemsets(public, p):
        n = ref.support(beta, transactions)
        shares = [Fraction(ref.support({*beta, q}, transactions), n) for q in set(private)]
        if n < k or any(share > h for share in shares):
            found.append(beta)
    return found


# --- MM -------------------------------------------------------------------------------------------------------------


def mm(
    transactions: Transactions, private: Collection[str], h: Fraction, k: int, p: Bound
) -> tuple[list[str], list[frozenset[str]]]:
    """The deleted items in order (moles of one item together, sorted), and the transactions without them."""
    current = [frozenset(t) for t in transactions]
    removed: list[str] = []

    def delete(items: Collection[str]) -> None:
        nonlocal current
        removed.extend(sorted(items))
        current = [t - set(items) for t in current]

    delete([beta[0] for beta in moles(current, private, h, k, 1)])
    while found := moles(current, private, h, k, p):
        minimal = [x for x in found if not any(set(y) < set(x) for y in found)]
        items = sorted({i for x in minimal for i in x})
        score = {i: Fraction(sum(i in x for x in minimal), ref.support({i}, current)) for i in items}
        delete([max(items, key=lambda i: score[i])])  # max keeps the first of equals
    return removed, current


# --- PCTA -----------------------------------------------------------------------------------------------------------


def pcta(
    transactions: Transactions, k: int, privacy: Sequence[Collection[str]], domain: Collection[str]
) -> tuple[list[Block], list[str], list[Block]]:
    """The clusters, sorted; the suppressed items; the merged clusters in order."""
    clusters: set[Block] = {(i,) for i in domain}
    suppressed: set[str] = set()
    merges: list[Block] = []

    def tids(cluster: Block) -> set[int]:
        return {n for n, t in enumerate(transactions) if set(cluster) & set(t)}

    def of(p: Collection[str]) -> set[Block]:
        return {c for c in clusters if set(c) & set(p)}

    def published() -> list[frozenset[str]]:
        names = {i: "|".join(c) for c in clusters for i in c}
        return [frozenset(names[i] for i in t if i in names) for t in transactions]

    def satisfied(p: Collection[str]) -> bool:
        names = {i: "|".join(c) for c in clusters for i in c}
        return ref.constraint_satisfied(published(), p, k, {i: names.get(i) for i in p})

    def sup(p: Collection[str]) -> int:
        return len(set(range(len(transactions))).intersection(*(tids(c) for c in of(p))))

    while unsatisfied := [p for p in privacy if not satisfied(p)]:
        p = max(unsatisfied, key=sup)  # max keeps the first of equals
        while not satisfied(p):
            rarest = min(of(p), key=lambda c: (len(tids(c)), c))
            others = sorted(clusters - {rarest})
            if not others:
                clusters.remove(rarest)
                suppressed.update(rarest)
                continue
            partner = min(others, key=lambda c: (2 ** len(c + rarest) - 1) * len(tids(c) | tids(rarest)))
            clusters -= {rarest, partner}
            clusters.add(tuple(sorted(rarest + partner)))
            merges.append(tuple(sorted(rarest + partner)))
    return sorted(clusters), sorted(suppressed), merges


# --- VPA ------------------------------------------------------------------------------------------------------------


def vpa(children: Children, root: str, transactions: Transactions, k: int, m: Bound) -> tuple[list[str], list[str]]:
    """The union of the cuts of the parts below the root, and the final cut; both sorted. Raises Infeasible."""
    union: set[str] = set()
    for top in children.get(root) or [root]:
        below = set(ref.breadth_first(children, top))
        part = {node: c for node, c in children.items() if node in below}
        projection = [sorted(set(t) & below) for t in transactions]
        try:
            union |= set(ref.apriori(part, top, projection, k, m))
        except ref.Infeasible:
            union.add(top)
    return sorted(union), ref.apriori(children, root, transactions, k, m, union)


# --- LRA ------------------------------------------------------------------------------------------------------------


def gray_rank(children: Children, root: str, transaction: Collection[str]) -> int:
    """The rank of a transaction's bit vector in the Gray code; the first leaf, breadth first, is the highest bit."""
    bits = [leaf in transaction for leaf in ref.leaves(children, root)]
    rank, bit = 0, 0
    for b in bits:
        bit ^= b
        rank = 2 * rank + bit
    return rank


def lra(
    children: Children, root: str, transactions: Transactions, k: int, m: Bound, parts: int
) -> list[tuple[list[int], list[str]]]:
    """The chunks (positions in Gray order) and the cut of each. Raises Infeasible."""
    order = sorted(range(len(transactions)), key=lambda n: gray_rank(children, root, transactions[n]))
    size = max(k, -(-len(order) // parts))
    chunks = [order[i : i + size] for i in range(0, len(order), size)]
    if len(chunks) > 1 and len(chunks[-1]) < k:
        chunks[-2:] = [chunks[-2] + chunks[-1]]
    done: list[tuple[list[int], list[str]]] = []
    while chunks:
        chunk = chunks.pop(0)
        try:
            done.append((chunk, ref.apriori(children, root, [transactions[n] for n in chunk], k, m)))
        except ref.Infeasible:
            if chunks:
                chunks[0] = chunk + chunks[0]
            elif done:
                chunks = [done.pop()[0] + chunk]
            else:
                raise
    return done


def itemsets_across_levels(children: Children, root: str, published: Transactions, k: int, m: Bound) -> list[Itemset]:
    """What an attacker who knows up to m original items can narrow to fewer than k, but some, transactions: those that
    show for each known item a label above or equal to it."""
    above = {leaf: set(ref.ancestors(children, leaf)) for leaf in ref.leaves(children, root)}
    could_hold = [{leaf for leaf in above if above[leaf] & set(t)} for t in published]
    return [
        x
        for s in range(1, int(min(m, len(above))) + 1)
        for x in combinations(sorted(above), s)
        if 0 < ref.support(x, could_hold) < k
    ]
