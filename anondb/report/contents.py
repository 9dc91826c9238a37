"""What a release shows: read from its own tables alone, those of a sealed file or of a schema in the owner's database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from anondb.engine import DuckDBEngine, reads
from anondb.engine.trees import exp
from anondb.models import json_of
from anondb.models.named import model_of
from anondb.promises import PROMISES
from anondb.release.conditions import ReleasedAttribute
from anondb.release.objects import ANATOMY, ReleasedItem, SchemaName, StoredRelease, read_items

EXAMPLE_LENGTH = 40  # a longer label is no example


Where = tuple[str, tuple[Any, ...]]
Question = tuple[tuple[str, ...], tuple[Where, ...]]  # items and conditions


@dataclass(frozen=True)
class Bounds:
    """Lower bound, estimate and upper bound of the number of transactions that hold all of ``items``, and whose attributes
    are as ``where`` says: name, and values as ``count_bounds`` takes them."""

    items: tuple[str, ...]
    lower: int
    estimate: float
    upper: int
    where: tuple[Where, ...] = ()

    def call(self) -> exp.Anonymous:
        """The call of the macro that returns them."""
        return _call(_listed(self.items), [(name, _listed(values)) for name, values in self.where])

    def to_json(self) -> dict[str, Any]:
        """The bounds and the estimate as JSON values."""
        return {"lower_bound": self.lower, "estimate": self.estimate, "upper_bound": self.upper}


@dataclass(frozen=True)
class Buckets:
    """The buckets of an anatomy: their number, that of columns, and how many transactions a bucket has."""

    buckets: int
    columns: int
    smallest: int
    largest: int


@dataclass(frozen=True)
class Contents:
    """What a release shows."""

    release: StoredRelease  # the release, its kind and manifest
    # transactions, incomplete: the number of transactions, and of those that may have had suppressed occurrences
    transactions: int
    incomplete: int
    items: tuple[ReleasedItem, ...]  # the released items, the most frequent first
    counts: tuple[Bounds, ...]  # what the release says of each original item alone, the most frequent first
    # what it says of one and of two original items, and of one with conditions on attributes
    examples: tuple[Bounds, ...]
    buckets: Buckets | None = None  # the buckets of an anatomy; None for other releases

    @property
    def manifest(self) -> dict[str, str]:
        """The manifest."""
        return self.release.manifest

    @property
    def promise(self) -> str:
        """The promise in words."""
        return model_of(self.manifest).promise

    @property
    def covers(self) -> tuple[str, str]:
        """The attackers that the promise covers, and those that it does not."""
        return PROMISES[self.manifest["model"]].covers(model_of(self.manifest).parameters())

    @property
    def suppressed(self) -> bool:
        """Whether the release says that something was suppressed."""
        return self.manifest["suppression"] == "some"

    @property
    def generalized(self) -> tuple[ReleasedItem, ...]:
        """The released items that stand for several items."""
        return tuple(item for item in self.items if not item.as_itself)

    @property
    def originals(self) -> int:
        """The number of original items that it lists."""
        return len({member for item in self.items for member in item.members})

    @property
    def exact(self) -> int:
        """The number of original items whose count it shows exactly."""
        return sum(c.lower == c.upper for c in self.counts)

    def html(self) -> str:
        """The page for analysts."""
        from anondb.report.public_page import public_page

        return public_page(self)

    def to_json(self) -> dict[str, Any]:
        """The contents as JSON values."""
        covered, uncovered = self.covers
        return {
            "promise": self.promise,
            "covered": covered,
            "not_covered": uncovered,
            "manifest": self.manifest,
            "transactions": self.transactions,
            "incomplete_transactions": self.incomplete,
            "released_items": json_of(self.items),
            "item_counts": [{"item": count.items[0], **count.to_json()} for count in self.counts],
            "buckets": json_of(self.buckets),
        }


def read_contents(engine: DuckDBEngine, release: StoredRelease) -> Contents:
    """Read a release, in a checked sealed file or in the owner's database."""
    schema, is_anatomy = release.schema, release.kind is ANATOMY
    counts = _counts(engine, schema)
    items = read_items(engine, release)
    if is_anatomy:
        rows = engine.query("report/buckets", {"buckets": schema.table("buckets")})
        buckets = Buckets(**{name: int(column[0]) for name, column in rows.items()})
        transactions, incomplete = int(release.manifest["transactions"]), 0
    else:
        both = "count(*) AS transactions, count(*) FILTER (WHERE NOT complete) AS incomplete"
        numbers = engine.select(reads.rows(schema.table("transaction_ids"), both))
        transactions, incomplete = (int(numbers[name][0]) for name in ("transactions", "incomplete"))
        buckets = None
    asked: list[Question] = [(labels, ()) for labels in _examples(items)]
    where = _conditions(engine, schema, release.kind.attributes or ())
    asked += [(asked[0][0], where)] if asked and where else []
    return Contents(
        release,
        transactions,
        incomplete,
        tuple(items),
        counts,
        bounds_of(engine, schema, asked),
        buckets,
    )


def _counts(engine: DuckDBEngine, schema: SchemaName) -> tuple[Bounds, ...]:
    rows = engine.select(reads.rows(schema.table("item_counts"), "item, lower_bound, estimate, upper_bound"))
    columns = [rows[name].tolist() for name in ("item", "lower_bound", "estimate", "upper_bound")]
    counts = [Bounds((item,), int(low), float(middle), int(high)) for item, low, middle, high in zip(*columns, strict=True)]
    return tuple(sorted(counts, key=lambda c: (-c.estimate, c.items)))


def _examples(items: Sequence[ReleasedItem]) -> list[tuple[str, ...]]:
    """One original item to ask for, of the most frequent generalized item if there is one, and two."""
    plain = [i for i in items if i.members and _is_simple(i.members[0])]
    if (first := next((i for i in plain if not i.as_itself), plain[0] if plain else None)) is None:
        return []
    second = next((i for i in plain if i is not first and i.members[0] != first.members[0]), None)
    item = first.members[0]
    return [(item,)] if second is None else [(item,), (item, second.members[0])]


def _is_simple(label: str | None) -> bool:
    """Whether a label reads the same wherever an example may be pasted."""
    simple = (c.isalnum() or c in " -_.,/'" for c in label or "")
    return 0 < len(label or "") <= EXAMPLE_LENGTH and all(simple)


def _conditions(engine: DuckDBEngine, schema: SchemaName, attributes: Sequence[ReleasedAttribute]) -> tuple[Where, ...]:
    """A condition on the first attribute with ranges, its most frequent one, and on the first one with categories."""
    conditions: list[Where] = []
    for ranges in (True, False):
        if (attribute := next((a for a in attributes if (a.ends is not None) == ranges), None)) is None:
            continue
        ends = [reads.named(attribute.name + end) for end in (("_lo", "_hi") if ranges else ("",))]
        shown = [exp.cast(e, "TEXT") if attribute.ends in ("DATE", "TIMESTAMP") else e for e in ends]
        often = exp.select(*(e.as_(name) for e, name in zip(shown, "ab", strict=False))).from_(
            schema.table("records").expression()
        )
        often = often.where(ends[0].is_(exp.null()).not_()).group_by(*ends).order_by(exp.Count(this=exp.Star()).desc())
        example = engine.select(often.order_by(*ends).limit(1), "an example")
        values = [column.tolist()[0] for column in example.values() if len(column)]
        if values and not ranges:
            same = {"attribute": attribute.name, "released_value": values[0]}
            condition = exp.and_(*(exp.column(name).eq(exp.convert(value)) for name, value in same.items()))
            listed = reads.rows(schema.table("released_values"), "value", where=condition, order="value")
            values = [v for v in engine.select(listed, "an example")["value"].tolist() if _is_simple(v)][:2]
        conditions += [(attribute.name, tuple(values))] if values else []
    return tuple(conditions)


def _call(items: exp.Expr, where: Iterable[tuple[str, exp.Expr]]) -> exp.Anonymous:
    conditions = [exp.PropertyEQ(this=exp.to_identifier(name), expression=values) for name, values in where]
    return exp.Anonymous(this="count_bounds", expressions=[items, *conditions])


def _listed(values: Iterable[Any]) -> exp.Array:
    return exp.Array(expressions=[*map(exp.convert, values)])


def value_words(where: Where, *, ranged: bool) -> str:
    """A condition in words: ``age 20 to 40``, ``town Cork or Sligo``."""
    return f"{where[0]} {(' to ' if ranged else ' or ').join(map(str, dict.fromkeys(where[1])))}"


def bounds_of(engine: DuckDBEngine, schema: SchemaName, questions: Sequence[Question]) -> tuple[Bounds, ...]:
    """What the release's own macro answers: in one query, since each reads the whole release."""
    if not questions:
        return ()
    names = list(dict.fromkeys(name for _, where in questions for name, _ in where))
    columns = [exp.column(name, "question") for name in ("items", *(f"c{j}" for j in range(len(names))))]
    rows = [
        (i, _listed(items), *(_listed(dict(where)[name]) if name in dict(where) else exp.null() for name in names))
        for i, (items, where) in enumerate(questions)
    ]
    call = _call(columns[0], zip(names, columns[1:], strict=True))
    answers = exp.select("*").from_(exp.Table(this=call, db=exp.to_identifier(schema.name, quoted=True))).subquery()
    found = exp.select("lower_bound", "estimate", "upper_bound").order_by("number")
    found = found.from_(exp.values(rows, alias="question", columns=["number", *(column.name for column in columns)]))
    found = found.join(exp.Lateral(this=answers, alias=exp.TableAlias(this=exp.to_identifier("answer"))), join_type="cross")
    bounds = (column.tolist() for column in engine.select(found, "count_bounds").values())
    return tuple(Bounds(q[0], low, mean, high, q[1]) for q, low, mean, high in zip(questions, *bounds, strict=True))
