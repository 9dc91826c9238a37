"""Advise on a release: a few runs on a sample and on all persons, and a conclusion."""

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from anondb.compare.merits import deletes_most
from anondb.compare.runs import Result, Run, with_supports
from anondb.data.sources import open_source, reading_as
from anondb.data.taxonomy import load_taxonomy
from anondb.data.transactions import load_transactions
from anondb.engine import Engine
from anondb.engine.spill import private_directory
from anondb.errors import BudgetExceeded, InfeasibleError
from anondb.guide.knowledge import SIZES, Threat, what_attackers_find
from anondb.guide.needs import Needs
from anondb.guide.page import section_html
from anondb.guide.people_trials import prepare_people
from anondb.guide.profile import Profile
from anondb.guide.trials import (
    Input,
    Limits,
    Prepared,
    distinct,
    error,
    no_items,
    ranked,
    sample_k,
    supported,
    try_runs,
    write_input,
    write_queries,
)
from anondb.guide.words import Section, sections_text
from anondb.models import json_of
from anondb.reading.options import PEOPLE, as_read
from anondb.taxonomies.writing import write_paths

SAMPLE = 10_000  # persons of a sample; fewer persons are not sampled
FINALISTS = 3  # algorithms that run on all persons after a sample
SAMPLED, MAIN = 0.4, 0.85  # shares of the time limit when runs on the sample, and the main runs, have to be done


@dataclass(frozen=True, repr=False)
class Advice:
    """What to run, and why. It has exact figures of the original data: it is for their owner.

    Attributes:
        source: the name of the source.
        persons: their number.
        needs: what the owner said.
        known: what attackers would find in the original.
        sample, sample_k: the number of persons in the sample, and the k of its runs; None if there was none.
        on_sample, on_whole: the results of the runs, in their order.
        chosen, next_best: results of the best and second best release; ``next_best`` is None if there is no other.
            If item supports may not be published, a run with them is only for comparison.
        is_tested: whether ``chosen`` ran on all persons, not only on the sample.
        command: the command, or the call, that makes the release.
        profile: of people with attributes: what attackers find, the columns, and the costs.
    """

    source: str
    persons: int
    needs: Needs
    known: Threat
    sample: int | None
    sample_k: int | None
    on_sample: tuple[Result, ...]
    on_whole: tuple[Result, ...]
    chosen: Result
    next_best: Result | None
    is_tested: bool
    command: str
    profile: Profile | None = None

    def to_json(self) -> dict[str, Any]:
        """The advice as JSON values."""
        from anondb.guide.advice_words import reasons

        def shown(result: Result) -> dict[str, Any]:
            figures = {name: value for name, value in result.to_json().items() if name != "options"}
            figures |= {"delta": result.run.options.get("delta"), "item_supports": supported(result)}
            return {**figures, "error": error(result)}

        run = self.chosen.run
        advised = {"model": run.model, **run.parameters, "algorithm": run.algorithm}
        advised |= {"delta": run.options["delta"]} if "delta" in run.options else {}
        profile = {} if self.profile is None else self.profile.to_json()
        return {
            **json_of(self, "source", "persons", "needs", "sample", "sample_k"),
            "advice": {**advised, "item_supports": supported(self.chosen)},
            "command": self.command,
            "reasons": reasons(self),
            "is_tested": self.is_tested,
            "next_best": None if self.next_best is None else shown(self.next_best),
            "on_sample": [shown(r) for r in self.on_sample],
            "on_whole": [shown(r) for r in self.on_whole],
            **{name: profile[name] for name in ("people", "estimates") if profile},
        }

    def sections(self) -> list[Section]:
        """The conclusion and the runs, as tables."""
        from anondb.guide.advice_words import advice_sections

        return advice_sections(self)

    def __repr__(self) -> str:
        return f"{sections_text(self.sections())}\n\nto run it:\n{self.command}"

    def _repr_html_(self) -> str:
        """The advice as tables, for notebooks."""
        return "\n".join([*map(section_html, self.sections()), f"<pre>{escape(self.command)}</pre>"])


def advise(
    engine: Engine,
    transactions: Any,
    needs: Needs,
    *,
    command: Callable[[Run], str],
    taxonomy: Any = None,
    people: Mapping[str, Any] | None = None,
    time_limit: float = 120.0,
    threads: int | None = None,
    memory_limit: str = "4GB",
) -> Advice:
    """Run the algorithms that serve the needs, and say which is best.

    The transactions are copied into a private directory (mode 0700), which is removed at the end; each run is a process that
    reads them there.

    Args:
        engine: the engine, outside a transaction; nothing is written.
        needs: what attackers may know, and what the release is for.
        command: the command that executes a run, as text.
        people: the options of ``needs.PEOPLE`` that the owner set, which the command repeats.
        time_limit: seconds of wall time for all runs; those that are not done by then are stopped, or left out.

    Raises:
        InputError: a source cannot be read, or has no items; the taxonomy lacks items; ``no_taxonomy``; and those of
            ``prepare_people``.
        InfeasibleError: no release keeps the promise without deleting most items or occurrences.
        BudgetExceeded: no run was done in time and memory.
    """
    folder = private_directory()
    try:
        with reading_as(engine, transactions):
            if people or as_read(transactions).reading.layout == PEOPLE:
                prepared = prepare_people(engine, transactions, needs, people or {}, taxonomy, folder)
            else:
                prepared = _prepare(engine, transactions, needs, taxonomy, folder)
        limits = [Limits(threads, memory_limit, time.monotonic() + share * time_limit) for share in (SAMPLED, MAIN, 1)]
        on_sample, on_whole = _try(prepared, limits, engine.progress)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return _concluded(prepared, needs, on_sample, on_whole, command, time_limit)


def _prepare(engine: Engine, transactions: Any, needs: Needs, taxonomy: Any, folder: Path) -> Prepared:
    """Read the sources, and write the input of the runs into the folder."""
    tree, sample, place = None, None, folder / "taxonomy.tree"
    with engine.transaction(), open_source(engine, transactions, "transactions") as source:
        engine.progress("loading transactions")
        dataset = load_transactions(engine, source)
        if not dataset.n_items:
            raise no_items(source.name)
        if taxonomy is not None:
            tree = load_taxonomy(engine, taxonomy)
            tree.leaf_nodes(dataset)
        runs = needs.candidates(None if tree is None else str(place))
        threats = what_attackers_find(engine, dataset, needs.k, most=int(min(needs.m, max(SIZES))))[-1]
        whole = Input(write_input(engine, dataset, folder, "whole"), write_queries(engine, dataset, folder, "whole"))
        part = write_input(engine, dataset, folder, "sample", SAMPLE) if dataset.n_transactions > SAMPLE else None
    if tree is not None:
        write_paths(tree, place)
    if part is not None:
        with engine.transaction(), open_source(engine, part, "sample") as rows:
            queries = write_queries(engine, load_transactions(engine, rows), folder, "sample")
        sample = Input(part, queries, k=sample_k(needs.k, SAMPLE, dataset.n_transactions))
    sampled = None if sample is None else SAMPLE
    return Prepared(dataset.table, dataset.n_transactions, threats, runs, whole, sample, sampled)


def _try(prepared: Prepared, limits: Sequence[Limits], say: Callable[[str], None]) -> tuple[list[Result], list[Result]]:
    """The results on the sample, and on all persons: of the finalists, then of the best with and without item supports."""
    runs, on_sample = prepared.runs, list[Result]()
    if prepared.sample is not None:
        on_sample = try_runs(prepared.sample, runs, limits[0], say)
        deleting = [r for r in on_sample if r.status == "done" and deletes_most(r)]
        runs = [r.run for r in [*distinct(ranked(on_sample)), *deleting][:FINALISTS]] or runs
    on_whole = try_runs(prepared.whole, runs, limits[1], say)
    for best in ranked(on_whole)[:1]:
        other = with_supports(best.run, not supported(best))
        on_whole += try_runs(prepared.whole, [other] if other != best.run else [], limits[2], say)
    return on_sample, on_whole


def _concluded(
    prepared: Prepared,
    needs: Needs,
    on_sample: Sequence[Result],
    on_whole: Sequence[Result],
    command: Callable[[Run], str],
    time_limit: float,
) -> Advice:
    order, is_tested = [r for r in ranked(on_whole) if needs.item_supports or not supported(r)], True
    if not order:
        order, is_tested = ranked(on_sample), False
    if not order:
        raise _nothing(needs, [*on_whole, *on_sample], time_limit)
    return Advice(
        source=prepared.source,
        persons=prepared.persons,
        needs=needs,
        known=prepared.threat,
        sample=prepared.sampled,
        sample_k=None if prepared.sample is None else prepared.sample.k,
        on_sample=tuple(on_sample),
        on_whole=tuple(on_whole),
        chosen=order[0],
        next_best=order[1] if len(order) > 1 else None,
        is_tested=is_tested,
        command=command(order[0].run),
        profile=prepared.profile,
    )


def _nothing(needs: Needs, results: Sequence[Result], time_limit: float) -> InfeasibleError | BudgetExceeded:
    """The error if no release can be advised."""
    if results and all(r.status == "infeasible" or (r.status == "done" and deletes_most(r)) for r in results):
        return InfeasibleError(
            f"Every release for k = {needs.k} and m = {needs.m} would delete most items or occurrences.",
            hint="Lower k or m, or ask for another use.",
        )
    failed = next((r.message for r in results if r.status not in ("done", "infeasible", "timeout")), None)
    why = "" if failed is None else f" One ended with: {failed}"
    return BudgetExceeded(
        f"No run of {len(results)} made a release within {time_limit:g} seconds and the memory limit.{why}",
        hint="Raise --time-limit or --memory-limit.",
    )
