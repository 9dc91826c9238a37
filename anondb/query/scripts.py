"""The statements of a text, which end with semicolons."""

from __future__ import annotations

import re

from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from anondb.query.parsing import MAX_CHARACTERS

_MARK = re.compile(r"'|\"|--|/\*|\$(?:[A-Za-z_]\w*)?\$|\$\d+")
_END = {"'": "'", '"': '"', "--": "\n", "/*": "*/"}


def spaced(text: str) -> str:
    """A text with a blank after each parameter ``$1``: sqlglot takes ``$1,$`` for the beginning of a quoted text."""
    if len(text) > MAX_CHARACTERS or "$" not in text:
        return text
    parts, begun, at = [], 0, 0
    while (found := _MARK.search(text, at)) is not None:
        mark, at = found[0], found.end()
        if not mark[1:].isdecimal():  # what is quoted, or a comment, stays
            end = text.find(_END.get(mark, mark), at)
            if end < 0:
                break
            at = end + len(_END.get(mark, mark))
        elif not text[at : at + 1].isspace():
            parts.append(text[begun:at])
            begun = at
    return " ".join([*parts, text[begun:]])


def split(text: str) -> tuple[list[str], str]:
    """The statements of a text that end with a semicolon, and what follows the last of them.

    A semicolon in a text, a quoted name or a comment ends nothing; a text that does not end keeps all that is before it.
    """
    text = spaced(text)
    try:
        tokens = DuckDB().tokenize(text)
    except SqlglotError:
        return [], text
    statements, begun, some = [], 0, False
    for token in tokens:
        if token.token_type is not TokenType.SEMICOLON:
            some = True
            continue
        if some:
            statements.append(text[begun : token.start].strip())
        begun, some = token.end + 1, False
    return statements, text[begun:] if some else ""


def script(text: str) -> list[str]:
    """The statements of a text, the last of which needs no semicolon."""
    statements, rest = split(text)
    return [*statements, *([rest.strip()] if rest.strip() else [])]
