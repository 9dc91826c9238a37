"""How a source is read: what the owner says where it cannot be told from the file."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path, PurePath
from typing import Any

from anondb.errors import InputError
from anondb.models import BOOLEAN, INTEGER, READ, Parameter, digits, parameter, parameters_in

PEOPLE = "people"  # a row is a person without items
OF_LINES = ("basket", "spmf")  # a line of a text file is a person
LAYOUTS = ("long", "basket", "wide", "one-hot", "list", "spmf", PEOPLE)
_ESCAPES = {"\\t": "\t", "tab": "\t", "blank": " ", "space": " "}
NO_QUOTE = ("", "none")
NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars", "::": "double colons", " ": "blanks"}
MARKS = tuple(NAMES)[:-1]  # what separates, if it occurs; a blank also stands in texts
_OF_TEXTS = ("delimiter", "quote", "header", "encoding", "skip")
OF_FILES = (*_OF_TEXTS, "file_table")
_OF_FORMATS = {"text": _OF_TEXTS, "dat": _OF_TEXTS, "json": ("encoding", "skip"), "xlsx": ("header", "skip", "file_table")}
_OF_FORMATS |= {"sqlite": ("file_table",)}
_QUOTE = re.compile(r"[!-\[\]-~]")
_NAME = re.compile(r'(?:^|,)(\s*"(?:[^"]|"")*"[^,]*|[^,]*)')
_QUOTED = re.compile(r'^\s*"((?:[^"]|"")*)"')
_OF_ONE = re.compile(rf"#((?:no-)?(?:{'|'.join(OF_FILES).replace('_', '-')}))(?:=([^#]+))?")

_detected = partial(parameter, None, panel=READ)
_switch = partial(parameter, False, kinds=(BOOLEAN,), panel=READ)


@dataclass(frozen=True)
class Reading:
    """How a file, a table or a data frame is read. What is None is detected, or has the default of its format. Raises
    InputError: ``bad_parameter``."""

    layout: str | None = _detected("What a row is; detected where that is certain.", "|".join(LAYOUTS), choices=LAYOUTS)
    delimiter: str | None = _detected("What separates the fields of a text file, such as ';', tab or blank.", "TEXT")
    quote: str | None = _detected("The quote of a text file; none for no quotes.", "CHAR|none")
    header: bool | None = _detected(
        "Whether the first line names the columns; without, they are column1, column2 and so on.", kinds=(BOOLEAN,)
    )
    encoding: str | None = _detected("Encoding of a text file that is not UTF-8, such as latin-1 or utf-16.", "NAME")
    skip: int | None = _detected("Lines before the first row of a text file.", "LINES", kinds=(INTEGER,), read=digits)
    file_table: str | None = _detected(
        "The table of a SQLite file, or the sheet of an Excel file, that has several.", "TABLE"
    )
    item_separator: str | None = _detected("What separates the items of a cell in the layout list.", "TEXT")
    item_domains: bool = _switch("Items of several columns are COLUMN.value: equal values differ.")
    drop_missing_ids: bool = _switch("Leave out rows without an id, and say how many.")
    drop_missing_items: bool = _switch("Leave out rows without an item, and say how many; their persons stay.")

    def __post_init__(self) -> None:
        if self.layout is not None and self.layout not in LAYOUTS:
            words = f"layout must be one of {', '.join(LAYOUTS)}, not {str(self.layout)[:40]!r}."
            raise InputError(words, code="bad_parameter")
        for name, longest in (("delimiter", 4), ("item_separator", 10)):
            value = _ESCAPES.get(getattr(self, name), getattr(self, name))
            object.__setattr__(self, name, value)
            fits = isinstance(value, str) and 0 < len(value.encode()) <= longest and not set(value) & set('\r\n"\\')
            if value is not None and not fits:
                words = f"{name} must be a text of 1 to {longest} bytes, without quotes, backslashes and line ends."
                raise InputError(words, code="bad_parameter")
        if not isinstance(self.file_table, str | None):
            raise InputError("file_table must be a text.", code="bad_parameter")
        if self.quote is not None and self.quote not in NO_QUOTE and not _QUOTE.fullmatch(self.quote):
            raise InputError("quote must be one punctuation mark of ASCII, or none.", code="bad_parameter")
        if self.delimiter is not None and self.quote_char is not None and self.quote_char in self.delimiter:
            raise InputError("The quote and the delimiter must differ.", code="bad_parameter")
        if self.skip is not None and (type(self.skip) is not int or not 0 <= self.skip < 2**31):
            raise InputError("skip must be a number of lines.", code="bad_parameter")
        for name in ("header", "item_domains", "drop_missing_ids", "drop_missing_items"):
            if getattr(self, name) not in (None, True, False):
                raise InputError(f"{name} must be true or false.", code="bad_parameter")
        try:
            "a".encode("utf-8" if self.encoding is None else self.encoding)
        except (LookupError, UnicodeError, TypeError, ValueError):
            hint = "Name one of Python's, such as latin-1 or utf-16."
            raise InputError("There is no such encoding.", code="bad_parameter", hint=hint) from None

    @property
    def quote_char(self) -> str | None:
        """The quote; None if quotes are characters like any others."""
        return '"' if self.quote is None else None if self.quote in NO_QUOTE else self.quote

    def check_for(self, form: str | None) -> None:
        """Refuse options that a format does not have; None is that of tables and data frames. A file beside them may have
        the encoding. Raises InputError: ``bad_usage``."""
        for name in set(OF_FILES) - {"encoding", *_OF_FORMATS.get(form or "", ())}:
            if getattr(self, name) is not None:
                which = "text files" if name in _OF_TEXTS else "SQLite and Excel files"
                raise InputError(f"{name} applies to {which}, which this is not.", code="bad_usage", hint="Leave it out.")

    def texts(self) -> dict[str, Any]:
        """What differs from the defaults, by name."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name)) != f.default}


DETECTED = Reading()
READING: Mapping[str, Parameter] = parameters_in(Reading)


@dataclass(frozen=True)
class Dialect:
    """The dialect of a rectangular text file."""

    delimiter: str | None  # what separates fields; None if there is one field only
    quote: str | None = '"'  # the quote, doubled within quotes; None if there is none
    newline: str = "\n"  # the end of a line
    header: bool = True  # whether the first record names the columns

    @property
    def words(self) -> str:
        """The dialect in words, for messages."""
        fields = "one column" if self.delimiter is None else f"separated by {named(self.delimiter)}"
        quoted = "without quotes" if self.quote is None else "quoted by " + ("'\"'" if self.quote == '"' else self.quote)
        return f"{fields}, {quoted}, " + ("line 1 as its header" if self.header else "no header")

    def to_json(self) -> dict[str, str | None]:
        """The dialect as JSON values."""
        return {"delimiter": self.delimiter, "quote": self.quote, "newline": self.newline}


def named(delimiter: str) -> str:
    """A delimiter in words."""
    return NAMES.get(delimiter, repr(delimiter))


@dataclass(frozen=True, eq=False, repr=False)
class ReadAs:
    """A source with how it is read, in place of the source alone."""

    data: Any  # a file, a table, a data frame or a query
    reading: Reading = DETECTED  # how it is read
    # id, item: the columns of the persons, and of their items
    id: str = "tid"
    item: str = "item"


def read_as(data: Any, options: Mapping[str, Any], **columns: str) -> Any:
    """A source with options of reading by name, and its columns ``id`` and ``item``; the source itself if nothing is said.
    Raises InputError: ``unknown_option`` or ``bad_parameter``."""
    present = {name: value for name, value in options.items() if value is not None}
    for name in present:
        if name not in READING:
            raise InputError(f"There is no option {name!r} of reading.", code="unknown_option")
    source = as_read(data)
    reading = Reading(**{**source.reading.texts(), **present})
    plain = reading == DETECTED and not columns and not isinstance(data, ReadAs)
    return data if plain else replace(source, reading=reading, **columns)


def as_read(data: Any) -> ReadAs:
    """A source with how it is read, also if the owner says nothing of that. The name of a file may say it, by flags without
    their dashes: ``people.csv#skip=2#no-header``. Raises InputError: ``no_such_file``: it says something else; ``bad_usage``
    or ``bad_parameter``."""
    if isinstance(data, ReadAs):
        return data
    file, mark, said = str(data).partition("#") if isinstance(data, str | PurePath) else ("", "", "")
    if not mark or Path(data).exists():
        return ReadAs(data)
    if wrong := _OF_ONE.sub("", mark + said):
        if not Path(file).is_file():
            return ReadAs(data)
        hint = f"There are {', '.join(name.replace('_', '-') for name in OF_FILES)}, as in people.csv#skip=2#no-header."
        words = f"There is no file of this name, and {wrong[:40]!r} says nothing of how a file is read."
        raise InputError(words, code="no_such_file", hint=hint)
    flags = [word for name, value in _OF_ONE.findall(mark + said) for word in (f"--{name}", value) if word]
    return ReadAs(Path(file), Reading(**file_options(flags)))


def names_in(text: str) -> list[str]:
    """The names of columns in a text that separates them by commas; one with a comma stands in double quotes, as in CSV."""
    return [_QUOTED.sub(lambda found: found[1].replace('""', '"'), name) for name in _NAME.findall(text)]


def names_text(names: Iterable[str]) -> str:
    """The text of which ``names_in`` returns these names."""
    doubled = ((name, name.replace('"', '""')) for name in names)
    return ",".join(f'"{d}"' if "," in name or name.lstrip().startswith('"') else name for name, d in doubled)


def word_of(source: str) -> str:
    """A file or a URL as a word of a command: nothing in it is a flag or a password."""
    scheme, is_url, rest = source.partition("://")
    if not is_url:
        return f"./{source}" if source.startswith("-") else source
    place, _, settings = rest.partition("?")
    user, at, place = place.rpartition("@")
    kept = "&".join(setting for setting in settings.split("&") if "password" not in setting.partition("=")[0])
    return f"{scheme}://{user.partition(':')[0]}{at}{place}{'?' if kept else ''}{kept}"


def reading_flags(values: Mapping[str, Any]) -> list[str]:
    """The flags of reading that give these values."""
    words: list[str] = []
    for name in READING:
        if name in values:
            value, dashed = values[name], name.replace("_", "-")
            words += [f"--{'no-' if value is False else ''}{dashed}"]
            words += [] if isinstance(value, bool) else [str(value) if value != "\t" else "tab"]
    return words


def file_options(flags: Sequence[str]) -> dict[str, Any]:
    """The options of reading a file that flags give, such as --encoding latin-1. Raises InputError: ``bad_usage``."""
    values: dict[str, Any] = {}
    left = list(flags)
    while left:
        flag, wrong = left.pop(0), ""
        off, name = flag[2:].startswith("no-"), flag[2:].removeprefix("no-").replace("-", "_")
        is_switch = name in OF_FILES and READING[name].kinds == (BOOLEAN,)
        has_value = bool(left) and not (is_switch and left[0].startswith("--"))
        if not flag.startswith("--") or name not in OF_FILES or (off and not is_switch):
            wrong = f"{flag[:40]} is no option of reading a file"
        elif has_value == is_switch:
            wrong = f"{flag} takes no value" if has_value else f"{flag} needs a value"
        if wrong:
            listed = ", ".join(f"--{n.replace('_', '-')}" for n in OF_FILES)
            raise InputError(f"{wrong}.", code="bad_usage", hint=f"There are {listed}.")
        values[name] = not off if is_switch else (READING[name].read or str)(left.pop(0))
    return values
