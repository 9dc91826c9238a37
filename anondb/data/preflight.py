"""Findings about the data of a release that its owner has to confirm: what it would mean is not what it seems."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from typing import Any

from anondb.data.layouts import ITEMS, ROW_ID
from anondb.data.transactions import Dataset
from anondb.engine import Engine, reads
from anondb.engine.texts import listed, literal, sql
from anondb.errors import InputError, by_interface, quote_list
from anondb.reading.account import Finding
from anondb.reading.options import MARKS

PERSON_WORDS = "uid|pid|customer|client|patient|pat|subject|user|member|person"
_IDS = f"{PERSON_WORDS}|t?id|basket|order|invoice|session|visit|trans(action)?"
ID_NAME = re.compile(
    rf"(^|[\W_])({_IDS})([\W_]*(id|no|nr|number|key|num)[\W_]*)?$|customerid|invoiceno|userid|dupersid", re.I
)
"""How a column of ids is called."""
_ENOUGH_PERSONS = 100  # fewer say nothing about shares
_ENOUGH_ITEMS = 10
_ENOUGH_IDS = 20  # to tell one that is unlike all others
_MISSING_WORDS = (
    *("", ".", "\\N", "NULL", "null", "NaN", "nan", "None", "N/A", "#N/A", "NA", "<NA>"),
    *("#REF!", "#VALUE!", "#DIV/0!", "#NAME?"),  # of Excel
)


Found = Iterator[tuple[str, str]]  # names of findings, with their messages


def findings(
    engine: Engine, dataset: Dataset, *, item_domains: bool = False, ids_here: bool = True, attributes: Collection[str] = ()
) -> list[Finding]:
    """The findings of a dataset, before an algorithm runs: ``item_domains`` says whether the owner knows that items have the
    names of their columns before them, ``ids_here`` whether the ids lie in the engine; ``attributes`` are released columns
    of the records."""
    found = [_in_lengths(dataset), _in_labels(dataset), _in_words(engine, dataset, ids_here)]
    found += [] if item_domains else [_prefixed(engine, dataset, ids_here)]
    found += [_unused_columns(dataset, attributes), _swapped(dataset), _other_ids(engine, dataset, ids_here)]
    return [Finding(name, words) for name, words in chain.from_iterable(found)]


def _unused_columns(dataset: Dataset, attributes: Collection[str]) -> Found:
    """The columns that nothing uses: all of a file of which the owner did not name both the column of ids and that of items;
    else those whose names differ from that of the items by a number only."""
    account, named = dataset.account, dataset.id_column != ROW_ID and dataset.item_column != ITEMS
    if account is not None and not named and (names := [name for name in account.left_out if name not in attributes]):
        yield "left-out", f"Columns are left out: {', '.join(names)}. Only ids and items are released."
        return
    stems = {name: re.sub(r"[\W\d_]+", "", name).lower() for name in (*dataset.left_out, dataset.item_column)}
    left = [n for n in dataset.left_out if n not in attributes and (account is None or account.header)]
    if names := [n for n in left if stems[n] == stems[dataset.item_column] != ""]:
        words = "Columns named like that of items are left out"
        yield "left-out", f"{words}: {', '.join(names)}. --item A,B or --item 'A*' reads several."


def _other_ids(engine: Engine, dataset: Dataset, ids_here: bool) -> Found:
    """Ids that are not written as nearly all others are: most are numbers, or all others have a digit and other lengths."""
    if dataset.n_transactions < _ENOUGH_IDS or not ids_here:
        return
    lengths = "length(id) AS size, max(CASE WHEN regexp_matches(id, '[0-9]') THEN length(id) END) OVER () AS longest"
    lengths += ", min(CASE WHEN regexp_matches(id, '[0-9]') THEN length(id) END) OVER () AS shortest"
    plain = reads.rows(dataset.ids, "CAST(id AS VARCHAR) AS id", where="typeof(id) = 'VARCHAR'")
    sums = "count(*) AS n, count(CASE WHEN regexp_matches(id, '^[0-9.]+$') THEN 1 END) AS numbers"
    sums += ", count(CASE WHEN regexp_matches(id, '[0-9]') OR size BETWEEN shortest AND longest THEN 1 END) AS digits"
    counts = engine.select(reads.rows(reads.rows(plain, f"id, {lengths}"), sums), "looking at ids")
    n, numbers, digits = (int(column[0]) for column in counts.values())
    of_numbers = numbers >= 0.8 * n
    others, what = (n - numbers, "are no numbers") if of_numbers else (n - digits, "have no digit")
    if 0 < others <= (0.2 if of_numbers else 0.01) * n:
        words = f"{_share(others, n)} ids {what}, unlike the others: a total, a second header, or rows that cancel others?"
        yield "other-ids", f"{words} A view leaves them out."


def _swapped(dataset: Dataset) -> Found:
    """Whether the column of items is rather that of persons, whose ids the legend of a release would name."""
    called = ID_NAME.search(dataset.item_column) and not ID_NAME.search(dataset.id_column)
    if called and dataset.n_items > dataset.n_transactions:
        words = "The column of items is called like one of ids, and has more values than there are persons"
        yield "swapped-columns", f"{words}: are both swapped?"


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}"


def _in_lengths(dataset: Dataset) -> Found:
    """What the numbers of items of persons say of the ids."""
    persons, single = dataset.n_transactions, dataset.lengths.get(1, 0)
    if persons < _ENOUGH_PERSONS or dataset.n_items < 2 or single < 0.95 * persons:
        return
    if single == persons == dataset.n_occurrences + dataset.duplicates:
        words = f"Each of the {persons:,} rows is a person of its own, with one item: the column of ids may number rows."
        yield "row-per-person", words
    else:
        words = f"{_share(single, persons)} persons have one item: the column of ids may not be that of persons."
        yield "one-item", words


def _in_labels(dataset: Dataset) -> Found:
    """What the labels of the items say of them."""
    labels, number = dataset.labels, dataset.n_items
    if number < _ENOUGH_ITEMS:
        return
    rare = int((dataset.supports == 1).sum())
    if dataset.n_transactions >= _ENOUGH_PERSONS and 2 * rare > number:
        words = f"{_share(rare, number)} items belong to a single person. The legend of a release names all items"
        yield "rare-items", f"{words}: a text that somebody typed can name a person."
    lists = sum(label[:1] in "[{" and label[-1:] in "]}" for label in labels if len(label) > 1)
    if 5 * lists >= number:
        yield "lists-in-items", f"{_share(lists, number)} items look like lists or JSON: --layout list reads their parts."
    words = ""
    for separator in MARKS if not lists else ():
        joined = [label for label in labels if separator in label]
        parts = {part.strip() for label in joined for part in label.split(separator)}
        if 5 * len(joined) >= number and len(parts) < len(joined):
            words = f"{_share(len(joined), number)} items are made of {len(parts):,} parts that {separator!r} separates"
    if words:
        yield "separators-in-items", f"{words}: --layout list reads them."


def _prefixed(engine: Engine, dataset: Dataset, rows_here: bool) -> Found:
    """Whether items look like values with the name of their column before them, such as color.red and trim.red. Few names
    come with few values, and a row has one value of a column. Codes such as E11.9 have as many first parts as items, or
    persons with two codes of the same one; a first part without a digit is no code. A code in two spellings, such as E11.9
    and e11.9., counts once."""
    spelled = [re.sub(r"\W+$", "", label).casefold() for label in dataset.labels]
    labels = set(spelled)
    parts = [label.partition(".") for label in labels if "." in label]
    starts, ends = ({part[i] for part in parts} for i in (0, 2))
    most = len(labels) / 2
    if len(labels) < _ENOUGH_ITEMS or len(parts) < 0.8 * len(labels) or max(len(starts), len(ends)) > most:
        return
    if all(re.search(r"\d", start) for start in starts):
        rows = {"transactions": dataset.transactions, "items": dataset.items}
        is_number = all(start.isdigit() for start in starts)
        if not rows_here or is_number or engine.scalar("transactions/prefixed_twice", rows):
            return
    prefixed = (
        f"{_share(sum('.' in label for label in spelled), dataset.n_items)} items have a prefix such as the name of a column"
    )
    yield (
        "column-prefixes",
        f"{prefixed}, and {len(ends):,} different values after it: equal values count as different items.",
    )


def _in_words(engine: Engine, dataset: Dataset, ids_here: bool) -> Found:
    """What single words among the items, or the ids, say of the file."""
    support = dict(zip(dataset.labels, dataset.supports.tolist(), strict=True))
    ids: set[str] = set()
    if ids_here:  # only texts can be words
        texts = reads.rows(dataset.ids, "CAST(id AS VARCHAR) AS word", where="typeof(id) = 'VARCHAR'")
        among = sql("word IN ({})", listed(map(literal, (*_MISSING_WORDS, dataset.id_column))))
        ids.update(engine.select(reads.rows(texts, "word", where=among), "looking for ids")["word"].tolist())

    def is_part(rows: int) -> bool:
        """Whether these rows are a hundredth of the number of persons, of whom there are enough to speak of shares."""
        return dataset.n_transactions >= _ENOUGH_PERSONS and 100 * rows >= dataset.n_transactions

    if dataset.id_column in ids or (support.get(dataset.item_column, 0) and dataset.account is not None):
        words = "An item or an id has the name of its column: there may be a second header, as where two files were joined."
        yield "header-in-items", words
    missing, missing_ids = sum(support.get(word, 0) for word in _MISSING_WORDS), len(ids.intersection(_MISSING_WORDS))
    if missing_ids or is_part(missing):
        words = f"{missing:,} rows have an item, and {missing_ids:,} persons an id, that means that there is none"
        yield "missing-words", f"{words}, such as NULL, NA, a point or an empty text."
    marks = [support.get(mark, 0) for mark in ("-1", "-2")]
    if all(marks) or is_part(sum(marks)):
        words = f"{sum(marks):,} rows have the item -1 or -2, with which SPMF separates"
        yield "marks-in-items", f"{words}: --layout spmf leaves them out."


def one_released_item(dataset: Dataset, released: int) -> list[Finding]:
    """The finding that a release shows all items as one."""
    if released != 1 or dataset.n_items < _ENOUGH_ITEMS or dataset.n_transactions < _ENOUGH_PERSONS:
        return []
    words = f"All {dataset.n_items:,} items would be released as one: the promise is so strong that the rows say nothing."
    return [Finding("one-released-item", words)]


def modelled_records(attributes: Collection[str]) -> list[Finding]:
    """The finding that modelled rows would show attributes; none without any."""
    words = "Modelled rows would show values of {}: those of wide ranges are guesses, and no row is a person's."
    return [Finding("modelled-records", words.format(", ".join(attributes)))] if attributes else []


def unused_hierarchies(names: Collection[str], attributes: Collection[str]) -> list[Finding]:
    """The finding that hierarchies have no quasi-identifier of their name; ``names`` may be empty for an empty folder."""
    used = {attribute.lower() for attribute in attributes}
    unused = [name for name in names if name.lower() not in used]
    if names and not unused:
        return []
    which = f"{len(unused)} of {len(names)} hierarchies have no quasi-identifier of their name: {quote_list(unused)}."
    return [Finding("unused-hierarchies", which if names else "The folder of hierarchies is empty.")]


FINDINGS = (
    *("row-per-person", "one-item", "rare-items", "lists-in-items", "separators-in-items", "column-prefixes"),
    *("header-in-items", "missing-words", "marks-in-items", "left-out", "one-released-item", "unused-hierarchies"),
    *("modelled-records", "swapped-columns", "other-ids"),
)


def confirmed(raised: Sequence[Finding], accept: Collection[str], ask: Callable[[Any], bool] | None) -> tuple[Finding, ...]:
    """The findings, all of which the owner has confirmed by name or on being asked. Raises InputError: ``unconfirmed``, with
    all findings that are not."""
    if left := [f for f in raised if f.name not in accept and not (ask is not None and ask(f))]:
        names = [f.name for f in left]
        flags, option = " ".join(f"--accept {name}" for name in names), f"accept = '{','.join(names)}'"
        accepting = by_interface(command_line=flags, python=f"accept={names}", sql=option, toml=option)
        words = " ".join(f"{f.name}: {f.message}" for f in left)
        raise InputError(words, code="unconfirmed", hint=f"Mend it, or confirm it with {accepting}.")
    return tuple(raised)


def check_names(accept: Collection[str]) -> None:
    """Refuse a name that is no finding's. Raises InputError: ``bad_parameter``."""
    for name in accept:
        if name not in FINDINGS:
            raise InputError(f"There is no finding {name!r}, only {', '.join(FINDINGS)}.", code="bad_parameter")
