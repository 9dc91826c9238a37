"""The verifier of k^m-anonymity (Terrovitis et al. 2008; Liu and Wang, PAKDD 2010, Definition 1;
docs/algorithms/models.md#km).

An itemset X with 1 <= |X| <= m is a threat if 0 < sup(X) < k; the promise holds if no itemset is a threat. A threat exists
if and only if a minimal one does, and all proper subsets of a minimal threat are frequent. So the verifier goes through the
sizes in order and counts only itemsets whose subsets are frequent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from anondb.engine import Engine, Query, Rows, Runner, Table, put_integers, query_of, reads
from anondb.engine.telling import told
from anondb.engine.texts import sql
from anondb.errors import BudgetExceeded, InputError
from anondb.models.transactional import KmAnonymity
from anondb.verify import supersets
from anondb.verify import work as limits
from anondb.verify.result import Verification, Witness
from anondb.verify.work import Bound, Work, bound, check_budget, work

NO_LIMIT = 2**62
AT_ONCE = 10_000_000  # rows of transactions that are joined with themselves at once
ITEMSETS = "itemset, item, support"  # the columns of candidates
CODED = "one.tid, other.code AS item"
SIZE = "count(*) AS itemsets, CAST(coalesce(sum(support), 0) AS BIGINT) AS occurrences"
SHORTCUT_SIZE = 4  # from this size on, first check whether the promise holds for every m ...
SHORTCUT_ROWS = 20_000_000  # ... if the join of this size has at least this many rows


def verify_km(
    engine: Runner,
    transactions: Table,
    items: Table,
    model: KmAnonymity,
    *,
    witnesses: int = 0,
    chunk_rows: int | None = None,
) -> Verification:
    """Check k^m-anonymity of published transactions by the definition.

    Args:
        transactions: ``(tid INTEGER, item INTEGER)``, each pair once. A transaction without items has no row and
            does not matter.
        items: ``(item INTEGER, label VARCHAR)``, read for witnesses only.
        chunk_rows: the rows of one aggregate, which decide how much memory it takes; by default ``work.CHUNK_ROWS``.

    Returns:
        For finite m, ``violations`` is the number of minimal threats of at most m items (an m beyond the longest
        transaction is that length). For m infinite it is the number of distinct non-empty transactions t with fewer
        than k transactions u that contain t, which is zero if and only if no itemset of any size is a threat.

    Raises:
        InputError: ``not_on_engine``: witnesses, or m infinite, where only portable statements run.
    """
    if model.k == 1:
        return Verification(model, True, 0)
    if engine.portable_only and (witnesses or model.m == math.inf):
        raise InputError(
            "Witnesses, and m = inf, need statements that only DuckDB runs.",
            code="not_on_engine",
            hint="Read the release into DuckDB, and verify it there.",
        )
    with work(engine, chunk_rows) as place:
        if model.m == math.inf:
            violations, seen = _infinite(place, transactions, items, model.k, witnesses)
        else:
            violations, seen = _finite(place, transactions, items, model.k, int(model.m), witnesses)
    return Verification(model, violations == 0, violations, tuple(seen))


def _infinite(place: Work[Runner], transactions: Table, items: Table, k: int, wanted: int) -> tuple[int, list[Witness]]:
    codes = place.table("codes", "warehouse/verify/codes", {"transactions": transactions}, least=1)
    coded = place.table("coded", reads.joined(transactions, codes, "item", CODED, order="tid, item"))
    few = supersets.few_supersets(place, codes, supersets.plan(place, coded, k), k)
    if not few.count or not wanted:
        return few.count, []
    names = place.table("names", reads.joined(codes, items, "item", "one.code, other.label"))
    return few.count, supersets.witnesses(place, few, names, wanted)


def _finite(
    place: Work[Runner], transactions: Table, items: Table, k: int, m: int, wanted: int
) -> tuple[int, list[Witness]]:
    if m == 1 and not wanted:
        return place.count(_rare_items(transactions, k)), []
    if m == 2 and not wanted:  # usual for a release: lengths of transactions need not be counted if there are few items
        few = place.row("warehouse/verify/item_profile", {"transactions": transactions}, k=k)
        most_rows = few["occurrences"] * (few["items"] - 1) // 2
        if not few["rare_items"] and most_rows <= limits.MAX_JOINED_ROWS:
            return _rare_pairs(place, transactions, most_rows, few["items"], k), []
    profile = place.row("warehouse/verify/profile", {"transactions": transactions}, k=k)
    violations = profile["rare_items"]
    seen: list[Witness] = []
    if violations and wanted:
        tables: Bound = {"rare": _rare_items(transactions, k), "items": items}
        rows = place.engine.fetch("warehouse/verify/rare_item_labels", tables, most=wanted, how_many=wanted)
        seen = [Witness((str(x),), int(n)) for x, n in zip(rows["label"], rows["support"], strict=True)]
    m = min(m, profile["longest"])
    if m < 2:
        return violations, seen
    if m == 2 and not violations and not wanted:
        return _rare_pairs(place, transactions, profile["pair_rows"], profile["items"], k), []

    codes = place.table("codes", "warehouse/verify/codes", {"transactions": transactions}, least=k)
    coded = place.table("coded", reads.joined(transactions, codes, "item", CODED, order="tid, item"))
    names = place.table("names", reads.joined(codes, items, "item", "one.code, other.label")) if wanted else None
    if violations:
        profile = place.row("warehouse/verify/profile", {"transactions": coded}, k=k)
    search = _Search(place, k, codes, coded, names, wanted, violations, seen)
    search.run(min(m, profile["longest"]), profile["pair_rows"])
    return search.violations, search.witnesses


def _rare_pairs(place: Work[Runner], transactions: Table, rows: int, items: int, k: int) -> int:
    """The number of rare pairs of items that are all frequent, counted without codes."""
    threats = 0
    ranges = _pair_ranges(place, transactions, rows, items)
    parts = _parts(place, transactions) if len(ranges) == 1 else []
    if len(parts) > 1 and items * (items - 1) // 2 * len(parts) <= place.chunk_rows:
        return _pairs_of_parts(place, parts, k)
    for low, high in told(place.engine.progress, "counting pairs of items", ranges):
        values = {"low": low, "high": high, "most": k - 1}
        threats += place.count(query_of("warehouse/verify/pairs", {"transactions": transactions}, values))
    return threats


def _parts(place: Work[Runner], transactions: Table) -> list[Query]:
    """The transactions in parts of about ``AT_ONCE`` rows, for engines that need not read all of them for each part: a join
    of each part with itself takes less time and memory than one of all."""
    if place.engine.portable_only:
        return []
    size = place.row(reads.rows(transactions, "count(*) AS n, CAST(coalesce(max(tid), 0) AS BIGINT) AS last"))
    step = -(-size["last"] * AT_ONCE // max(size["n"], 1)) or 1
    ranges = [sql("tid BETWEEN {} AND {}", first, first + step - 1) for first in range(1, size["last"] + 1, step)]
    return [reads.rows(transactions, "tid, item", where=tids) for tids in ranges]


def _pairs_of_parts(place: Work[Runner], parts: Sequence[Query], k: int) -> int:
    """The number of rare pairs, from the supports of all pairs in parts of the transactions."""
    every = {"low": -(2**31), "high": 2**31 - 1, "most": NO_LIMIT}
    counted = [
        place.table(f"pairs_{n}", query_of("warehouse/verify/pairs", {"transactions": part}, every))
        for n, part in enumerate(told(place.engine.progress, "counting pairs of items", parts))
    ]
    supports = reads.union([reads.rows(table, ITEMSETS) for table in counted])
    rare = reads.rows(reads.summed(supports, "itemset, item", "support"), ITEMSETS, where=sql("support < {}", k))
    return place.count(rare)


def _pair_ranges(place: Work[Runner], transactions: Table, rows: int, items: int) -> list[tuple[int, int]]:
    """Ranges of the first item of a pair: a single range, unless the pairs would take too much memory."""
    check_budget(rows, limits.MAX_JOINED_ROWS, "pairs of items")
    if min(rows, items * (items - 1) // 2) <= place.chunk_rows:
        return [(-(2**31), 2**31 - 1)]
    name, tables = "warehouse/verify/pair_ranges", {"transactions": transactions}
    ranges = place.engine.fetch(name, tables, most=limits.MAX_RANGES, chunk=place.chunk_rows)
    return [(int(low), int(high)) for low, high in zip(ranges["low"], ranges["high"], strict=True)]


@dataclass
class _Search:
    """A search for minimal threats of two or more items, size by size.

    A frequent itemset of size s is a row ``(id, itemset, item, support)``, where ``itemset`` is the id of the frequent
    itemset of size s-1 without the last item, and ``item`` the last item. An occurrence is a row ``(tid, itemset, prefix,
    item)``: a transaction, the id of a frequent itemset in it, the id of that itemset without its last item, and the last
    item. Two occurrences in a transaction with equal prefix form a candidate of the next size; its other subsets are
    looked up by id.
    """

    place: Work[Runner]
    k: int
    codes: Table
    coded: Table
    names: Table | None
    wanted: int
    violations: int
    witnesses: list[Witness]
    levels: list[Table] = field(default_factory=list)  # frequent itemsets of size 1, 2, ...
    shortcut_tried: bool = False

    def run(self, m: int, pair_rows: int) -> None:
        """Search the sizes from 2 to m while there are candidates."""
        place = self.place
        frequent = place.table("frequent_1", reads.rows(self.codes, "code AS id, 0 AS itemset, code AS item, support"))
        self.levels = [frequent]
        subsets = place.table("subsets_1", reads.rows(frequent, "id, 0 AS position, 0 AS subset", where="FALSE"))
        occurrences = self.coded
        size = place.row(reads.rows(frequent, SIZE))
        for s in range(2, m + 1):
            ranges = self._ranges(s, occurrences, size, pair_rows)
            rows = sum(n for *_, n in ranges)
            if not ranges or (s >= SHORTCUT_SIZE and rows >= SHORTCUT_ROWS and self._holds_for_every_m(rows)):
                return
            if not self._affordable(rows, limits.MAX_JOINED_ROWS, f"itemsets of {s} items"):
                return
            if s == m:
                for low, high, _ in told(place.engine.progress, f"counting sets of {s} items", ranges):
                    self._threats(s, self._candidates(s, occurrences, low, high, self.k - 1), subsets)
                return
            parts = []
            for i, (low, high, _) in enumerate(told(place.engine.progress, f"counting sets of {s} items", ranges)):
                candidates = place.table("candidates", self._candidates(s, occurrences, low, high, NO_LIMIT))
                self._threats(s, candidates, subsets)
                parts.append(place.table(f"part_{i}", reads.rows(candidates, ITEMSETS, where=sql("support >= {}", self.k))))
                place.drop(candidates)
            itemsets = reads.union([reads.rows(part, ITEMSETS) for part in parts])
            fresh = place.table(f"frequent_{s}", "warehouse/verify/frequent", {"itemsets": itemsets})
            place.drop(*parts)
            size = place.row(reads.rows(fresh, SIZE))
            what = f"occurrences of frequent itemsets of {s} items"
            if not self._affordable(size["occurrences"], limits.MAX_STORED_ROWS, what):
                return
            tables = {"fresh": fresh, "frequent": frequent, "subsets": subsets}
            fresh_subsets = place.table(f"subsets_{s}", "warehouse/verify/subsets", tables, last=s - 1)
            source = {"transactions" if s == 2 else "occurrences": occurrences, "frequent": fresh}
            name = "warehouse/verify/pair_occurrences" if s == 2 else "warehouse/verify/joined_occurrences"
            next_occurrences = place.table(f"occurrences_{s}", name, source)
            place.drop(subsets, *([occurrences] if s > 2 else []))
            self.levels.append(fresh)
            frequent, subsets, occurrences = fresh, fresh_subsets, next_occurrences

    def _ranges(self, s: int, occurrences: Table, size: dict[str, int], pair_rows: int) -> list[tuple[int, int, int]]:
        """Ranges of the first item (size 2) or of the prefix, with the rows of their joins; empty without candidates."""
        if s == 2:
            ranges = _pair_ranges(self.place, occurrences, pair_rows, size["itemsets"])
            return [(low, high, pair_rows // len(ranges)) for low, high in ranges] if pair_rows else []
        name, tables = "warehouse/verify/joined_ranges", {"occurrences": occurrences}
        joined = self.place.engine.fetch(name, tables, most=limits.MAX_RANGES, chunk=self.place.chunk_rows)
        columns = (joined[name].astype(int).tolist() for name in ("low", "high", "rows_"))
        return list(zip(*columns, strict=True))

    def _affordable(self, rows: int, limit: int, what: str) -> bool:
        """Whether the rows are within the limit; if not, False if the promise holds for every m, else an error."""
        if rows > limit and self._holds_for_every_m(limits.MAX_JOINED_ROWS):
            return False
        check_budget(rows, limit, what)
        return True

    def _holds_for_every_m(self, rows: int) -> bool:
        """Whether every transaction has k supersets, so no itemset is a threat; False if this takes ``rows`` or more."""
        if self.violations or self.shortcut_tried or self.place.engine.portable_only:
            return False
        self.shortcut_tried = True
        try:
            planned = supersets.plan(self.place, self.coded, self.k)
        except BudgetExceeded:
            return False
        return planned.candidates < rows and not supersets.few_supersets(self.place, self.codes, planned, self.k).count

    def _candidates(self, s: int, occurrences: Table, low: int, high: int, most: int) -> Query:
        """The candidates of one range whose supports are at most ``most``."""
        if s == 2:
            return bound("warehouse/verify/pairs", {"transactions": occurrences}, low=low, high=high, most=most)
        return bound("warehouse/verify/joined", {"occurrences": occurrences}, low=low, high=high, most=most)

    def _threats(self, s: int, candidates: Rows, subsets: Table) -> None:
        """Count the minimal threats among the candidates: those with a support below k and only frequent subsets."""
        threats = reads.rows(candidates, ITEMSETS, where=sql("support < {}", self.k))
        for position in range(1, s - 1):
            tables: Bound = {"candidates": threats, "subsets": subsets, "frequent": self.levels[-1]}
            threats = bound("warehouse/verify/with_subset", tables, position=position)
        if sum(len(w.items) < s for w in self.witnesses) < self.wanted:
            kept = self.place.table("threats", threats)
            self.violations += self.place.count(kept)
            self._remember(s, kept)
            self.place.drop(kept)
        else:
            self.violations += self.place.count(threats)

    def _remember(self, s: int, threats: Table) -> None:
        """Keep the first threats by size and labels. The query has one join for each item, so it depends on the size."""
        assert self.names is not None
        tree = reads.rows(threats, "itemset, item, support")
        for i in range(s):
            kept = "".join(f", one.label_{j}" for j in range(i))
            coded = f"one.itemset, one.support{kept}, other.label AS label_{i}"
            tree = reads.joined(tree, self.names, "item = code", coded)
            if i < s - 1:
                above = f"other.itemset, other.item, one.support{kept}, one.label_{i}"
                tree = reads.joined(tree, self.levels[s - 2 - i], "itemset = id", above)
        labels = ", ".join(f"label_{i}" for i in range(s))
        tree = reads.rows(tree, f"support, {labels}", order=f"list_sort([{labels}])").first(self.wanted)
        rows = self.place.engine.fetch(tree, most=self.wanted)
        columns = [rows[f"label_{i}"] for i in range(s)]
        for support, *parts in zip(rows["support"], *columns, strict=True):
            self.witnesses.append(Witness(tuple(sorted(str(x) for x in parts)), int(support)))
        self.witnesses.sort(key=lambda w: (len(w.items), w.items))
        del self.witnesses[self.wanted :]


def _rare_items(transactions: Table, k: int) -> Query:
    return reads.counted(transactions, "item", count="support", having=f"count(*) < {k}")


def verify_levels(
    engine: Engine, transactions: Table, items: Table, released_items: Table, model: KmAnonymity, *, witnesses: int = 0
) -> Verification:
    """Check a local recoding against an attacker who reads released items of all levels together
    (docs/algorithms/models.md#levels).

    An item may be published as itself in one transaction and as a node above it in another. The check by labels assumes an
    attacker who knows released items. Here the attacker knows up to m original items, and a transaction is a candidate if
    for each of them it holds some released item, of any level, that stands for it. A threat is a set of 1 to m original
    items with at least one and fewer than k candidates. Without a threat by labels there is none across levels: the
    released items of a candidate that stand for the known items are at most m, so at least k transactions hold all of them.
    The converse is false, so the two checks may differ.

    Args:
        witnesses: maximal number of violations to return. Of the original items that the same released items stand for,
            only the first by label is shown.

    Returns:
        ``violations`` is that of ``verify_km``. Original items that the same released items stand for count once, since
        knowing several of them reveals no more than knowing one.
    """
    named = "one.item AS label, other.item AS released"
    shown = reads.joined(released_items, items, "released_item = label", named, order="one.item, other.item")
    cover_rows = engine.select(shown)
    covers: dict[str, list[int]] = {}
    for label, released in zip(cover_rows["label"].tolist(), cover_rows["released"].tolist(), strict=True):
        covers.setdefault(label, []).append(released)
    kinds: dict[tuple[int, ...], str] = {}
    for label in sorted(covers):
        kinds.setdefault(tuple(covers[label]), label)
    pairs = [(kind, released) for kind, cover in enumerate(kinds) for released in cover]
    with work(engine) as place:
        by_kind = put_integers(engine, "verify_kinds", kind=[k for k, _ in pairs], released=[r for _, r in pairs])
        held = reads.joined(transactions, by_kind, "item = released", "one.tid, other.kind AS item", distinct=True)
        rows = place.table("level_rows", held)
        engine.drop(by_kind)
        names = engine.put(
            "verify_kind_names", {"item": ("INTEGER", range(len(kinds))), "label": ("VARCHAR", list(kinds.values()))}
        )
        result = verify_km(engine, rows, names, model, witnesses=witnesses)
        engine.drop(names)
        return result
