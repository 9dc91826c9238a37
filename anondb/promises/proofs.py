"""The proof query of each model: plain SQL over a sealed file that returns the violations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction

from anondb.engine import Table, Tables, load, reads
from anondb.engine.trees import exp, united
from anondb.errors import InputError
from anondb.models.named import model_of
from anondb.promises.check import support_rule
from anondb.promises.spec import Shown
from anondb.release.objects import SEALED_SCHEMA

Manifest = Mapping[str, str]
_TRANSACTIONS = Table("", SEALED_SCHEMA, "transactions")
_IDS = Table("", SEALED_SCHEMA, "transaction_ids")
_MEMBERS = Table("", SEALED_SCHEMA, "released_items")
_RECORDS = Table("", SEALED_SCHEMA, "records")
_BUCKETS = Table("", SEALED_SCHEMA, "buckets")


def km(manifest: Manifest, _: Shown) -> exp.Query:
    """The query of k^m-anonymity: combinations of at most m items that occur in 1 to k-1 transactions. The shape depends on
    m: one SELECT for each size. For m = inf it suffices to check whole transactions."""
    k, m = int(manifest["k"]), manifest["m"]
    if m == "inf":
        return load("proof/km_inf").bind({"transactions": _TRANSACTIONS}, {"k": k})
    return united([_rare_combinations(size, k) for size in range(1, int(m) + 1)])


def _rare_combinations(size: int, k: int) -> exp.Select:
    """The combinations of ``size`` items that occur in 1 to k-1 transactions."""
    query = _combinations(size)
    items = query.selects[1].this.expressions
    words = exp.Literal.string(f"a combination of {size} occurs in too few transactions").as_("violation")
    rare = exp.LT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(k))
    columns = words, query.selects[1].copy(), exp.Count(this=exp.Star()).as_("support")
    return query.select(*columns, append=False).group_by(*(i.copy() for i in items)).having(rare)


def _combinations(size: int, condition: exp.Expr | None = None) -> exp.Select:
    """Each transaction with each combination of ``size`` of its items; only items that meet ``condition``."""
    held = exp.select("transaction_id", "item").distinct().from_(_TRANSACTIONS.expression())
    held = held if condition is None else held.where(condition)
    items = [exp.column("item", f"held_{n}") for n in range(1, size + 1)]
    query = exp.select(exp.column("transaction_id", "held_1"), exp.Array(expressions=items).as_("items"))
    query = query.from_(held.subquery("held_1"))
    for n in range(2, size + 1):
        same = exp.column("transaction_id", f"held_{n}").eq(exp.column("transaction_id", f"held_{n - 1}"))
        later = exp.GT(this=items[n - 1].copy(), expression=items[n - 2].copy())
        query = query.join(held.copy().subquery(f"held_{n}"), on=exp.and_(same, later))
    return query


def _combinations_up_to(most: int, excluded: exp.Query) -> exp.Query:
    """Each transaction with each combination of 1 to ``most`` of its items, without the ``excluded`` items."""
    condition = exp.column("item").isin(query=excluded.copy()).not_()
    return united([_combinations(size, condition) for size in range(1, most + 1)])


def _listed(name: str, items: Sequence[str]) -> exp.Select:
    """``(item)``: the items as literals in the query."""
    if not items:
        return exp.select(exp.cast(exp.null(), "TEXT").as_("item")).where(exp.false())
    return exp.select("item").from_(exp.values([(i,) for i in items], alias=name, columns=["item"]))


def constraints(manifest: Manifest, shown: Shown) -> exp.Query:
    """The query of the owner's constraints; the constraints of Pgen hold if the k^m query for every m returns nothing
    (docs/algorithms/coat.md#pgen)."""
    privacy = shown.privacy
    if isinstance(privacy, str):
        return km({**manifest, "m": "inf"}, shown)
    if privacy is None:
        raise InputError(
            "The proof of this release needs the privacy constraints, which show what the owner thinks attackers know.",
            code="no_proof",
            hint="Say --include-constraints if they may be published.",
        )
    pairs = [(privacy.ids[n], item) for n in range(len(privacy)) for item in privacy.items(n)]
    listed = exp.select("set_id", "item").from_(exp.values(pairs, alias="listed", columns=["set_id", "item"]))
    tables: Tables = {"listed": listed, "released_items": _MEMBERS, "transactions": _TRANSACTIONS}
    return load("proof/constraints").bind(tables, {"k": int(manifest["k"])})


def hkp(manifest: Manifest, shown: Shown) -> exp.Query:
    """The query of (h,k,p)-coherence: supports of up to p public items, and shares of private items (Xu et al. 2008)."""
    if not shown.private or manifest["p"] == "inf":
        raise InputError(
            "The proof of this release needs the private items, and a finite p.",
            code="no_proof",
            hint="Say --include-constraints if the names of the private items may be published.",
        )
    private = _listed("private", shown.private)
    combinations = _combinations_up_to(int(manifest["p"]), private)
    h = Fraction(manifest["h"])
    tables: Tables = {"combinations": combinations, "transactions": _TRANSACTIONS, "private": private}
    values = {"k": int(manifest["k"]), "numerator": h.numerator, "denominator": h.denominator}
    return load("proof/hkp").bind(tables, values)


def k(manifest: Manifest, _: Shown) -> exp.Query:
    """The query of transactional k-anonymity: classes of equal transactions smaller than k (He and Naughton 2009)."""
    tables = {"transaction_ids": _IDS, "transactions": _TRANSACTIONS}
    return load("proof/k").bind(tables, {"k": int(manifest["k"])})


def kkm(manifest: Manifest, shown: Shown) -> exp.Query:
    """The query of (k,k^m)-anonymity: small classes, and rare combinations of nonsensitive items (Poulis et al. 2013). For m
    = inf it suffices to check whole transactions. Equal items of different classes then count as different items, and only
    transactions of the same class contain each other."""
    k, classes, sensitive = int(manifest["k"]), _classes(shown), _sensitive(manifest)
    released: Tables = {"records": _RECORDS, "transaction_ids": _IDS, "transactions": _TRANSACTIONS}
    parts = [load("proof/records").bind(released, {}), load("proof/few_records").bind({"classes": classes}, {"k": k})]
    if manifest["m"] == "inf":
        tables: Tables = {"transactions": _TRANSACTIONS, "classes": classes, "sensitive": sensitive}
        by_class = load("proof/items_of_classes").bind(tables, {})
        contained = load("proof/km_inf").bind({"transactions": by_class}, {"k": k})
        columns = "violation, list_transform(items, lambda x : x.item) AS items, support"
        parts.append(reads.rows(contained, columns).tree())
    else:
        combinations = _combinations_up_to(int(manifest["m"]), sensitive)
        parts.append(load("proof/kkm").bind({"combinations": combinations, "classes": classes}, {"k": k}))
    return _all_of(parts)


def klm(manifest: Manifest, shown: Shown) -> exp.Query:
    """The query of (k,l^m)-diversity: that of (k,k^m), and sensitive items that are too frequent (same paper, section 5)."""
    sensitive = _sensitive(manifest)
    tables: Tables = {"classes": _classes(shown), "transactions": _TRANSACTIONS, "sensitive": sensitive}
    values = {"l": int(manifest["l"])}
    if manifest["m"] == "inf":
        exposed = load("proof/klm_inf").bind(tables, values)
    else:
        combinations = _combinations_up_to(int(manifest["m"]), sensitive)
        exposed = load("proof/klm").bind({**tables, "combinations": combinations}, values)
    return _all_of([kkm(manifest, shown), exposed])


def _all_of(parts: Sequence[exp.Query]) -> exp.Query:
    """The union of the rows of all parts."""
    rows = [exp.select("violation", "items", "support").from_(part.subquery(f"part{n}")) for n, part in enumerate(parts)]
    return united(rows)


def _classes(shown: Shown) -> exp.Select:
    """``(transaction_id, class)``: records with equal published values, including NULL, have the same class."""
    columns: list[exp.Expr] = [reads.named(c, "records") for c in shown.values]
    order = exp.Order(expressions=[exp.Ordered(this=c, nulls_first=True) for c in columns or [exp.convert(1)]])
    number = exp.Window(this=exp.Anonymous(this="dense_rank"), order=order)
    records = exp.alias_(_RECORDS.expression(), "records", table=True)
    return exp.select(exp.column("transaction_id", "records"), number.as_("class")).from_(records)


def _sensitive(manifest: Manifest) -> exp.Select:
    """The sensitive items that the manifest names."""
    return _listed("sensitive", [str(item) for item in json.loads(manifest["sensitive"])])


def anatomy(manifest: Manifest, _: Shown) -> exp.Query:
    """The query of anatomy: values that are too frequent in a bucket and column, and malformed buckets (ICCSE 2010)."""
    l = Fraction(manifest["l"])
    values = {
        "numerator": l.numerator,
        "denominator": l.denominator,
        "columns": int(manifest.get("columns", 0)),
        "count_empty": manifest["empty_values"] == "count",
        "transactions": int(manifest["transactions"]),
    }
    return load("proof/anatomy").bind({"buckets": _BUCKETS}, values)


def item_supports(manifest: Manifest) -> exp.Query:
    """The query of the item supports of any model: statements of the verifier's definition that they break."""
    rule = support_rule(model_of(manifest))
    items = Table("", SEALED_SCHEMA, "transaction_items").expression()
    labels = Table("", SEALED_SCHEMA, "labels").expression()
    tables: Tables = {
        "transactions": exp.select(*(exp.column(c).as_(n) for c, n in (("transaction_id", "tid"), ("item_id", "item"))))
        .distinct()
        .from_(items),
        "items": exp.select(exp.column("item_id").as_("item"), exp.column("item").as_("label")).from_(labels),
        "released_items": _MEMBERS,
        "item_supports": Table("", SEALED_SCHEMA, "item_supports"),
    }
    violations = load("warehouse/verify/item_supports").bind(tables, {"k": rule.k, "m": rule.m})
    shown = "CASE WHEN item IS NULL THEN [released_item] ELSE [released_item, item] END AS items"
    return reads.rows(violations, f"violation, {shown}, support").tree()
