"""The analysts' page on a release. Everything on it is read from the release's own tables, those that a sealed file has."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from anondb.engine.trees import exp
from anondb.pages.counts import Answered, intervals, spread
from anondb.pages.html import both, page, table, tiles
from anondb.pages.text import counted, label, percent, raised
from anondb.report.contents import Bounds, Contents, value_words
from anondb.report.parts import cells, generalized, item_map, kind_words, promise


def public_page(contents: Contents) -> str:
    """The whole page."""
    manifest = contents.manifest
    body = [
        f"<h1>An anonymized release of {label(manifest['table'])}</h1>",
        f"<p>{raised(contents.promise)}, release <code>{label(manifest['release_id'])}</code>, made with anondb"
        f" {label(manifest['version'])}. Everything on this page follows from the release itself.</p>",
        tiles(_tiles(contents)),
        promise(contents),
        "<h2>What released items stand for</h2>",
        f"<p>{kind_words(contents)} {_suppression(contents)}</p>",
        item_map(contents, cells(contents.items)),
        generalized(contents, {}),
        _values(contents),
        _asking(contents),
        _precision(contents),
        _supports(contents),
    ]
    return page(f"anondb release {manifest['release_id']}", body)


def _tiles(contents: Contents) -> Iterator[tuple[str, str, str]]:
    yield "transactions", f"{contents.transactions:,}", "one for each person or basket"
    yield "released items", f"{len(contents.items):,}", f"{len(contents.generalized):,} stand for several items"
    yield "original items", f"{contents.originals:,}", "that released items stand for"
    share = contents.exact / len(contents.counts) if contents.counts else None
    yield "known exactly", percent(share), "of the items, each counted alone"


def _suppression(contents: Contents) -> str:
    if contents.buckets is not None:
        return "Nothing is suppressed."
    if not contents.suppressed:
        return "Nothing was suppressed: an item that is not listed occurs in no transaction."
    words = "Some occurrences were suppressed: an item that is not listed may have occurred."
    if 0 < contents.incomplete < contents.transactions:
        words += (
            f" {counted(contents.incomplete, 'transaction')} may have lost some (<code>complete</code> is false in"
            " <code>transaction_ids</code>)."
        )
    return words


def _values(contents: Contents) -> str:
    attributes = contents.release.kind.attributes
    if not attributes:
        return ""
    rows = []
    for a in attributes:
        name = label(a.name)
        how = f"ranges, with their ends in {name}_lo and {name}_hi" if a.ends else "categories; released_values lists them"
        rows.append([name, how, "may be missing" if a.has_null else ""])
    return "<h3>Values of the records</h3>" + table(("attribute", "shown as", ""), rows, (0, 1, 2))


def _asking(contents: Contents) -> str:
    """How to ask: an example in SQL and in Python, and how to read its answer."""
    manifest, examples = contents.manifest, contents.examples
    parts = [
        "<h2>How to ask</h2><p>Every answer is an estimate between a lower and an upper bound. <b>The bounds always"
        " hold</b>: the number in the original data lies between them. The estimate is the expected number if nothing else"
        " is known.</p>"
    ]
    if not examples:
        parts.append("<p>No item is released, so a file like this answers how many transactions there are.</p>")
        return "".join(parts)
    lookup = exp.select("*").from_("released_items").where(exp.column("item").eq(exp.convert(examples[0].items[0])))
    if contents.buckets is not None:
        lookup = exp.select("*").from_(exp.Table(this=exp.func("reconstruct", exp.convert(1), dialect="duckdb")))
    often = exp.select("*").from_("item_counts").order_by("estimate DESC").limit(10)
    asked = [exp.select("*").from_(exp.Table(this=e.call())) for e in examples]
    trees = [*asked, lookup, often, exp.select("*").from_("manifest")]
    parts.append(
        "<p>In any DuckDB client, with the file opened (or attached, and then <code>USE</code>):</p>"
        f"<pre>{escape(''.join(f'{_sql(tree)};{chr(10)}' for tree in trees))}</pre>"
    )
    rows = [[_asked(e, contents), f"{e.lower:,}", f"{e.estimate:,.1f}", f"{e.upper:,}"] for e in examples]
    parts.append(
        _made_up(contents)
        + f"<p>The first answers are:</p>{table(('transactions that hold', 'lower bound', 'estimate', 'upper bound'), rows)}"
    )
    parts.append(_rewritten(manifest, examples[0]))
    return "".join(parts)


def _made_up(contents: Contents) -> str:
    if contents.buckets is None:
        return ""
    return (
        "<p><code>reconstruct(1)</code> returns rows for rule mining: it joins the values of each bucket at random, so its"
        " rows are not those of persons; other numbers give other rows.</p>"
    )


def _asked(bounds: Bounds, contents: Contents) -> str:
    ranges = {a.name for a in contents.release.kind.attributes or () if a.ends is not None}
    where = (value_words(condition, ranged=condition[0] in ranges) for condition in bounds.where)
    return ", ".join([" and ".join(label(item) for item in bounds.items), *map(label, where)])


def _sql(tree: exp.Select) -> str:
    return tree.sql(dialect="duckdb", normalize_functions=False)


def _rewritten(manifest: dict[str, str], example: Bounds) -> str:
    """The same question in SQL for the original table."""
    person, item = (exp.column(exp.to_identifier(manifest[name])) for name in ("id_column", "item_column"))
    number = exp.Count(this=exp.Distinct(expressions=[person])).as_("n")
    asked = exp.select(number).from_(exp.Table(this=exp.to_identifier(manifest["table"])))
    query = _sql(asked.where(item.eq(exp.convert(example.items[0]))))
    code = 'import anondb\n\nwith anondb.open("release.duckdb") as release:\n    print(release.sql("""{}""").df())'
    return (
        "<p>With anondb, ask in SQL that is written for the original table; beside each number <code>n</code> there are"
        f" <code>n_lower</code> and <code>n_upper</code>:</p><pre>{escape(code.format(query))}</pre>"
    )


def _precision(contents: Contents) -> str:
    """The bounds of single items."""
    if not contents.counts:
        return ""
    answers = [Answered(c.items[0], c.lower, c.estimate, c.upper) for c in contents.counts]
    title = "Bounds and estimates of single items"
    drawn = both(intervals(title, spread(answers, 24), 1100), intervals(title, spread(answers, 16), 356))
    return (
        f"<h2>How precise answers are</h2><p>{_exactly(contents)} Below are some items, evenly spaced from the most to the "
        "least frequent one (<code>item_counts</code> has all). Bounds of two items and more are wider in "
        f"comparison.</p><figure>{drawn}<figcaption>Bar: from the lower to the upper bound, in transactions, on a "
        "logarithmic scale. Dot: estimate.</figcaption></figure>"
    )


def _exactly(contents: Contents) -> str:
    if not contents.exact:
        return "No item is known exactly: its upper bound is above its lower bound."
    several = f"{contents.exact:,} of {counted(len(contents.counts), 'item')} have equal bounds, so their counts are"
    return ("One item has equal bounds, so its count is" if contents.exact == 1 else several) + " known exactly."


def _supports(contents: Contents) -> str:
    if not contents.release.kind.item_supports:
        return ""
    return (
        "<h2>Item supports</h2><p>Among the transactions that show a released item, some hold one of its items, others"
        " another one. The table <code>item_supports</code> has two numbers for each of these items: at least and at most so"
        " many of them hold it. The bounds above use it.</p>"
    )
