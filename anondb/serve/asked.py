"""The statements of PostgreSQL's clients, answered by a session, and its errors by PostgreSQL's codes."""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from pygwire.constants import TransactionStatus
from sqlglot.tokenizer_core import Token, TokenType

from anondb.errors import AnondbError, InputError, InternalError
from anondb.query.parsing import parse_script
from anondb.query.scripts import script, sql_tokens
from anondb.serve.catalog import VERSION, Translator
from anondb.serve.values import TEXT, TEXTS
from anondb.session.session import Session

PARAMETERS = {
    "server_version": VERSION,
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
    "default_transaction_read_only": "on",
}
"""What the server tells each client of itself, and answers to SHOW."""
SETTINGS: Mapping[str, str] = {
    **{name.lower(): value for name, value in PARAMETERS.items()},
    "application_name": "",
    "client_min_messages": "notice",
    "default_transaction_isolation": "serializable",
    "extra_float_digits": "1",
    "lc_collate": "C",
    "max_identifier_length": "63",
    "max_index_keys": "32",
    "search_path": "main",
    "server_version_num": f"{float(VERSION):.0f}0000",
    "statement_timeout": "0",
    "time zone": "UTC",
    "transaction isolation level": "serializable",
    "transaction_isolation": "serializable",
    "transaction_read_only": "on",
}
_MOST = 1000  # parameters
_OBJECT_KIND = re.compile(r"\b(TABLE|VIEW|MACRO|FUNCTION)\b", re.I)
_SET = re.compile(r"SET\s+(?:SESSION\s+|LOCAL\s+)?(CHARACTERISTICS|TRANSACTION|NAMES|TIME\s+ZONE|\"?\w+)", re.I)
_SHOW = re.compile(r"SHOW\s+\"?([\w ]+?)\"?\s*$", re.I)
_NOTHING = {"DISCARD", "RELEASE", "SAVEPOINT", "UNLISTEN"}
"""Statements that change nothing here."""
_BEGUN = dict.fromkeys(("BEGIN", "START"), ("BEGIN", TransactionStatus.IN_TRANSACTION))
_ENDED = {"COMMIT": "COMMIT", "END": "COMMIT", "ROLLBACK": "ROLLBACK", "ABORT": "ROLLBACK"}
_TRANSACTIONS = _BEGUN | {word: (tag, TransactionStatus.IDLE) for word, tag in _ENDED.items()}
_CHANGES = {
    *("ALTER", "CLOSE", "CREATE", "DEALLOCATE", "DECLARE", "DELETE", "DROP"),
    *("INSERT", "PREPARE", "RESET", "SET", "TRUNCATE", "UPDATE", "USE"),
}
_STATES: Mapping[str, str] = {
    "ambiguous_item": "42702",
    "bad_name": "42602",
    "bad_parameter": "22023",
    "bad_sql": "42601",
    "out_of_memory": "53200",
    "query_too_complex": "54001",
    "time_limit": "57014",
    "unsupported_query": "0A000",
}


class Failure(Exception):
    """An error for the client."""

    def __init__(self, state: str, message: str) -> None:
        super().__init__(message)
        self.state, self.message = state, message

    def fields(self, severity: str) -> dict[str, str]:
        """The fields of the message that tells it."""
        return {"S": severity, "V": severity, "C": self.state, "M": self.message}


def failure_of(error: Exception) -> Failure:
    """An error of anondb, or a bug, of which nothing but the kind is told, for the client."""
    if isinstance(error, Failure):
        return error
    if isinstance(error, AnondbError) and not isinstance(error, InternalError):
        return Failure(_STATES.get(error.code, "42000" if isinstance(error, InputError) else "58000"), str(error))
    return Failure("XX000", f"An unexpected {type(error).__name__} ended the answer; please report it.")


@dataclass(frozen=True)
class Answer:
    """What a statement led to."""

    tag: str  # the word that tells the client what was done
    columns: Sequence[tuple[str, str]] | None = None  # names and DuckDB types; None if it was no query
    rows: Iterator[tuple[Any, ...]] | list[tuple[Any, ...]] = field(default_factory=list)  # the rows of a query
    notes: Sequence[str] = ()  # remarks of the session


@dataclass(frozen=True)
class Asked:
    """One statement of a client."""

    text: str  # its text, without comments before it
    tokens: Sequence[Token]  # its words and marks
    word: str  # what it does: its first word in capitals, or INSERT behind WITH

    @property
    def is_query(self) -> bool:
        """Whether it has rows, and changes nothing."""
        return self.word not in (*_CHANGES, *_NOTHING, *_TRANSACTIONS)

    @property
    def status(self) -> TransactionStatus | None:
        """Whether the client is in a transaction afterwards; None if that does not change. A session has none."""
        return None if re.search(r"\sTO\s", self.text, re.I) else _TRANSACTIONS.get(self.word, (None, None))[1]

    def types(self, said: Sequence[int]) -> list[int]:
        """The types of the parameters ``$1``, ``$2``, ...: as the client said, else lists in ``= ANY($1)`` and texts."""
        words = [token.text.upper() for token in self.tokens]
        lists = {words[n + 3] for n in range(len(words) - 3) if words[n : n + 3] == ["ANY", "(", "$"]}
        stated = [*said, *[0] * (max(_parameters(self.tokens), default=0) - len(said))]
        return [oid or (TEXTS if str(number) in lists else TEXT) for number, oid in enumerate(stated[:_MOST], 1)]

    def answered(self, session: Session, translator: Translator, values: Sequence[Any], bounds: str) -> Answer:
        """The answer of a session."""
        if self.word in _TRANSACTIONS:
            return Answer(_TRANSACTIONS[self.word][0])
        if self.word in _NOTHING or (self.word == "SET" and self._is_setting()):
            return Answer(self.word)
        shown = _SHOW.match(self.text[:100])
        if shown is not None and (name := shown[1].lower()) in SETTINGS:
            return Answer("SHOW", [(name, "VARCHAR")], [(SETTINGS[name],)])
        text = translator.translated(self.text)
        parameters: Sequence[Any] | Mapping[str, Any] | None = list(values) or None
        if values and text != self.text:  # parameters of functions that DuckDB lacks are gone
            parameters = {str(n): values[n - 1] for n in _parameters(sql_tokens(text) or []) if n <= len(values)}
        result = session.sql(text, parameters, bounds)
        rows = result.fetchall()
        if self.is_query:
            return Answer("SELECT", list(zip(result.columns, result.types, strict=True)), rows, result.notes)
        kind = _OBJECT_KIND.search(self.text) if self.word in ("ALTER", "CREATE", "DROP") else None
        number = f" {rows[0][0]}" if rows and self.word in ("DELETE", "INSERT", "UPDATE") else ""
        tag = f"{self.word}{' 0' if self.word == 'INSERT' else ''}{number}{f' {kind[0].upper()}' if kind else ''}"
        return Answer(tag, notes=result.notes)

    def _is_setting(self) -> bool:
        """Whether SET has a setting of PostgreSQL that changes no answer."""
        match = _SET.match(self.text)
        name = "" if match is None else " ".join(match[1].strip('"').lower().split())
        return name in SETTINGS or name in ("characteristics", "names", "transaction")


def _parameters(tokens: Sequence[Token]) -> set[int]:
    """The numbers of the parameters ``$1``, ``$2``, ... of a text, as far as a statement may have so many."""
    pairs = pairwise(tokens)
    texts = {b.text for a, b in pairs if a.token_type is TokenType.PARAMETER and b.text.isdecimal()}
    return {int(text) for text in texts if len(text) <= len(str(_MOST)) and int(text) <= _MOST}


def statements_of(sql: str) -> list[Asked]:
    """The statements of a text."""
    return [_asked(text) for text in script(sql)]


def _asked(text: str) -> Asked:
    tokens = sql_tokens(text) or []
    word = tokens[0].text.upper() if tokens else ""
    if word == "WITH" and any(token.token_type is TokenType.INSERT for token in tokens):
        with contextlib.suppress(AnondbError):
            word = parse_script(text)[0].word
    return Asked(text[tokens[0].start :] if tokens else text, tokens, word)
