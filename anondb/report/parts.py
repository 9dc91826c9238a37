"""Parts of pages that owners and analysts both get: the promise, the map of released items, and what releases are."""

from collections.abc import Sequence
from html import escape
from itertools import accumulate

from anondb.pages.html import both, table
from anondb.pages.text import counted, label, percent, raised, short
from anondb.pages.treemap import Cell, treemap
from anondb.release.objects import ReleasedItem
from anondb.report.contents import Contents

MOST_ROWS = 25
MOST_MEMBERS = 6  # in a cell of the map
LISTED, SET = 70, 26  # letters of the members that a table lists, and of the label of a set


def promise(contents: Contents, verified: str = "") -> str:
    """The section on the promise; ``verified`` is a paragraph about its check."""
    covered, uncovered = contents.covers
    return (
        f'<h2>The promise: {raised(contents.promise)}</h2><div class="pair"><p><b>Covered.</b> {escape(covered)}</p>'
        f"<p><b>Not covered.</b> {escape(uncovered)}</p>{verified}<p>It is not differential privacy. Releases of the same"
        " persons can be compared, and who knows the algorithm can rule out some originals.</p></div>"
    )


def kind_words(contents: Contents) -> str:
    """What kind of release it is, in one or two sentences."""
    kind = contents.release.kind
    if contents.buckets is not None:
        b = contents.buckets
        return (
            f"An anatomy: no item is changed. The items are divided into {counted(b.columns, 'column')} and the transactions"
            f" into {counted(b.buckets, 'bucket')} of {b.smallest:,} to {b.largest:,}; the release does not say which"
            " values of a bucket's columns belong to the same transaction."
        )
    if not contents.items:
        return "No item is released, only the number of transactions."
    words = "Each item has the same released item in all transactions (a global recoding)."
    if kind.local:
        words = "An item may be shown as itself in one transaction and by a released item in another (a local recoding)."
    if contents.manifest["semantics"] == "atomic":
        words += " Two copies of a released item in a transaction stand for two different items."
    if kind.attributes is not None:
        names = ", ".join(label(a.name) for a in kind.attributes)
        words += f" Each transaction has a record with generalized values of {names}."
    return words


def cells(items: Sequence[ReleasedItem]) -> list[Cell]:
    """The cells of the map of released items."""
    return [Cell(*((i.label, "as itself") if i.as_itself else _named(i)), i.support, max(len(i.members), 1)) for i in items]


def _named(item: ReleasedItem) -> tuple[str, str]:
    """The name of a cell, and what it stands for; the label of a set is its items, which are not repeated."""
    rest = ", \N{HORIZONTAL ELLIPSIS}" if len(item.members) > MOST_MEMBERS else ""
    listed, several = ", ".join(m[:40] for m in item.members[:MOST_MEMBERS]) + rest, f"{len(item.members):,} items"
    return (listed, several) if _is_set(item) else (item.label, f"{several}: {listed}")


def _set(words: str) -> str:
    """The label of a set, cut behind one of its items."""
    first = words if len(words) <= SET else words[:SET].rpartition(",")[0] + ",\N{HORIZONTAL ELLIPSIS}"
    return f'<span class="whole">{label(first)}</span>'


def _is_set(item: ReleasedItem) -> bool:
    """Whether the label is a list of the items that it stands for."""
    return item.label.startswith(f"({item.members[0][:20]}")


def item_map(contents: Contents, drawn_cells: Sequence[Cell], rest: str = "") -> str:
    """The map of released items, for wide and for narrow windows; empty for anatomies and if there is nothing to show."""
    if not drawn_cells or contents.buckets is not None:
        return ""

    def words(cell: Cell) -> str:
        shown = "shown by" if cell.size else "held by"
        return f"{short(cell.name)}: {short(cell.note, 160)}; {shown} {counted(round(cell.weight), 'transaction')}" + (
            " together" if cell.cells > 1 else ""
        )

    title = "Map of the released items"
    drawn = both(*(treemap(title, drawn_cells, *size, words) for size in ((1100, 420), (356, 520), (700, 400))))
    return (
        f"<figure>{drawn}<figcaption>Each area is in proportion to the number of transactions that show the item. Grey:"
        f" shown as itself. Blue: stands for several items, the stronger the colour the more.{rest} Small areas are drawn"
        " together.</figcaption></figure>"
    )


def members(item: ReleasedItem) -> str:
    """The original items that a released item stands for, the first few of them."""
    names = [short(m, 40) for m in item.members]
    shown = 1 + sum(length <= LISTED for length in accumulate(len(name) + 2 for name in names[1:]))
    rest = len(names) - shown
    return escape(", ".join(names[:shown])) + (f" and {rest:,} more" if rest else "")


def generalized(contents: Contents, reasons: dict[str, str]) -> str:
    """The table of the released items that stand for several items; ``reasons`` has what forced them, if that is known."""
    items = contents.generalized
    if not items or contents.buckets is not None:
        return ""
    shown = items[:MOST_ROWS]
    why = any(i.label in reasons for i in shown)
    head = ["released item", "items", "transactions", "share", "stands for", *(["why"] if why else [])]
    rows = [
        [
            _set(i.label) if _is_set(i) else label(i.label),
            f"{len(i.members):,}",
            f"{i.support:,}",
            percent(i.support / contents.transactions if contents.transactions else None),
            members(i),
            *([label(reasons.get(i.label, "-"), 300)] if why else []),
        ]
        for i in shown
    ]
    return (
        f"<h3>{counted(len(items), 'released item')} {'stands' if len(items) == 1 else 'stand'} for several items</h3>"
        + table(head, rows, text=(0, 4, 5))
        + more(len(items) - len(shown), "less frequent one")
    )


def more(n: int, what: str) -> str:
    """A line on the rows that a table leaves out."""
    return f'<p class="note">And {counted(n, what)}.</p>' if n > 0 else ""
