"""Two candidates side by side: what each does to the items, histograms before and after, and answers beside the truth."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anondb.api.connect import connect
from anondb.pages.counts import Answered, spread
from anondb.pages.histogram import of_categories, of_ranges
from anondb.pages.text import short
from anondb.ui.window import Project
from anondb.ui.worker import Say

if TYPE_CHECKING:
    from anondb.api.database import Database
    from anondb.report.owner import OwnerReport

MOST_ROWS, MOST_ITEMS, ANSWERS, QUERIES = 40, 14, 10, 300
AS_ITSELF, DELETED = "as itself", "deleted"


def beside(say: Say, project: Project, trial: str, names: list[str], options: list[dict[str, Any]]) -> dict[str, Any]:
    """Make the releases ``candidate_1`` and ``candidate_2`` in the private database, and compare them.

    Returns:
        ``names``; ``counts``, sentences on the differences; ``rows``, the items that differ, with what becomes of them, and
        how many more there are; ``figures``, a title and both drawings of each histogram; ``answers``, each with the truth
        and twice an estimate and its bounds; ``items``, all labels; ``forms``, what stands for each item in each release;
        and ``reasons``, why that was formed.
    """
    with connect(trial, attach=project.database, on_progress=say) as database:
        made = [f"candidate_{n}" for n in (1, 2)]
        for name, how in zip(made, options, strict=True):
            findings = [*_listed(how.get("accept")), "one-released-item"]
            how = {**how, "accept": findings, "queries": 0}
            database.anonymize(project.transactions, name=name, replace=True, **how)
        frequent = _most_frequent(database, made, Path(trial).with_name("items.csv"))
        reports = [database.release(name).owner_report(queries=QUERIES) for name in made]
    forms = [_forms(report) for report in reports]
    rows = _differences(reports, forms)
    figures = [("Persons who have an item, the most frequent items", _items(reports, frequent))]
    figures += [(f"Persons by {one.name}", drawn) for one, drawn in _attributes(reports)]
    return {
        "names": names,
        "counts": _counted(rows),
        "rows": rows[:MOST_ROWS],
        "more": len(rows) - MOST_ROWS,
        "figures": [(title, drawn) for title, drawn in figures if any(drawn)],
        "answers": _answers(reports),
        "items": sorted({*forms[0], *forms[1]}),
        "forms": forms,
        "reasons": [report.reasons for report in reports],
    }


def _listed(accept: Any) -> list[str]:
    return accept.split(",") if isinstance(accept, str) else list(accept or ())


def _most_frequent(database: Database, made: Sequence[str], file: Path) -> str:
    """Measure the most frequent items on both releases; return the name of this workload."""
    counts = database.release(made[0]).table("item_counts").order("estimate DESC, item").limit(MOST_ITEMS)
    with file.open("w", encoding="utf-8", newline="") as target:
        rows = csv.writer(target)
        rows.writerow(("query_id", "item"))
        rows.writerows((n, row[0]) for n, row in enumerate(counts.project("item").fetchall(), 1))
    for name in made:
        database.release(name).measure(str(file))
    return file.stem


def _forms(report: OwnerReport) -> dict[str, tuple[str, ...]]:
    """The labels that stand for each item; none for one that is deleted."""
    found: dict[str, tuple[str, ...]] = {item.label: () for item in report.suppressed}
    for item in report.contents.items:
        for member in item.members:
            found[member] = (*found.get(member, ()), AS_ITSELF if item.as_itself else item.label)
    return found


def _differences(
    reports: Sequence[OwnerReport], forms: Sequence[Mapping[str, tuple[str, ...]]]
) -> list[dict[str, Any]]:
    """The items with another form in each release, the most frequent first."""
    weight: dict[str, float] = {}
    for report in reports:
        for count in report.contents.counts:
            weight[count.items[0]] = max(weight.get(count.items[0], 0.0), count.estimate)
        weight |= {item.label: float(item.support) for item in report.suppressed if item.support is not None}
    differing = {item for some in forms for item in some if forms[0].get(item, ()) != forms[1].get(item, ())}
    return [
        {
            "item": item,
            "persons": weight.get(item),
            "forms": [short(" or ".join(some.get(item, ())), 200) or DELETED for some in forms],
        }
        for item in sorted(differing, key=lambda item: (-weight.get(item, 0.0), item))
    ]


def _counted(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Sentences on how many items are generalized, or deleted, in one of the releases alone."""
    said = []
    for here, name in ((0, "first"), (1, "second")):
        for kind, words in ((True, "deleted"), (False, "generalized")):
            only = [r for r in rows if _is(r["forms"][here], kind) and not _is(r["forms"][1 - here], kind)]
            if only:
                said.append(f"{len(only):,} item{'s' * (len(only) > 1)} {words} in the {name} alone")
    return said


def _is(form: str, deleted: bool) -> bool:
    return (form == DELETED) if deleted else form not in (DELETED, AS_ITSELF)


def _items(reports: Sequence[OwnerReport], workload: str) -> list[str]:
    """The histogram of the most frequent items of each release."""
    drawn = []
    for report in reports:
        answers = next((a.answers for a in report.asked if a.words == f"own queries {workload}"), ())
        bins = sorted((-truth, items[0], estimate) for items, truth, estimate, *_ in answers)
        drawn.append(of_categories("Items before and after", [(n, -t, e) for t, n, e in bins], 480) if bins else "")
    return drawn


def _attributes(reports: Sequence[OwnerReport]) -> list[tuple[Any, list[str]]]:
    """The histograms of each attribute that one of the releases has."""
    seen = [{one.name: one for one in report.seen} for report in reports]
    found = []
    for name in dict.fromkeys([*seen[0], *seen[1]]):
        both = [some.get(name) for some in seen]
        found.append(
            (next(one for one in both if one is not None), ["" if one is None else _attribute(one) for one in both])
        )
    return found


def _attribute(one: Any) -> str:
    bins = [(b.name, b.before, b.after) for b in one.bins]
    title = f"{one.name} before and after"
    return of_ranges(title, bins, one.ranges, 480) if one.ranges else of_categories(title, bins, 480)


def _answers(reports: Sequence[OwnerReport]) -> list[dict[str, Any]]:
    """Some of the questions that both answered: single items and pairs of items, spread over their true counts."""
    chosen = []
    for words in ("1 item", "2 items"):
        asked = [next(({a[0]: a for a in one.answers} for one in r.asked if one.words == words), {}) for r in reports]
        both = [Answered(", ".join(items), 0, 0, 0, a[1]) for items, a in asked[0].items() if items in asked[1]]
        by_words = {", ".join(items): items for items in asked[0]}
        for one in spread(sorted(both, key=lambda a: (a.truth or 0, a.words)), math.ceil(ANSWERS / 2)):
            told = [some[by_words[one.words]][2:] for some in asked]
            chosen.append({"words": one.words, "truth": one.truth, "told": told})
    return chosen
