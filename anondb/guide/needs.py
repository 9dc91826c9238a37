"""What an owner says before advice: what attackers may know, and what the release is for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anondb.algorithms import METHODS
from anondb.errors import InputError
from anondb.models.named import make_model, parameters_of
from anondb.models.transactional import KmAnonymity

if TYPE_CHECKING:
    from anondb.compare.runs import Run

# What a release may be for, and the kinds of released items (``Method.releases``) that serve it.
USES: Mapping[str, tuple[str, ...]] = {"counts": ("node", "set", "item"), "categories": ("node",), "items": ("item",)}
PEOPLE = ("records", "quasi_identifiers", "hierarchies", "sensitive")  # options that say what people have
QUESTIONS: Mapping[str, str] = {
    "m": "How many items of a person may somebody know? (a number, or inf)",
    "k": "How many persons should such knowledge fit, at least?",
    "use": "What is the release for? counts (of items and sets), categories (of the taxonomy in place of items), or items"
    " (unchanged, the rare ones deleted)",
    "item_supports": "May the release also say about how often each item occurs (item supports)? No, if readers get other"
    " releases of the same persons. (yes or no)",
}


@dataclass(frozen=True)
class Needs:
    """What attackers may know, and what the release is for.

    Attributes:
        k: the number of persons whom the knowledge of an attacker has to fit, at least.
        m: how many items of a person an attacker may know; ``math.inf`` for any number.
        use: ``counts`` (any release that answers counts well), ``categories`` (nodes of the taxonomy in place of items) or
            ``items`` (items unchanged, or deleted).
        item_supports: whether the release may have item supports, with which counts are answered better.

    Raises:
        InputError: ``bad_parameter``.
    """

    k: int = 5
    m: int | float = 2
    use: str = "counts"
    item_supports: bool = False

    def __post_init__(self) -> None:
        model = KmAnonymity(self.k, self.m)
        object.__setattr__(self, "k", model.k)
        object.__setattr__(self, "m", model.m)
        if self.use not in USES:
            raise InputError(f"use must be {', '.join(USES)}, not {str(self.use)[:40]!r}.", code="bad_parameter")

    def to_json(self) -> dict[str, Any]:
        """The needs as JSON values."""
        return {**KmAnonymity(self.k, self.m).parameters(), "use": self.use, "item_supports": self.item_supports}

    def candidates(self, taxonomy: str | None) -> list[Run]:
        """The runs of the algorithms that serve the use and have their inputs, in the order of ``order_of``; with item
        supports if these are wanted and possible. Raises InputError: ``no_taxonomy``: the use needs one."""
        from anondb.compare.runs import plan

        options = {} if taxonomy is None else {"taxonomy": taxonomy}
        parameters = KmAnonymity(self.k, self.m).parameters()
        runs = plan([], ["km"], {name: [value] for name, value in parameters.items()}, options, self.item_supports)
        return serving(runs, self.use)


FIRST = ("mhghs", "coat", "similar", "apriori", "partition")  # what is tried first if time is short: the usual winners


def order_of(run: Run) -> int:
    """The place of a run's algorithm: those of ``FIRST``, then the others in the order of ``METHODS``."""
    return [*dict.fromkeys((*FIRST, *METHODS))].index(run.algorithm)


def serving(runs: Sequence[Run], use: str) -> list[Run]:
    """The runs whose releases serve a use, in the order of ``order_of``. Raises InputError: ``no_taxonomy``: the use needs
    one."""
    suitable = [run for run in runs if METHODS[run.algorithm].releases in USES[use]]
    if not suitable:
        raise InputError(
            "A release of categories needs a taxonomy.",
            code="no_taxonomy",
            hint="Name it with --taxonomy, or make one with anondb taxonomy build.",
        )
    return sorted(suitable, key=order_of)


def untried(runs: Sequence[Run], use: str) -> Run:
    """Choose a run without trying any: the first; for counts, one with item supports whose algorithm forms groups for
    them, if there is one."""
    made_for = [run for run in runs if METHODS[run.algorithm].item_supports and run.options.get("item_supports")]
    return made_for[0] if made_for and use == "counts" else runs[0]


def said_of(run: Run) -> dict[str, Any]:
    """The options of the promise and the algorithm of a run, without those that need not be said."""
    model = {} if run.model == "km" else {"model": run.model}
    delta = {"delta": run.options["delta"]} if "delta" in run.options else {}
    supports = bool(run.options.get("item_supports"))
    differs = supports != METHODS[run.algorithm].item_supports
    named = {"item_supports": supports} if differs else {}
    return {**model, **run.parameters, "algorithm": run.algorithm, **delta, **named}


def call_of(run: Run, transactions: str, taxonomy: str, read: Mapping[str, Any]) -> str:
    """The call in Python that makes the release of a run; ``read`` says how the transactions are read."""
    model = make_model(run.model, **run.parameters)
    named = f"anondb.{type(model).__name__}({', '.join(f'{n}={getattr(model, n)}' for n in run.parameters)})"
    named = named.replace("=inf", "=math.inf")
    tree = f", taxonomy={taxonomy}" if "taxonomy" in run.options else ""
    others = [*read.items(), *((n, run.options[n]) for n in (*PEOPLE, "delta") if n in run.options)]
    tree += "".join(f", {n}={repr(x) if isinstance(x, str | bool | int) else type(x).__name__}" for n, x in others)
    supports = f"item_supports={bool(run.options.get('item_supports'))}"
    return f"db.anonymize({transactions}, model={named}{tree}, algorithm={run.algorithm!r}, {supports})"


def read_answer(name: str, answer: str) -> Any:
    """The value of an answer to a question. Raises InputError: ``bad_parameter``: it is none; the text says what is."""
    text = answer.strip().lower()
    if name == "item_supports":
        if text not in ("yes", "y", "no", "n"):
            raise InputError("Answer yes or no.", code="bad_parameter")
        return text in ("yes", "y")
    read = parameters_of("km")[name].read if name in ("k", "m") else None
    values: dict[str, Any] = {name: text if read is None else read(text)}
    return getattr(Needs(**values), name)


def knowledge_words(m: int | float) -> str:
    """What an attacker knows, in words."""
    if m == math.inf:
        return "any number of items of a person"
    return "an item of a person" if m == 1 else f"up to {m} items of a person"
