"""Naive reference implementations: sets, itertools and exact fractions, written from the definitions alone.

Nothing here is fast and nothing here is shared with the package: tests compare the two. Pages such as models.md#km are those
of docs/algorithms. A taxonomy is a dict from inner node to its ordered children, and the label of its root; transactions are
collections of item labels; a generalized item of a set-based recoding (a block) is a sorted tuple of labels. Repeats inside
a transaction collapse, except where bags are asked for (LCG, GGD, Clump).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product

Children = Mapping[str, Sequence[str]]
Transactions = Sequence[Collection[str]]
Bound = int | float  # m: a positive integer or math.inf
Itemset = tuple[str, ...]  # sorted labels
Block = tuple[str, ...]  # sorted labels of the items that one released item stands for
Weight = Callable[[Block], Fraction | int]


class UnknownItem(ValueError):
    """Some item is not a leaf of the taxonomy (conventions.md#taxonomies); `items` holds the offenders, sorted."""

    def __init__(self, items: Iterable[str]) -> None:
        self.items = sorted(items)
        super().__init__(f"{len(self.items)} unknown items")


class Infeasible(ValueError):
    """No output of this algorithm keeps the promise (conventions.md#outcomes)."""


class UtilityViolated(ValueError):
    """COAT suppressed more than s percent of the items; `suppressed` holds them, sorted (coat.md)."""

    def __init__(self, suppressed: Iterable[str]) -> None:
        self.suppressed = sorted(suppressed)
        super().__init__(f"{len(self.suppressed)} items suppressed")


class NoProgress(ValueError):
    """The printed COAT would loop forever (coat.md#r2)."""


# --- taxonomy, recoding --------------------------------------------------------------------------------------------


def breadth_first(children: Children, root: str) -> list[str]:
    """All nodes, level by level, children in the given order (conventions.md#ties)."""
    order = [root]
    for node in order:  # the list grows while it is read
        order.extend(children.get(node, ()))
    return order


def leaves(children: Children, node: str) -> list[str]:
    """The leaves below a node; a leaf is its own only leaf (conventions.md#taxonomies)."""
    return [v for v in breadth_first(children, node) if not children.get(v)]


def parents(children: Children) -> dict[str, str]:
    """Each node but the root, with its parent."""
    return {child: node for node, below in children.items() for child in below}


def ancestors(children: Children, node: str) -> list[str]:
    """The node itself, its parent, ..., the root (ancestors include the node)."""
    parent = parents(children)
    path = [node]
    while path[-1] in parent:
        path.append(parent[path[-1]])
    return path


def lm(children: Children, root: str, node: str) -> Fraction:
    """LM of a node: (#leaves - 1) / (M - 1), 0 where M = 1 (2.1)."""
    m = len(leaves(children, root))
    return Fraction(len(leaves(children, node)) - 1, m - 1) if m > 1 else Fraction(0)


def ncp(children: Children, root: str, node: str) -> Fraction:
    """NCP of a node: 0 where it stands for one item, else #leaves / M (metrics.md#ncp)."""
    size = len(leaves(children, node))
    return Fraction(size, len(leaves(children, root))) if size > 1 else Fraction(0)


def unknown_items(children: Children, root: str, transactions: Transactions) -> list[str]:
    """Items that are not leaves of the taxonomy, sorted (conventions.md#taxonomies)."""
    return sorted({i for t in transactions for i in t} - set(leaves(children, root)))


def is_cut(children: Children, root: str, nodes: Collection[str]) -> bool:
    """Exactly one node on every path from the root to a leaf (conventions.md#taxonomies)."""
    return all(len(set(ancestors(children, leaf)) & set(nodes)) == 1 for leaf in leaves(children, root))


def all_cuts(children: Children, node: str) -> Iterator[frozenset[str]]:
    """Every cut of the subtree at a node: the node alone, or one cut for each child."""
    yield frozenset({node})
    if children.get(node):
        for parts in product(*(list(all_cuts(children, child)) for child in children[node])):
            yield frozenset().union(*parts)


def generalize(
    children: Children, transactions: Transactions, cut: Collection[str], suppressed: Collection[str] = ()
) -> list[frozenset[str]]:
    """g(D, Cut): each item becomes its cut node, repeats collapse, suppressed cut nodes vanish (hghs.md)."""
    image = {leaf: node for node in cut for leaf in leaves(children, node)}
    if unknown := {i for t in transactions for i in t} - set(image):
        raise UnknownItem(unknown)
    return [frozenset(image[i] for i in t) - set(suppressed) for t in transactions]


# --- support, k^m, transactional k --------------------------------------------------------------------------------


def support(itemset: Collection[str], transactions: Transactions) -> int:
    """Number of transactions that contain every element; sup of the empty set is |D| (conventions.md#data)."""
    return sum(set(itemset) <= set(t) for t in transactions)


def supported_itemsets(transactions: Transactions, m: Bound) -> list[Itemset]:
    """Every itemset of 1..m items that at least one transaction contains, sorted."""
    found = {
        x for t in transactions for s in range(1, int(min(m, len(set(t)))) + 1) for x in combinations(sorted(set(t)), s)
    }
    return sorted(found)


def threats(transactions: Transactions, k: int, m: Bound) -> list[Itemset]:
    """All X with 1 <= |X| <= m and 0 < sup(X) < k, sorted (models.md#km)."""
    return [x for x in supported_itemsets(transactions, m) if support(x, transactions) < k]


def minimal_threats(transactions: Transactions, k: int, m: Bound) -> list[Itemset]:
    """The threats that have no threat as a proper subset, sorted (models.md#km)."""
    found = threats(transactions, k, m)
    return [x for x in found if not any(set(y) < set(x) for y in found)]


def is_km_anonymous(transactions: Transactions, k: int, m: Bound) -> bool:
    """No threat (models.md#km). m is an integer or math.inf."""
    return not threats(transactions, k, m)


def rare_transactions(transactions: Transactions, k: int) -> list[Itemset]:
    """Distinct non-empty transactions contained in fewer than k transactions, sorted; none iff k^inf (models.md#km)."""
    return sorted({tuple(sorted(set(t))) for t in transactions if t and support(t, transactions) < k})


def count_rare_transactions(transactions: Transactions, k: int) -> int:
    """The number of violations of k^inf-anonymity."""
    return len(rare_transactions(transactions, k))


# --- privacy constraints, utility constraints ----------------------------------------------------------------------


def constraint_image(constraint: Collection[str], image: Mapping[str, str | None]) -> frozenset[str]:
    """q, the released items of a constraint: None is suppressed, one without an entry is itself (models.md#constraints)."""
    released = {image.get(i, i) for i in constraint}
    return frozenset(q for q in released if q is not None)


def constraint_satisfied(
    transactions: Transactions, constraint: Collection[str], k: int, image: Mapping[str, str | None] | None = None
) -> bool:
    """q empty, or sup(q) >= k, or q unsupported with no proper part of a support in (0, k) (models.md#constraints)."""
    q = constraint_image(constraint, image or {})
    if not q or support(q, transactions) >= k:
        return True
    if support(q, transactions) > 0:
        return False
    subsets = (x for s in range(1, len(q)) for x in combinations(sorted(q), s))
    return not any(0 < support(x, transactions) < k for x in subsets)


def utility_satisfied(
    blocks: Collection[Block],
    suppressed: Collection[str],
    utility: Sequence[Collection[str]],
    domain: Collection[str],
    s_percent: Fraction | int | str,
) -> bool:
    """Each block lies in one utility constraint and at most s percent of the domain is suppressed (models.md#utility)."""
    inside = all(any(set(b) <= set(u) for u in utility) for b in blocks)
    return inside and 100 * Fraction(len(set(suppressed))) <= Fraction(s_percent) * len(set(domain))


# --- 2 metrics -----------------------------------------------------------------------------------------------------


def released_as(item: str, published: Collection[str], members: Mapping[str, Collection[str]]) -> str | None:
    """The released item of a published transaction that stands for an original item, None where it is suppressed."""
    found = [g for g in set(published) if item in members[g]]
    if len(found) > 1:
        raise ValueError("released items overlap within a transaction")
    return found[0] if found else None


def taxonomy_members(children: Children, root: str) -> dict[str, list[str]]:
    """What each taxonomy node stands for: the leaves below it (conventions.md#semantics)."""
    return {v: leaves(children, v) for v in breadth_first(children, root)}


def lm_total(
    originals: Transactions, published: Transactions, members: Mapping[str, Collection[str]], domain_size: int
) -> Fraction:
    """Sum over the original occurrences of (size - 1) / (M - 1), 1 where suppressed (2.1)."""
    total = Fraction(0)
    for original, release in zip(originals, published, strict=True):
        for item in set(original):
            g = released_as(item, release, members)
            if g is None:
                total += 1
            elif domain_size > 1:
                total += Fraction(len(set(members[g])) - 1, domain_size - 1)
    return total


def ncp_average(
    originals: Transactions, published: Transactions, members: Mapping[str, Collection[str]], domain_size: int
) -> Fraction:
    """Mean over the original occurrences: 0 for a single item, size / M if generalized, 1 if suppressed (metrics.md#ncp)."""
    losses = []
    for original, release in zip(originals, published, strict=True):
        for item in set(original):
            g = released_as(item, release, members)
            size = domain_size if g is None else len(set(members[g]))
            losses.append(Fraction(0) if g is not None and size == 1 else Fraction(size, domain_size))
    return sum(losses, Fraction(0)) / len(losses) if losses else Fraction(0)


def ul_item(block: Block, published_support: int, domain_size: int, n: int, weight: Fraction | int = 1) -> Fraction:
    """UL version A of one released item: (2^s - 1)/(2^M - 1) * w * sup / N (metrics.md#ul-a)."""
    return Fraction(2 ** len(block) - 1, 2**domain_size - 1) * weight * Fraction(published_support, n)


def ul_a(
    published: Sequence[Collection[Block]],
    domain_size: int,
    weight: Weight = lambda _: 1,
    penalties: Iterable[Fraction | int] = (),
) -> Fraction:
    """UL version A of a dataset; `penalties` are the Y(i) of the suppressed items (metrics.md#ul-a)."""
    counts = Counter(block for t in published for block in set(t))
    total = sum((ul_item(b, c, domain_size, len(published), weight(b)) for b, c in counts.items()), Fraction(0))
    return total + sum(penalties, Fraction(0))


def p_item(size: int, queried: int = 1) -> Fraction:
    """Probability that `queried` given items are all in a uniform non-empty subset of `size` items (metrics.md#are)."""
    return Fraction(2 ** (size - queried), 2**size - 1) if queried <= size else Fraction(0)


def estimate(
    published: Transactions, members: Mapping[str, Collection[str]], query: Collection[str], product_estimator: bool = False
) -> Fraction:
    """Expected number of transactions with all of `query`, set semantics (metrics.md#are); joint unless told otherwise."""
    total = Fraction(0)
    for t in published:
        images = [released_as(item, t, members) for item in set(query)]
        probability = Fraction(1)
        for g, queried in Counter(images).items():
            if g is None:
                probability = Fraction(0)
            elif product_estimator:
                probability *= p_item(len(set(members[g]))) ** queried
            else:
                probability *= p_item(len(set(members[g])), queried)
        total += probability
    return total


def relative_error(actual: int, estimated: Fraction) -> Fraction | None:
    """|a - e| / a; None where a = 0 (metrics.md#are)."""
    return abs(actual - estimated) / actual if actual else None


def avg_re(
    originals: Transactions,
    published: Transactions,
    members: Mapping[str, Collection[str]],
    queries: Sequence[Collection[str]],
    product_estimator: bool = False,
) -> tuple[Fraction | None, int]:
    """(mean relative error over the queries with a > 0 or None, number of those with a = 0) (metrics.md#are)."""
    answers = [(support(q, originals), estimate(published, members, q, product_estimator)) for q in queries]
    errors = [e for e in (relative_error(a, est) for a, est in answers) if e is not None]
    return (sum(errors, Fraction(0)) / len(errors) if errors else None), len(queries) - len(errors)


def error_figures(answers: Sequence[tuple[int, Fraction, int, int]], k: int | None) -> dict[str, Fraction | None]:
    """The figures of a workload's relative errors; answers are (truth, estimate, lower bound, upper bound).

    Each answer's error, its width and the error of the answer 0 are divided by the truth; answers whose truth is 0 have no
    error and are left out.
    """
    kept = [answer for answer in answers if answer[0] > 0]
    errors = [abs(a - e) / a for a, e, _, _ in kept]
    frequent = [abs(a - e) / a for a, e, _, _ in kept if k is not None and a >= k]

    def mean(values: Sequence[Fraction]) -> Fraction | None:
        return sum(values, Fraction(0)) / len(values) if values else None

    def middle(values: Sequence[Fraction]) -> Fraction | None:
        ordered, n = sorted(values), len(values)
        return (ordered[(n - 1) // 2] + ordered[n // 2]) / 2 if n else None

    return {
        "mean": mean(errors),
        "median": middle(errors),
        "mean_frequent": mean(frequent),
        "median_frequent": middle(frequent),
        "always_zero": mean([Fraction(1) for _ in kept]),
        "median_truth": middle([Fraction(a) for a, *_ in kept]),
        "width": middle([Fraction(high - low, a) for a, _, low, high in kept]),
    }


# --- bounds: every original that a release may come from -----------------------------------------------------------


def nonempty_subsets(items: Collection[str]) -> list[frozenset[str]]:
    """All non-empty subsets."""
    ordered = sorted(set(items))
    return [frozenset(x) for s in range(1, len(ordered) + 1) for x in combinations(ordered, s)]


def consistent_originals(
    published: Collection[str], members: Mapping[str, Collection[str]], domain: Collection[str], suppression: str
) -> list[frozenset[str]]:
    """Every item set that one published transaction may come from (conventions.md#semantics).

    Each released item stands for a non-empty subset of its members. Items of the domain that no released item stands
    for may have been there where something was suppressed (`suppression="some"`), not otherwise (`"none"`).
    """
    if suppression not in ("none", "some"):
        raise ValueError("suppression is 'none' or 'some'")
    unknown = set(domain).difference(*members.values()) if suppression == "some" else set()
    choices = [nonempty_subsets(members[g]) for g in sorted(set(published))]
    choices.append([frozenset(), *nonempty_subsets(unknown)])
    return sorted({frozenset().union(*parts) for parts in product(*choices)}, key=sorted)


def true_bounds(
    published: Transactions,
    members: Mapping[str, Collection[str]],
    domain: Collection[str],
    suppression: str,
    predicate: Callable[[frozenset[str]], bool],
) -> tuple[int, int]:
    """Least and greatest number of transactions that satisfy `predicate`, over all consistent originals.

    Transactions are independent of each other, so the extremes add up.
    """
    verdicts = [{predicate(o) for o in consistent_originals(t, members, domain, suppression)} for t in published]
    return sum(v == {True} for v in verdicts), sum(True in v for v in verdicts)


# --- HgHs and mHgHs --------- ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Evaluation:
    """One evaluated cut: the minimal threats inside it, what the suppression scenario removes, and the two costs."""

    cut: list[str]
    threats: list[Itemset]
    suppressed: list[str]
    cost_generalization: Fraction
    cost_suppression: Fraction

    @property
    def cost(self) -> Fraction:
        return self.cost_generalization + self.cost_suppression


@dataclass(frozen=True)
class HghsResult:
    """The best cut found, the minimal threats over all cuts, and every evaluation in order. Lists are sorted."""

    cut: list[str]
    suppressed: list[str]
    cost: Fraction
    minimal_threats: list[Itemset]
    trace: list[Evaluation] = field(repr=False)
    published: list[frozenset[str]] = field(repr=False)
    all_suppressed: bool = False


def minimal_threats_over_cuts(
    children: Children, root: str, transactions: Transactions, k: int, m: Bound, floor: Collection[str] | None = None
) -> list[Itemset]:
    """T (hghs.md#step-0), level by level: the minimal threats of every cut, sorted.

    With `floor`, the taxonomy is truncated at that cut (mhghs.md).
    """
    bottom = leaves(children, root) if floor is None else floor
    above = {v: set(ancestors(children, v)) for v in breadth_first(children, root)}
    nodes = [v for v in breadth_first(children, root) if any(v in above[b] for b in bottom)]
    tids: dict[str, set[int]] = {v: set() for v in above}
    for n, t in enumerate(transactions):
        for v in set().union(*(above[i] for i in t)):
            tids[v].add(n)
    rank = {v: n for n, v in enumerate(nodes)}

    def sup(x: Collection[str]) -> int:
        return len(set.intersection(*(tids[v] for v in x)))

    found: list[Itemset] = []
    frequent: set[tuple[str, ...]] = {()}  # antichains, in breadth-first order
    size = 0
    while frequent and size < m:
        size += 1
        candidates = {
            (*x, v)
            for x in frequent
            for v in nodes
            if (not x or rank[v] > rank[x[-1]]) and not any(v in above[u] or u in above[v] for u in x)
        }
        candidates = {c for c in candidates if all(p in frequent for p in combinations(c, size - 1))}
        found += [tuple(sorted(c)) for c in candidates if 0 < sup(c) < k]
        frequent = {c for c in candidates if sup(c) >= k}
    return sorted(found)


def occurrences_below(children: Children, root: str, transactions: Transactions) -> dict[str, int]:
    """O(v): original leaf occurrences below each node (hghs.md)."""
    counts = Counter(item for t in transactions for item in set(t))
    return {v: sum(counts[leaf] for leaf in leaves(children, v)) for v in breadth_first(children, root)}


def suppression_scenario(
    order: Sequence[str], extra_cost: Mapping[str, Fraction], relevant: Collection[Itemset]
) -> list[str]:
    """The inner loop (hghs.md): keep nodes by descending extra cost (tie: `order`) unless that completes a threat."""
    head: set[str] = set()
    for node in sorted(order, key=lambda v: (-extra_cost[v], order.index(v))):
        if not any(set(x) <= head | {node} for x in relevant):
            head.add(node)
    return sorted(set(order) - head)


def hghs(
    children: Children, root: str, transactions: Transactions, k: int, m: Bound, floor: Collection[str] | None = None
) -> HghsResult:
    """HgHs (hghs.md): from {root}, move to the cheapest child cut while that is strictly cheaper.

    `floor` truncates the taxonomy at a cut, for mHgHs; LM and O stay those of the whole taxonomy and data.
    """
    if unknown := unknown_items(children, root, transactions):
        raise UnknownItem(unknown)
    bottom = set(leaves(children, root) if floor is None else floor)
    order = breadth_first(children, root)
    loss = {v: lm(children, root, v) for v in order}
    below = occurrences_below(children, root, transactions)
    extra = {v: below[v] * (1 - loss[v]) for v in order}
    all_threats = minimal_threats_over_cuts(children, root, transactions, k, m, floor)
    trace: list[Evaluation] = []

    def evaluate(cut: set[str]) -> Evaluation:
        relevant = [x for x in all_threats if set(x) <= cut]
        suppressed = suppression_scenario([v for v in order if v in cut], extra, relevant)
        cost_g = sum((below[v] * loss[v] for v in cut), Fraction(0))
        cost_s = sum((extra[v] for v in suppressed), Fraction(0))
        trace.append(Evaluation(sorted(cut), relevant, suppressed, cost_g, cost_s))
        return trace[-1]

    best = evaluate({root})
    while True:
        inner = [v for v in order if v in best.cut and v not in bottom]
        options = [evaluate((set(best.cut) - {v}) | set(children[v])) for v in inner]
        cheapest = min(options, key=lambda e: e.cost, default=best)  # min keeps the first of equals
        if not cheapest.cost < best.cost:
            break
        best = cheapest
    published = generalize(children, transactions, best.cut, best.suppressed)
    gone = not any(published) and any(transactions)
    return HghsResult(best.cut, best.suppressed, best.cost, all_threats, trace, published, gone)


def mhghs(children: Children, root: str, transactions: Transactions, k: int, m: Bound) -> list[HghsResult]:
    """mHgHs (mhghs.md): round i is HgHs for k^i on the taxonomy truncated at the previous cut; the last round counts."""
    last = int(m) if m != math.inf else max([1, *(len(set(t)) for t in transactions)])
    rounds: list[HghsResult] = []
    for i in range(1, last + 1):
        rounds.append(hghs(children, root, transactions, k, i, floor=rounds[-1].cut if rounds else None))
    return rounds


# --- COAT and Pgen --------- ----------------------------------------------------------------------------------------

Log = list[tuple[str, int | Block] | tuple[str, int | Block, int]]


@dataclass(frozen=True)
class CoatResult:
    """`published` holds the blocks of each transaction, `blocks` all unsuppressed ones; everything is sorted."""

    published: list[list[Block]]
    blocks: list[Block]
    suppressed: list[str]
    log: Log = field(repr=False)
    all_suppressed: bool = False


def pgen(transactions: Transactions, k: int) -> list[Itemset]:
    """Constraints for k^inf (coat.md#pgen): maximal transactions with support < k, longest first, then input order."""
    distinct = sorted(dict.fromkeys(tuple(sorted(set(t))) for t in transactions if t), key=lambda t: -len(t))
    maximal = [t for t in distinct if not any(set(t) < set(u) for u in distinct)]
    return [t for t in maximal if support(t, transactions) < k]


def implicit_constraints(items: Collection[str], m: int) -> list[Itemset]:
    """All m-itemsets in lexicographic order; one constraint of all items where there are fewer than m (coat.md#r7)."""
    ordered = sorted(set(items))
    return list(combinations(ordered, m)) if len(ordered) >= m else [tuple(ordered)] * bool(ordered)


def coat(
    transactions: Transactions,
    k: int,
    privacy: Sequence[Collection[str]] | None = None,
    utility: Sequence[Collection[str]] | None = None,
    s_percent: Fraction | int | str = 100,
    m: Bound = 2,
    weight: Weight = lambda _: 1,
    literal: bool = False,
    domain: Collection[str] | None = None,
) -> CoatResult:
    """COAT (coat.md). No `privacy`: all m-itemsets (m = inf: of the longest length); no `utility`: one block of all items.

    `literal` follows the printed algorithm. Log entries are (constraint, index, support), (generalize, block, support
    of the constraint after) and (suppress, block). Raises UtilityViolated, and NoProgress where the print would loop.
    """
    named = {i for group in (transactions, privacy or (), utility or ()) for x in group for i in x}
    items = set(domain) if domain is not None else named
    if privacy is None:
        size = int(m) if m != math.inf else max((len(set(t)) for t in transactions), default=0)
        privacy = implicit_constraints(items, size) if size else []
    if utility is None:
        utility = [items] if items else []
    if any(not p for p in privacy):
        raise ValueError("empty privacy constraint")
    if sorted(i for u in utility for i in set(u)) != sorted(items) or not named <= items:
        raise ValueError("not_a_partition")

    tids: dict[Block, set[int]] = {(i,): {n for n, t in enumerate(transactions) if i in t} for i in sorted(items)}
    constraints: list[set[Block]] = [{(i,) for i in p} for p in privacy]
    allowed: list[set[Block]] = [{(i,) for i in u} for u in utility]
    suppressed: set[str] = set()
    log: Log = []

    def sup(blocks: Collection[Block]) -> int:
        return len(set(range(len(transactions))).intersection(*(tids[b] for b in blocks)))

    def satisfied(p: set[Block]) -> bool:
        traces = {frozenset(b for b in p if n in tids[b]) for n in range(len(transactions))} - {frozenset()}
        return all(sup(trace) >= k for trace in traces)

    def by_support(p: set[Block]) -> list[Block]:
        return sorted(p, key=lambda b: (len(tids[b]), b))

    def companions(block: Block) -> set[Block]:
        return next(u for u in allowed if block in u) - {block}

    def merge(block: Block, p: set[Block]) -> None:
        def loss(other: Block) -> Fraction:
            union = tuple(sorted(block + other))
            return Fraction(weight(union)) * int(2 ** len(union) - 1) * len(tids[block] | tids[other])

        other = min(sorted(companions(block)), key=loss)
        union = tuple(sorted(block + other))
        tids[union] = tids.pop(block) | tids.pop(other)
        for group in (*constraints, *allowed):
            if group & {block, other}:
                group -= {block, other}
                group.add(union)
        log.append(("generalize", union, sup(p)))

    def suppress(block: Block) -> None:
        for group in (*constraints, *allowed):
            group.discard(block)
        del tids[block]
        suppressed.update(block)
        log.append(("suppress", block))
        if 100 * len(suppressed) > Fraction(s_percent) * len(items):
            raise UtilityViolated(suppressed)

    def step(p: set[Block]) -> None:
        for block in by_support(p):
            if companions(block):
                return merge(block, p)
            if len(tids[block]) < k:
                return suppress(block)
        suppress(by_support(p)[0])

    def printed_step(p: set[Block]) -> None:
        rarest = by_support(p)[0]
        if len(p) > 1 and companions(rarest):
            merge(rarest, p)
        elif len(p) == 1 or len(tids[rarest]) < k:
            suppress(rarest)
        else:
            raise NoProgress

    while unsatisfied := [n for n, p in enumerate(constraints) if not satisfied(p)]:
        chosen = max(unsatisfied, key=lambda n: sup(constraints[n]))  # max keeps the first of equals
        p = constraints[chosen]
        log.append(("constraint", chosen, sup(p)))
        while not satisfied(p):
            (printed_step if literal else step)(p)

    published = [sorted(b for b in tids if n in tids[b]) for n in range(len(transactions))]
    gone = not any(published) and any(transactions)
    return CoatResult(published, sorted(tids), sorted(suppressed), log, gone)


# --- LCG, GGD and Clump --------- -----------------------------------------------------------------------------------


def lcg(children: Children, root: str, bags: Transactions) -> Itemset:
    """Least common generalization of bags, by its closed form, as a sorted bag of nodes (clump.md#r2)."""
    if unknown := {i for x in bags for i in x} - set(breadth_first(children, root)):
        raise UnknownItem(unknown)
    least = {}
    for v in breadth_first(children, root):
        subtree = set(breadth_first(children, v))
        least[v] = min(sum(item in subtree for item in x) for x in bags)
    copies = {v: least[v] - sum(least[c] for c in children.get(v, ())) for v in least}
    return tuple(sorted(v for v in copies for _ in range(copies[v])))


def ggd(children: Children, root: str, bags: Transactions, label: Collection[str]) -> Fraction:
    """GGD(S, t) = |S| * sum of LM over t + number of suppressed occurrences (metrics.md#ggd)."""
    loss = sum((lm(children, root, v) for v in label), Fraction(0))
    return len(bags) * loss + sum(len(x) - len(label) for x in bags)


@dataclass(frozen=True)
class Cluster:
    """Positions of the members in the input, and the bag that is published for each of them."""

    members: list[int]
    label: Itemset


@dataclass(frozen=True)
class ClumpResult:
    """Clusters, their total GGD, and per placed transaction: position, GGD after for each open cluster, choice."""

    clusters: list[Cluster]
    total_ggd: Fraction
    steps: list[tuple[int, dict[int, Fraction], int]] = field(repr=False)


def clump(children: Children, root: str, transactions: Transactions, k: int, objective: str = "total") -> ClumpResult:
    """Clump (clump.md) on bags as given; `objective` is "total" (the GGD after joining) or "increase"."""
    if len(transactions) < k:
        raise Infeasible
    if unknown := unknown_items(children, root, transactions):
        raise UnknownItem(unknown)

    def cost(members: list[int]) -> Fraction:
        bags = [transactions[n] for n in members]
        return ggd(children, root, bags, lcg(children, root, bags))

    order = sorted(range(len(transactions)), key=lambda n: -len(transactions[n]))
    clusters = [[order[j * k]] for j in range(len(transactions) // k)]
    seeds = {c[0] for c in clusters}
    steps = []
    for n in order:
        if n in seeds:
            continue
        candidates = [j for j, c in enumerate(clusters) if len(c) < k] or list(range(len(clusters)))
        after = {j: cost([*clusters[j], n]) for j in candidates}
        before = {j: cost(clusters[j]) if objective == "increase" else Fraction(0) for j in candidates}
        chosen = min(candidates, key=lambda j: after[j] - before[j])
        clusters[chosen].append(n)
        steps.append((n, after, chosen))
    result = [Cluster(sorted(c), lcg(children, root, [transactions[n] for n in c])) for c in clusters]
    return ClumpResult(result, sum((cost(c) for c in clusters), Fraction(0)), steps)


# --- Partition (LG), AA -------- ------------------------------------------------------------------------------------


def partition(
    children: Children, root: str, transactions: Transactions, k: int, leftover: str = "fill", node_ties: str = "label"
) -> list[frozenset[str]]:
    """Partition (partition.md): the published set of every transaction, in order. Too few empty transactions empty all.

    Of equal gains the node with the smallest label is split first: the totals of section 12 need that, although 0.5
    orders nodes breadth first (`node_ties="breadth_first"`). Of equally small groups the one with the smallest sorted
    representation joins the leftover.
    """
    if len(transactions) < k:
        raise Infeasible
    if unknown := unknown_items(children, root, transactions):
        raise UnknownItem(unknown)
    loss = {v: lm(children, root, v) for v in breadth_first(children, root)}
    under = {v: set(leaves(children, v)) for v in loss}
    published: list[frozenset[str]] = [frozenset() for _ in transactions]
    filled = [n for n, t in enumerate(transactions) if t]
    if not filled or len(filled) < k or 0 < len(transactions) - len(filled) < k:
        return published

    def split(group: list[int], nodes: frozenset[str], node: str) -> tuple[dict[frozenset[str], list[int]], list[int]]:
        """Groups of at least k transactions by their new representation, and the leftover."""
        groups: dict[frozenset[str], list[int]] = {}
        for n in group:
            present = {c for c in children[node] if under[c] & set(transactions[n])}
            groups.setdefault(nodes - {node} | present, []).append(n)
        big = {new: members for new, members in groups.items() if len(members) >= k}
        left = [n for new, members in groups.items() if new not in big for n in members]
        short = bool(big) and 0 < len(left) < k
        while short and leftover == "fill" and len(left) < k and any(len(members) > k for members in big.values()):
            _, _, _, n, new = min(
                (len(under[node] & set(transactions[n])) * len(under[node]), sorted(new), sorted(transactions[n]), n, new)
                for new, members in big.items()
                if len(members) > k
                for n in members
            )
            big[new].remove(n)
            left.append(n)
        if short and len(left) < k:
            left += big.pop(min(big, key=lambda new: (len(big[new]), sorted(new))))
        return big, left

    todo: list[tuple[list[int], frozenset[str], frozenset[str]]] = [(filled, frozenset({root}), frozenset())]
    while todo:
        group, nodes, fixed = todo.pop()
        gain = {v: sum(len(under[v] & set(transactions[n])) for n in group) * loss[v] for v in nodes}
        order = sorted(nodes) if node_ties == "label" else breadth_first(children, root)
        inner = [v for v in order if v in nodes - fixed and children.get(v)]
        for node in sorted(inner, key=lambda v: -gain[v]):  # a stable sort
            big, left = split(group, nodes, node)
            if big:
                todo += [(members, new, fixed) for new, members in big.items()]
                if left and leftover == "fill":
                    todo.append((left, nodes, fixed | {node}))
                else:
                    for n in left:
                        published[n] = nodes
                break
        else:
            for n in group:
                published[n] = nodes
    return published


def apriori(
    children: Children, root: str, transactions: Transactions, k: int, m: Bound, start: Collection[str] | None = None
) -> list[str]:
    """AA (apriori.md): the cut, sorted. Raises Infeasible where 0 < non-empty transactions < k.

    `start` is the cut to begin with, all leaves by default.
    """
    if unknown := unknown_items(children, root, transactions):
        raise UnknownItem(unknown)
    if 0 < sum(bool(t) for t in transactions) < k:
        raise Infeasible
    below = occurrences_below(children, root, transactions)
    cut = set(leaves(children, root) if start is None else start)

    def total_ncp(nodes: set[str]) -> Fraction:
        return sum((below[v] * ncp(children, root, v) for v in nodes), Fraction(0))

    def raised(nodes: Collection[str]) -> set[str]:
        """The cut after raising to `nodes`: the highest nodes replace everything below them."""
        keep = set(nodes) | cut
        return {v for v in keep if not set(ancestors(children, v)[1:]) & keep}

    while found := minimal_threats(generalize(children, transactions, cut), k, m):
        worst = min(found, key=lambda x: (len(x), x))
        options = []
        for choice in product(*(ancestors(children, v) for v in worst)):
            new = raised(choice)
            image = {next(a for a in ancestors(children, v) if a in new) for v in worst}
            if new != cut and support(image, generalize(children, transactions, new)) >= k:
                options.append(new)
        cut = min(options, key=lambda c: (total_ncp(c), sorted(c)))
    return sorted(cut)
