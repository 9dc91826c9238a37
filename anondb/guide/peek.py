"""Proposes how a file or a table is read: format, dialect, layout and columns, with three persons as they would be read."""

import codecs
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from anondb.data.layouts import FALSE, TRUE
from anondb.data.preflight import ID_NAME, PERSON_WORDS, findings
from anondb.data.records import MEASURE
from anondb.data.sources import open_source
from anondb.data.sources import reading as opening
from anondb.data.transactions import Dataset, load_transactions
from anondb.engine import Engine, reads, tuples
from anondb.engine.spill import private_block
from anondb.engine.texts import listed, quoted, sql
from anondb.errors import InputError
from anondb.guide.counts import counts_of
from anondb.guide.look import Peek
from anondb.guide.people import IDENTIFIER, people
from anondb.reading.dialect import (
    EXCEL_NOTE,
    detected_delimiter,
    lines_above,
    looks_like_fimi,
    looks_like_spmf,
    sample_of,
    sample_records,
    wide_encoding_of,
)
from anondb.reading.formats import Format, decompressed, format_of, plain_text
from anondb.reading.options import MARKS, PEOPLE, ReadAs, Reading, named, names_text, reading_flags, word_of

PERSONS = 3
NOBODY = "It has no rows, so that nobody is in it."
_PERSON = re.compile(PERSON_WORDS, re.I)
_ITEM = re.compile(
    r"(^|[\W_])(items?|products?|articles?|sku|stock|codes?|icd|diagnos\w*|drug|movie|page|genre|goods)", re.I
)
_NUMBER = re.compile(r"\d+[\W_]*$")
_INTEGER = re.compile(r"[-+]?[\d.]*\d-?")
# the marks of UTF-32 first: that of its little end begins with that of UTF-16
_BYTE_ORDER = dict.fromkeys((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "utf-32")
_BYTE_ORDER |= dict.fromkeys((codecs.BOM_LE, codecs.BOM_BE), "utf-16")
_RARE_MARKS = ("~", "^", " ")  # that separate fields if there is none of the usual


class _Guess(dict[str, Any]):
    """The options of reading: those that the owner names, and those that are proposed, with the reasons."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__(options)
        self.reasons: list[str] = []

    def propose(self, reason: str, **options: Any) -> None:
        """Add options that the reason stands for."""
        self.update(options)
        self.reasons.append(reason)


def peek(engine: Engine, source: Path | str, options: Mapping[str, Any]) -> Peek:
    """Propose how transactions in a file, or a table of this name, are read, and read them so, outside a transaction and
    without writing. The owner names some options of reading, with ``id`` and ``item``; all others are proposed. Raises
    InputError: the file does not exist, or is of no format that is read."""
    guess, form, called = _Guess(options), "table", source
    if isinstance(source, Path):
        file_format = format_of(source, f"file {source.name!r}")
        called, form = source.name, ", ".join(filter(None, (file_format.name, file_format.compression)))
        if file_format.name in ("text", "dat"):
            with private_block(engine.spill_directory) as private:
                _propose_text(source, file_format, private, f"file {source.name!r}", guess)
    read: dict[str, Any] = {}
    try:
        columns, rows = _first_rows(engine, source, guess)
        if columns:
            _propose_columns(columns, rows, guess)
        read = _read(engine, source, guess, columns, rows)
    except InputError as error:
        read["problem"] = str(error)
    command = _command(source, guess, read.pop("quasi", ()))
    return Peek(str(called), form, dict(guess), tuple(guess.reasons), shlex.join(command), **read)


def _options(reading: Mapping[str, Any]) -> Reading:
    return Reading(**{name: value for name, value in reading.items() if name not in ("id", "item")})


def _propose_text(path: Path, file_format: Format, private: Path, name: str, guess: _Guess) -> None:
    """Propose encoding, skipped lines, delimiter, header and the layouts in which a line is a person."""
    with decompressed(path, file_format.compression) as stream:
        start = stream.read(4)
    marked = next((encoding for mark, encoding in _BYTE_ORDER.items() if start.startswith(mark)), None)
    if "encoding" not in guess and marked:
        guess.propose(f"it begins with the byte order mark of {marked.upper()}", encoding=marked)
    try:
        sample = sample_of(plain := plain_text(path, file_format, _options(guess), private, name))
        if "encoding" not in guess and (found := wide_encoding_of(sample) or ("\ufffd" in sample and "latin-1")):
            guess.propose(f"it is not UTF-8: {found} is a guess", encoding=found)
            sample = sample_of(plain := plain_text(path, file_format, _options(guess), private, name))
        note = EXCEL_NOTE.match(sample)
        of_columns = file_format.name == "text" and note is None and "layout" not in guess
        above = lines_above(plain, sample, _options(guess), file_format.suffix, name) if of_columns else 0
    except InputError:
        return
    if not sample:
        return
    mark = detected_delimiter(sample, _options(guess), file_format.suffix, name)[0] if above else None
    if mark and sum(map(bool, sample_records(sample, mark, '"')[0])) > 1:
        guess.propose("its first line has several values, so that it is no title", skip=0)
    elif above:
        guess.propose("its first line is a title: the lines below have more values", skip=above)
        sample = "".join(sample.splitlines(keepends=True)[above:])
    if note is not None and "skip" not in guess:
        guess.propose("line 1 is Excel's note of the separator", skip=1, delimiter=note[1])
        sample = sample.partition("\n")[2]
    if "layout" in guess or looks_like_spmf(plain) or (file_format.name == "dat" and looks_like_fimi(sample)):
        return
    if file_format.name == "dat":
        guess.propose("it is no FIMI file, whose items are separated by blanks", layout="long")
    _propose_dialect(sample, file_format, name, guess)


def _propose_dialect(sample: str, file_format: Format, name: str, guess: _Guess) -> None:
    try:
        delimiter, share = detected_delimiter(sample, _options(guess), file_format.suffix, name)
    except InputError:
        return
    lines = [line for line in sample.splitlines() if line]
    if delimiter is None and all(re.fullmatch(r"[\d ]+", line) for line in lines[:50]):
        guess.propose("each line has numbers separated by blanks", layout="basket", delimiter=" ")
        return
    occurring = [mark for mark in MARKS if mark in sample]
    if delimiter is None and len(occurring) == 1:  # the first line has one field
        delimiter, share = occurring[0], 0.0
    if delimiter is None:
        delimiter = next((mark for mark in _RARE_MARKS if _are_columns(sample, mark)), None)
        if delimiter is None:
            return
        guess.propose(f"all lines have as many fields if {named(delimiter)} separate them", delimiter=delimiter)
    records = sample_records(sample, delimiter, '"')
    changes = sum(len(record) != len(other) for record, other in pairwise(records))
    if share < 1 and 4 * changes >= len(records) and not any(ID_NAME.search(field) for field in records[0]):
        guess.propose("the lines have different numbers of fields, as baskets have", layout="basket", delimiter=delimiter)
    elif "header" not in guess and records and not _has_header(records):
        guess.propose("the first line looks like the others, not like names", header=False)


def _are_columns(sample: str, mark: str) -> bool:
    """Whether a mark separates all lines of a sample into the same number of fields, of which there are several."""
    widths = [len(record) for record in sample_records(sample, mark, '"')]
    return len(widths) > 1 and widths[0] > 1 and len(set(widths)) == 1


def _has_header(records: Sequence[Sequence[str]]) -> bool:
    """Whether the first record looks like the names of columns: no number, no empty field, and nothing that occurs again, or
    the name of an id."""
    others = records[1:]
    first = [name for i, name in enumerate(records[0]) if name or any(any(record[i : i + 1]) for record in others)]
    if any(re.fullmatch(r"-?[\d.,]+", field.strip()) for field in first) or len(set(first)) < len(first):
        return False
    if any(map(ID_NAME.search, first)):  # a second header may repeat it
        return True
    others = [record for record in others if len(set(first) & set(record)) < 2]  # the same header again
    return not any(field and any(field in record for record in others) for field in first)


def _first_rows(
    engine: Engine, data: Path | str, reading: Mapping[str, Any]
) -> tuple[list[str], list[tuple[str | None, ...]]]:
    """The names of the columns and the first rows of a rectangular source."""
    with engine.transaction(), open_source(engine, ReadAs(data, _options(reading)), "transactions") as source:
        if source.of_lines:
            return [], []
        texts = listed(f"CAST({quoted(name)} AS VARCHAR) AS c{i}" for i, name in enumerate(source.columns))
        first = reads.rows(source.query, texts).first(200)
        with opening(source.name):
            rows = engine.select(first, "reading the first rows")
        return list(source.columns), list(tuples(rows))


def _propose_columns(columns: list[str], rows: list[tuple[str | None, ...]], guess: _Guess) -> None:
    """Propose the layout, and the columns of ids and of items."""
    values = {c: [row[i] or "" for row in rows] for i, c in enumerate(columns)}
    ids = [c for c in columns if ID_NAME.search(c)]
    ids.sort(key=lambda c: (len(set(values[c])) == len(rows), not _PERSON.search(c)))
    if "id" not in guess and ids and "tid" not in columns:
        guess.propose(f"{ids[0]!r} is called like an id", id=ids[0])
    others = [c for c in columns if c != guess.get("id", "tid")]
    if "item" in guess or not others or guess.get("layout", "long") != "long":
        return
    if "layout" not in guess and _propose_several(others, values, guess):
        return
    if "id" not in guess and "tid" not in columns and len(columns) > 1:
        likely = _likely([c for c in columns if not _ITEM.search(c)] or columns, values)
        id = next((c for c in likely if len(set(values[c])) < len(rows)), likely[0])
        guess.propose(f"{id!r} as the id is a guess", id=id)
    if "item" not in columns:
        _propose_item([c for c in columns if c != guess.get("id", "tid")], ids, values, guess)


def _propose_several(others: list[str], values: Mapping[str, list[str]], guess: _Guess) -> bool:
    """Propose several columns of items: of true and false, or with names that differ by a number."""
    numbered = [c for c in others if re.search(r"\d", c)] if guess.get("header") is not False else []
    stems = {_NUMBER.sub("", c) for c in numbered}
    cells = {c: {v.strip().lower() for v in values[c]} for c in others}
    truth = [
        c for c in others if cells[c] <= {*TRUE, *FALSE} and (cells[c] & {*TRUE} or len(cells[c]) > 1 or cells[c] != {""})
    ]
    if len(truth) > 1 and 2 * len(truth) > len(others):
        item = {} if truth == others else {"item": names_text(truth)}
        guess.propose(f"{len(truth)} columns are true or false in the first rows", layout="one-hot", **item)
    elif len(numbered) > 2 and len(stems) == 1:
        stem = stems.pop()
        whole = [c for c in others if c.startswith(stem)] == numbered and stem
        items = names_text([f"{stem}*"] if whole else numbered)
        guess.propose(f"{len(numbered)} columns differ in a number only", layout="wide", item=items)
    return "layout" in guess


def _likely(columns: list[str], values: Mapping[str, list[str]]) -> list[str]:
    """The columns that may be those of ids or items: not of one value, of dates or of numbers with decimals, and if possible
    without empty cells; else all."""
    several = [c for c in columns if len(set(values[c])) > 1 and not all(MEASURE.fullmatch(v) for v in values[c] if v)]
    return [c for c in several if all(values[c])] or several or columns


def _propose_item(others: list[str], ids: list[str], values: Mapping[str, list[str]], guess: _Guess) -> None:
    """Propose the column of items, and that its cells are lists."""
    named = [c for c in others if _ITEM.search(c)]
    of_ids = values.get(guess.get("id", "tid"), [])
    single = len(of_ids) > 1 and len(set(of_ids)) == len(of_ids)
    likely = _likely(others, values)
    item = named[0] if named else max(likely, key=lambda c: len(set(values[c])) if c not in ids else -1)
    if guess.get("header") is False:
        item = likely[0]
    cells = [v for v in values[item] if v]
    lists = 2 * sum(len(re.split("[ ;|,]", v)) > 1 for v in cells) > len(cells) and not all(
        MEASURE.fullmatch(v) or _INTEGER.fullmatch(v) for v in cells
    )
    if single and not named and not lists and len(others) > 1 and "layout" not in guess and ids:
        reason = "each person has one row of attributes; in a release with a file of items this one is --records"
        guess.propose(reason, layout=PEOPLE)
        return
    guess.propose(f"{item!r} {'is called like an item' if named else 'as the item is a guess'}", item=item)
    if single and "layout" not in guess and lists:
        guess.propose("each person has one row, and most cells of items have separators", layout="list")
    if single and len(others) > 1 and guess.get("header") is not False:
        guess.propose(
            "other columns may be attributes of people, which --quasi-identifiers A,B and --model kkm release, too"
        )


def _read(
    engine: Engine, data: Path | str, reading: Mapping[str, Any], columns: list[str], rows: list[tuple[str | None, ...]]
) -> dict[str, Any]:
    """The persons, the account and the findings of reading the source so; of a table of people the roles of its columns,
    and ``quasi``, the quasi-identifiers. Its rows may be those of transactions, with a column of items."""
    of_people = reading.get("layout") == PEOPLE
    asked = ReadAs(data, _options(reading), reading.get("id", "tid"), "item" if of_people else reading.get("item", "item"))
    with engine.transaction(), open_source(engine, asked, "transactions") as source:
        dataset = load_transactions(engine, source)
        if not dataset.n_transactions:
            return {"account": dataset.account, "problem": NOBODY}
        if not of_people:
            unconfirmed = findings(engine, dataset, item_domains=bool(reading.get("item_domains")))
            read = {"findings": tuple(unconfirmed), "counts": counts_of(dataset), "persons": _persons(engine, dataset)}
            return {"account": dataset.account, **read}
        proposed = people(engine, source, replace(dataset, item_column=reading.get("item", dataset.item_column)))
        at = columns.index(source.column(asked.id, "--id"))
    roles = tuple((c.name, c.role, c.why) for c in proposed.columns)
    known = {c.name for c in proposed.columns if c.values is not None}
    shown = {str(r[at]): tuple(f"{c} {v}" for c, v in zip(columns, r, strict=True) if c in known) for r in rows}
    others = [name for name, role, _ in roles if role != IDENTIFIER]
    quasi = proposed.quasi_identifiers or others or [name for name, _, _ in roles]
    return {"account": dataset.account, "persons": tuple(shown.items())[:PERSONS], "columns": roles, "quasi": quasi}


def _persons(engine: Engine, dataset: Dataset) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The first persons, with their items in order."""
    ids = engine.select(reads.rows(dataset.ids, "tid, CAST(id AS VARCHAR) AS id", order="tid").first(PERSONS))
    first = sql("tid <= {}", PERSONS)
    pairs = engine.select(reads.rows(dataset.transactions, "tid, item", where=first, order="tid, item"))
    items: dict[int, list[str]] = {}
    for tid, item in zip(pairs["tid"].tolist(), pairs["item"].tolist(), strict=True):
        items.setdefault(tid, []).append(dataset.labels[item])
    return tuple(
        (str(person), tuple(items.get(tid, ()))) for tid, person in zip(ids["tid"].tolist(), ids["id"].tolist(), strict=True)
    )


def _command(data: Path | str, reading: Mapping[str, Any], quasi: Sequence[str]) -> list[str]:
    """The words of the command that makes a release; ``quasi`` are the quasi-identifiers of a table of people."""
    words = [
        "anondb",
        "anonymize",
        *([word_of(str(data))] if isinstance(data, Path) else ["SOURCE", "--transactions", data]),
    ]
    words += [word for name in ("id", "item") if name in reading for word in (f"--{name}", str(reading[name]))]
    if reading.get("layout") == PEOPLE and "item" in reading:  # beside the items of the same rows
        words += ["--records", str(data)]
        reading = {name: value for name, value in reading.items() if name != "layout"}
    words += reading_flags(reading)
    words += ["--quasi-identifiers", names_text(quasi), "--model", "kkm"] if quasi else ["--algorithm", "similar"]
    return [*words, "--publish", "release.duckdb"]
