"""Explain the released form of an item by the decisions of the algorithm in the ledger, and by the released items. Decisions
and taxonomy are those of the run that made the release; nothing is recomputed, and the source is not read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from anondb.engine import DuckDBEngine, Engine, reads
from anondb.errors import InputError
from anondb.ledger import ledger, stored
from anondb.ledger.tables import DECISIONS
from anondb.models import AsTable, json_of
from anondb.release.objects import ReleasedItem, SchemaName, read_items

MOST_FORMS = 3
AS_IS, GENERALIZED, SUPPRESSED, ABSENT = "as_is", "generalized", "suppressed", "absent"


@dataclass(frozen=True)
class ExplainedStep(AsTable):
    """One decision on the item or its ancestors, as a sentence.

    Attributes:
        step, round_number, action, subject, support: as in ``anondb.recoding.Decision``.
        cost: information loss after the step, the text of an exact fraction.
        words: the step as a sentence.
    """

    step: int
    round_number: int
    action: str
    subject: str
    support: int | None
    cost: str
    words: str

    def to_json(self) -> dict[str, Any]:
        """The step as JSON values."""
        named = {"step": self.step, "round": self.round_number}
        return {**named, **json_of(self, "action", "subject", "support", "cost", "words")}


@dataclass(frozen=True)
class Explanation(AsTable):
    """The explanation of an item's released form.

    Attributes:
        release, item: the release and the item.
        outcome: ``as_is``, ``generalized``, ``suppressed``, or ``absent`` (it did not occur when the release was made, and
            no released item stands for it).
        released_item: the released item published in its place; None if there is none, or several.
        members: the original items that this released item stands for.
        forms: the released items that stand for it, the most frequent first: several in a local recoding.
        path: the item's ancestors in the taxonomy, the root first, the item last; empty without a taxonomy.
        steps: the decisions that concern the item, in order.
        conclusion: the outcome as a sentence.
    """

    release: str
    item: str
    outcome: str
    released_item: str | None
    members: tuple[str, ...]
    forms: tuple[ReleasedItem, ...]
    path: tuple[str, ...]
    steps: tuple[ExplainedStep, ...]
    conclusion: str


def explain(engine: DuckDBEngine, name: str, item: str) -> Explanation:
    """Explain the released form of an item, by its exact label; the owner's database may be read-only."""
    catalog = stored.current_catalog(engine)
    whole = stored.find_whole(engine, name)
    if (entry := ledger.find(engine, catalog, name)) is None:
        raise InputError(f"The ledger has no entry for the release {name!r}.", code="no_such_release")
    forms = tuple(form for form in read_items(engine, whole) if item in form.members)
    shown = forms[0] if len(forms) == 1 else None
    path = _path(ledger.taxonomy_of(engine, catalog, entry.release_id), item)
    decisions = DECISIONS.rows(engine, catalog, entry.release_id)
    if not path and not forms and not any(d["subject"] == item for d in decisions):
        raise InputError(
            f"The release {entry.name!r} and its taxonomy have no item {item!r}.",
            code="unknown_item",
            hint="Labels are compared exactly: check case and spaces.",
        )
    subjects = {item, *path, *(form.label for form in forms)}
    last = max((int(d["round"]) for d in decisions), default=1)
    steps = [_explained(d, entry.parameters, last) for d in decisions if d["subject"] in subjects]
    cause = next((s for s in steps if s.action == "suppress" and s.round_number == last), None)
    if forms:
        top_down = bool(path and decisions) and not any(d["action"] == "generalize" for d in decisions)
        conclusion = _published(item, forms, _stopped(steps, forms[0].label, last) if top_down else None)
        if whole.kind.by_transaction and whole.manifest["suppression"] == "some":
            conclusion += " It may have been suppressed in some transactions."
        if whole.kind.item_supports:
            conclusion += _published_bounds(engine, whole.schema, item)
    else:
        conclusion = f"Nothing is published in the place of {item!r}: {_absent(item, cause, bool(path))}."
    return Explanation(
        release=entry.name,
        item=item,
        outcome=_outcome(forms, cause),
        released_item=None if shown is None else shown.label,
        members=() if shown is None else shown.members,
        forms=forms,
        path=tuple(path),
        steps=tuple(steps),
        conclusion=conclusion,
    )


def _published_bounds(engine: Engine, schema: SchemaName, item: str) -> str:
    """What item supports say of an item, as a sentence, unless its count is exact."""
    counts = engine.select(reads.rows(schema.table("item_counts"), "item, lower_bound, upper_bound"))
    place = counts["item"].tolist().index(item)
    low, high = (int(counts[name][place]) for name in ("lower_bound", "upper_bound"))
    return f" Its item support says that {low:,} to {high:,} transactions hold it." if low < high else ""


def _path(edges: list[tuple[str, str | None]], item: str) -> list[str]:
    """The labels from the root down to the item; none if the taxonomy does not contain it."""
    parent = dict(edges)
    if item not in parent:
        return []
    path: list[str] = []
    node: str | None = item
    while node is not None:
        path.append(node)
        node = parent[node]
    return path[::-1]


def _outcome(forms: Sequence[ReleasedItem], cause: ExplainedStep | None) -> str:
    if forms:
        return AS_IS if all(form.as_itself for form in forms) else GENERALIZED
    return SUPPRESSED if cause is not None else ABSENT


def cause(decision: Mapping[str, Any], parameters: Mapping[str, Any], last: int) -> str | None:
    """What forced a decision, as a clause; None if nothing did. ``last`` is the last round of the algorithm."""
    action, support, number = str(decision["action"]), decision["support"], int(decision["round"])
    k, m = parameters.get("k"), parameters.get("m", parameters.get("p"))
    most = m if last == 1 or number == m else number
    if m is None:
        itemset = "privacy constraint"
    elif str(most) == "inf":
        itemset = "combination of items"
    else:
        itemset = f"combination of {'up to ' if most == m else ''}{most} item{'s' * (str(most) != '1')}"
    if support is None or action not in ("generalize", "suppress", "merge"):
        return None
    few = f"held by only {support} transaction{'s' * (str(support) != '1')}, fewer than k = {k}"
    if action == "generalize":
        return f"a combination of {number} item{'s' * (number != 1)} with one of these was {few}"
    if action == "merge":
        return f"a {itemset} with one of its items was {few}"
    if k is not None and int(support) >= int(k):
        h = parameters.get("h")
        held = f"of the {support} transactions that hold a {itemset} with it"
        return f"{held}, more than the share h = {h} hold a private item"
    return f"a {itemset} with it is {few}"


def _explained(decision: dict[str, Any], parameters: dict[str, Any], last: int) -> ExplainedStep:
    """A decision as a sentence; the wording does not depend on the algorithm."""
    action, subject, support = str(decision["action"]), str(decision["subject"]), decision["support"]
    number, cost = int(decision["round"]), f"{float(Fraction(decision['cost'])):.6g}"
    why = cause(decision, parameters, last)
    if action == "specialize":
        words = f"{subject!r} gave way to its children, the cheapest step there was; cost after it {cost}"
    elif action == "generalize":
        words = f"{subject!r} took the place of what lies below it: {why}; cost after it {cost}"
    elif action == "suppress":
        share = support is not None and parameters.get("k") is not None and int(support) >= int(parameters["k"])
        words = f"{subject!r} was suppressed: {why}; cost {cost}"
        if not share and number < last:
            words += " (suppression is decided anew in each round)"
    elif action == "merge":
        words = f"{subject!r} was formed by merging"
        words += "" if why is None else f", since {why}"
        words += f"; cost after it {cost}"
    else:
        words = f"{action} {subject!r}; cost after it {cost}"
    return ExplainedStep(int(decision["step"]), number, action, subject, support, str(decision["cost"]), words)


def _stopped(steps: list[ExplainedStep], node: str | None, last: int) -> int:
    """The round whose search kept the node: the first that did not specialize it, because later rounds go no deeper."""
    deeper = {s.round_number for s in steps if s.action == "specialize" and s.subject == node}
    return next((r for r in range(1, last + 1) if r not in deeper), last)


def _published(item: str, forms: Sequence[ReleasedItem], stopped: int | None) -> str:
    """What is published in the place of an item, and the round whose search ``stopped`` there."""
    if len(forms) > 1:
        return _published_locally(item, forms)
    (form,) = forms
    if form.as_itself:
        return f"{item!r} is published as it is."
    said = f"{form.label!r} is published in the place of {item!r}; it stands for {len(form.members):,} items."
    if stopped is None:
        return said
    why = f"because the search of round {stopped} stopped there: no child cut was strictly cheaper."
    return f"{said} It stayed that general {why}"


def _published_locally(item: str, forms: Sequence[ReleasedItem]) -> str:
    """The same where it depends on the transaction."""
    plain, general = ([form for form in forms if form.as_itself is itself] for itself in (True, False))
    itself = f"{item!r} is published as it is in {sum(form.support for form in plain):,} transactions. Elsewhere "
    listed = [f"{f.label!r} ({len(f.members):,} items, {f.support:,} transactions)" for f in general[:MOST_FORMS]]
    listed += [f"{len(general) - MOST_FORMS:,} others"] if len(general) > MOST_FORMS else []
    others = f"{' or '.join(listed)} may stand for {'it' if plain else repr(item)}."
    why = "It is more general where fewer of the transactions that were recoded together hold it."
    return f"{itself if plain else ''}{others} {why}" if general else itself.removesuffix(" Elsewhere ")


def _absent(item: str, cause: ExplainedStep | None, has_taxonomy: bool) -> str:
    """Why nothing is published in the place of an item."""
    if cause is None:
        return "it did not occur when the release was made" + ("" if has_taxonomy else ", or it was suppressed")
    return f"{'it' if cause.subject == item else f'its generalization {cause.subject!r}'} was suppressed"
