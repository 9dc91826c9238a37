"""Two releases of the same data side by side: what each does to the items, histograms before and after, and answers beside
the truth. For the owner."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from anondb.pages.counts import spread
from anondb.pages.plots import MOST_NAMES, of_categories
from anondb.pages.text import counted, number, short
from anondb.report.owner import OwnerReport

MOST_ROWS, MOST_FORMS, WIDTH = 25, 3, 480
AS_ITSELF, DELETED = "as itself", "deleted"
Forms = Mapping[str, tuple[str, ...]]


def side_by_side(reports: Sequence[OwnerReport]) -> dict[str, Any]:
    """Compare two releases by their reports.

    Returns:
        ``counts``, sentences on the differences; ``rows``, items that differ, each with its persons and forms; ``more``, how
        many are left out; ``figures``, a title and two drawings each; ``answers``; ``items``; ``forms``, what stands for
        each, and ``reasons``, why that was formed.
    """
    forms, persons = [_forms(report) for report in reports], reports[0].supports
    items = sorted({*forms[0], *forms[1]})
    differing = [item for item in items if forms[0].get(item) != forms[1].get(item)]
    differing.sort(key=lambda item: (_kind(forms[0], item) == _kind(forms[1], item), -persons.get(item, 0)))
    rows = [(item, f"{persons.get(item, 0):,}", *(several(form.get(item, ())) for form in forms)) for item in differing]
    figures = [("Persons with an item, the most frequent items", [_items(report) for report in reports])]
    seen = [{attribute.name: attribute for attribute in report.seen} for report in reports]
    for name in dict.fromkeys([*seen[0], *seen[1]]):
        figures.append(
            (f"Persons by {name}", [attributes[name].drawn(WIDTH) if name in attributes else "" for attributes in seen])
        )
    comparison = {"counts": _counted(forms, differing), "rows": rows[:MOST_ROWS]}
    comparison |= {"more": len(rows) - MOST_ROWS, "figures": figures, "answers": _answers(reports)}
    return comparison | {"items": items, "forms": forms, "reasons": [report.reasons for report in reports]}


def _forms(report: OwnerReport) -> Forms:
    """The labels that stand for each item; none for one that is deleted."""
    forms: dict[str, tuple[str, ...]] = {item.label: () for item in report.suppressed}
    for item in report.contents.items:
        for member in item.members:
            forms[member] = (*forms.get(member, ()), AS_ITSELF if item.as_itself else item.label)
    return forms


def several(labels: Sequence[str]) -> str:
    """What stands for an item, in words; the rows of local recodings may show it in many ways."""
    shown = " or ".join(short(label, 200) for label in labels[:MOST_FORMS])
    return (shown or DELETED) + (f" or {counted(len(labels) - MOST_FORMS, 'other')}" if len(labels) > MOST_FORMS else "")


def _kind(forms: Forms, item: str) -> str:
    """What becomes of an item: unchanged, deleted or generalized."""
    kept = forms.get(item, ())
    return "unchanged" if kept == (AS_ITSELF,) else "generalized" if kept else DELETED


def _counted(forms: Sequence[Forms], differing: Sequence[str]) -> list[str]:
    """Sentences on how many items are unchanged, generalized or deleted in each of both releases."""
    counts = Counter(tuple(_kind(form, item) for form in forms) for item in differing)
    sentences = []
    for (first, second), n in counts.items():
        how = f"{first} differently" if first == second else f"{first} in the first and {second} in the second"
        sentences.append(f"{counted(n, 'item')} {how}")
    return sentences


def _items(report: OwnerReport) -> str:
    """The histogram of the most frequent items."""
    after = {count.items[0]: count.estimate for count in report.contents.counts}
    frequent = sorted(report.supports.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_NAMES]
    if not frequent:
        return ""
    return of_categories("Items before and after", [(i, n, after.get(i, 0.0)) for i, n in frequent], WIDTH)


def _answers(reports: Sequence[OwnerReport]) -> list[list[str]]:
    """Ten questions that both answered, items and pairs of items, spread over their true counts: the truth, and twice an
    estimate and its bounds."""
    chosen = []
    for words in ("1 item", "2 items"):
        answered = [
            {items: figures for asked in report.asked if asked.words == words for items, *figures in asked.answers}
            for report in reports
        ]
        for items in spread([items for items in answered[0] if items in answered[1]], 5):
            row = [", ".join(items), number(answered[0][items][0])]
            for _, estimate, low, high in (answers[items] for answers in answered):
                row += [number(estimate), f"{number(low)} to {number(high)}"]
            chosen.append(row)
    return chosen
