"""Parse the statements of anonymized views in a text that may also contain ordinary SQL.

sqlglot's parser for DuckDB is compiled and cannot be subclassed, so this module parses the tokens of sqlglot's DuckDB
dialect::

    CREATE [OR REPLACE] ANONYMIZED VIEW name AS query [WITH (option = value, ...)]
    REFRESH ANONYMIZED VIEW name
    DROP ANONYMIZED VIEW [IF EXISTS] name
    SHOW ANONYMIZED VIEWS [WITH (status = true | false)]

The text between them is ordinary SQL and goes to DuckDB unchanged. The query of a view is run, stored and rerun exactly as
the owner wrote it.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Any

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.errors import SqlglotError

from anondb.errors import InputError
from anondb.options import check_option
from anondb.release.objects import check_name
from anondb.statements.statement import (
    CreateView,
    DropView,
    Ordinary,
    RefreshView,
    ShowViews,
    Statement,
    StatementSyntaxError,
    Value,
    position,
    syntax_error,
)

# Words that DuckDB accepts as names only in quotes (duckdb_keywords(), category "reserved").
RESERVED = frozenset({
    "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "both", "case", "cast", "check",
    "collate", "column", "constraint", "create", "default", "deferrable", "desc", "describe", "distinct", "do",
    "else", "end", "except", "false", "fetch", "for", "foreign", "from", "group", "having", "in", "initially",
    "intersect", "into", "lambda", "lateral", "leading", "limit", "not", "null", "offset", "on", "only", "or",
    "order", "pivot", "pivot_longer", "pivot_wider", "placing", "primary", "qualify", "references", "returning",
    "select", "show", "some", "summarize", "symmetric", "table", "then", "to", "trailing", "true", "union",
    "unique", "unpivot", "using", "variadic", "when", "where", "window", "with",
})  # fmt: skip
_WORD = re.compile(r"[^\W\d][\w$]*")
_SIGNS = {TokenType.DASH: -1, TokenType.PLUS: 1}


def parse(text: str) -> list[Statement]:
    """Split a text into statements, in order; ordinary SQL between two statements of anonymized views stays in one piece.

    Raises:
        StatementSyntaxError: a syntax error, with its position.
        InputError: an unknown option, an option value of the wrong type, or an invalid name.
    """
    tokens = _tokens(text)
    statements: list[Statement] = []
    ordinary: int | None = None
    for i, j in _split(tokens):
        if _is_on_views(tokens[i:j]):
            if ordinary is not None:
                statements.append(Ordinary(text[ordinary : tokens[i].start], ordinary))
                ordinary = None
            statements.append(_Parser(text, tokens[i:j]).statement())
        elif ordinary is None:
            ordinary = tokens[i].start
    if ordinary is not None:
        statements.append(Ordinary(text[ordinary:], ordinary))
    return statements


def _tokens(text: str) -> list[Token]:
    try:
        return list(sqlglot.tokenize(text, dialect="duckdb"))
    except SqlglotError:
        if re.search("anonymized", text, re.IGNORECASE) is None:  # ordinary SQL: let DuckDB judge it
            return [Token.string(text)]
        offset = _unterminated(text)
        raise syntax_error(text, offset, "a string, a quoted name or a comment does not end.") from None


def _unterminated(text: str) -> int:
    """The offset of an unterminated string, name or comment: the last point up to which the text has tokens."""
    starts = [m.start() for m in re.finditer(r"'|\"|/\*|\$", text)]
    for start in reversed(starts[-1000:]):
        with contextlib.suppress(SqlglotError):
            sqlglot.tokenize(text[:start], dialect="duckdb")
            return start
    return 0


def _split(tokens: list[Token]) -> list[tuple[int, int]]:
    """The statements as ranges of tokens, without semicolons and empty statements."""
    ranges, begun = [], 0
    for i, token in enumerate(tokens):
        if token.token_type == TokenType.SEMICOLON:
            ranges.append((begun, i))
            begun = i + 1
    ranges.append((begun, len(tokens)))
    return [(i, j) for i, j in ranges if i < j]


def _words(tokens: list[Token]) -> list[str]:
    quoted = (TokenType.STRING, TokenType.IDENTIFIER)
    return ["" if t.token_type in quoted else t.text.upper() for t in tokens]


def _is_on_views(tokens: list[Token]) -> bool:
    """Whether a statement concerns anonymized views; ``SHOW anonymized`` alone shows a table of that name."""
    words = _words(tokens[:4])
    if words[:3] == ["CREATE", "OR", "REPLACE"]:
        return words[3:] == ["ANONYMIZED"]
    if words[:2] == ["SHOW", "ANONYMIZED"]:
        return len(words) > 2
    return len(words) > 1 and words[0] in ("CREATE", "REFRESH", "DROP") and words[1] == "ANONYMIZED"


class _Parser:
    """A recursive-descent parser over the tokens of one statement."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.text, self.tokens, self.at = text, tokens, 0

    # ------------------------------------------------------------------ the statements

    def statement(self) -> Statement:
        start = self.tokens[0].start
        word = self.tokens[0].text.upper()
        self.at = 1
        if word == "CREATE":
            return self._create(start)
        self._expect("ANONYMIZED")
        if word == "SHOW":
            self._expect("VIEWS")
            statement: Statement = ShowViews(self._status(), start)
        else:
            self._expect("VIEW")
            if word == "DROP":
                if_exists = self._take("IF")
                if if_exists:
                    self._expect("EXISTS")
                statement = DropView(self._name(), if_exists, start)
            else:
                statement = RefreshView(self._name(), start)
        self._end()
        return statement

    def _create(self, start: int) -> CreateView:
        replace = self._take("OR")
        if replace:
            self._expect("REPLACE")
        self._expect("ANONYMIZED")
        self._expect("VIEW")
        if self._here("IF") and self._word(1) == "NOT":
            raise self._error("an anonymized view takes no IF NOT EXISTS.", "Use CREATE OR REPLACE.")
        name = self._name()
        if self._here("WITH"):
            raise self._error("expected AS and a query.", "WITH (...) comes after the query.")
        self._expect("AS")
        begun, end = self.at, self._options_at()
        if begun == end:
            raise self._error("expected a query.")
        first, last = self.tokens[begun], self.tokens[end - 1]
        query = self.text[first.start : last.end + 1]
        self.at = end
        options = self._options(check_option) if self._take("WITH") else {}
        self._end()
        return CreateView(name, query, options, replace, start, first.start)

    def _status(self) -> bool:
        if not self._take("WITH"):
            return False
        options = self._options(_check_status)
        return bool(options.get("status", False))

    # ------------------------------------------------------------------ names and options

    def _name(self) -> str:
        """Parse a view's name: one word or one quoted name."""
        if self.at == len(self.tokens):
            raise self._error("expected the name of a view.")
        token = self.tokens[self.at]
        if token.token_type != TokenType.IDENTIFIER:
            if token.token_type == TokenType.STRING or not _WORD.fullmatch(token.text):
                raise self._error("expected the name of a view.", 'Quote it if it is no plain word: "a name".')
            if token.text.lower() in RESERVED:
                raise self._error(f"{token.text.upper()} is a reserved word.", f'Quote it: "{token.text}".')
        try:
            name = check_name(token.text)
        except InputError as error:
            raise self._at(token, error) from None
        self.at += 1
        if self.at < len(self.tokens) and self.tokens[self.at].token_type == TokenType.DOT:
            raise self._error(
                "the name of an anonymized view has no schema.", 'Give one name, quoted if it has a dot: "a.b".'
            )
        return name

    def _options_at(self) -> int:
        """The end of the query: the WITH whose parentheses close the statement, or the end of the statement."""
        depth = 0
        end = len(self.tokens)
        for i in range(self.at, len(self.tokens)):
            kind = self.tokens[i].token_type
            if kind == TokenType.L_PAREN:
                depth += 1
            elif kind == TokenType.R_PAREN:
                depth -= 1
                if depth < 0:
                    self.at = i
                    raise self._error("this closing parenthesis has no opening one.")
            elif depth == 0 and kind == TokenType.WITH and self._kind(i + 1) in (TokenType.L_PAREN, None):
                end = i
                break
        if depth > 0 and end == len(self.tokens):
            self.at = len(self.tokens)
            raise self._error("a parenthesis is not closed.")
        return end

    def _options(self, check: Callable[[str, Value], Value]) -> dict[str, Value]:
        """Parse ``(name = value, ...)`` and check each option."""
        self._punctuation(TokenType.L_PAREN, "(")
        options: dict[str, Value] = {}
        while True:
            token = self._option_name()
            name = token.text.lower()
            if name in options:
                raise self._at(token, InputError(f"the option {name!r} occurs twice.", code="syntax_error"))
            self._punctuation(TokenType.EQ, "= and a value")
            value_token = self.tokens[self.at] if self.at < len(self.tokens) else token
            value = self._value(name)
            try:
                options[name] = check(name, value)
            except InputError as error:
                unknown = error.code == "unknown_option"
                raise self._at(token if unknown else value_token, error) from None
            if self._kind(self.at) == TokenType.COMMA:
                self.at += 1
                continue
            self._punctuation(TokenType.R_PAREN, ", or )")
            return options

    def _option_name(self) -> Token:
        if self.at == len(self.tokens):
            raise self._error("expected the name of an option.")
        token = self.tokens[self.at]
        if token.token_type != TokenType.IDENTIFIER and (
            token.token_type == TokenType.STRING or not _WORD.fullmatch(token.text)
        ):
            raise self._error("expected the name of an option.")
        self.at += 1
        return token

    def _value(self, name: str) -> Value:
        """Parse a string, a number, true or false."""
        sign, begun = 1, self.at
        while self.at < len(self.tokens) and self.tokens[self.at].token_type in _SIGNS:
            sign *= _SIGNS[self.tokens[self.at].token_type]
            self.at += 1
        if self.at == len(self.tokens):
            raise self._error(f"expected a value for {name}.")
        token = self.tokens[self.at]
        self.at += 1
        if token.token_type == TokenType.NUMBER:
            return sign * _number(token.text)
        if self.at - 1 == begun:
            if token.token_type in (TokenType.STRING, TokenType.HEREDOC_STRING):
                return token.text
            if token.token_type in (TokenType.TRUE, TokenType.FALSE):
                return token.token_type == TokenType.TRUE
        self.at -= 1
        if _WORD.fullmatch(token.text) and token.token_type not in (TokenType.IDENTIFIER, TokenType.NULL):
            raise self._error(f"expected a value for {name}.", f"Texts are quoted: '{token.text}'.")
        raise self._error(f"expected a value for {name}: a text in quotes, a number, true or false.")

    # ------------------------------------------------------------------ tokens

    def _kind(self, i: int) -> TokenType | None:
        return self.tokens[i].token_type if i < len(self.tokens) else None

    def _word(self, ahead: int = 0) -> str:
        return (_words(self.tokens[self.at + ahead : self.at + ahead + 1]) or [""])[0]

    def _here(self, word: str) -> bool:
        return self._word() == word

    def _take(self, word: str) -> bool:
        if not self._here(word):
            return False
        self.at += 1
        return True

    def _expect(self, word: str) -> None:
        if not self._take(word):
            raise self._error(f"expected {word}.")

    def _punctuation(self, kind: TokenType, shown: str) -> None:
        if self._kind(self.at) != kind:
            raise self._error(f"expected {shown}.")
        self.at += 1

    def _end(self) -> None:
        if self.at < len(self.tokens):
            raise self._error("expected the end of the statement.", "Separate statements by ;")

    def _error(self, message: str, hint: str | None = None) -> StatementSyntaxError:
        """An error at the next token, or at the end of the statement."""
        ended = self.at >= len(self.tokens)
        offset = self.tokens[-1].end + 1 if ended else self.tokens[self.at].start
        return syntax_error(self.text, offset, message, hint)

    def _at(self, token: Token, error: InputError) -> StatementSyntaxError:
        """Add the position to an error of an option or a name; keep its code."""
        return StatementSyntaxError(str(error), *position(self.text, token.start), code=error.code)


def _check_status(name: str, value: Value) -> Value:
    if name != "status":
        raise InputError(f"There is no option {name!r}; there is status.", code="unknown_option")
    if not isinstance(value, bool):
        raise InputError("status must be true or false.", code="bad_parameter")
    return value


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


# ---------------------------------------------------------------------- the table of a query


def plain_table(query: str) -> str | None:
    """The quoted name of the table if a query only selects columns of all its rows, unchanged; else None."""
    try:
        tree = sqlglot.parse_one(query, dialect="duckdb")
    except (SqlglotError, RecursionError):
        return None
    if not isinstance(tree, exp.Select) or not _has_only(tree, "expressions", "from_"):
        return None
    table = tree.args["from_"].this if tree.args.get("from_") else None
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        return None  # a subquery, or a table function
    columns = all(
        isinstance(c, exp.Star | exp.Column) and _has_only(c, "this", "table") and _has_only(c.this, "this", "quoted")
        for c in tree.expressions
    )
    if not columns or not _has_only(table, "this", "db", "catalog", "alias") or table.alias_column_names:
        return None
    bare: Any = exp.Table(**{k: table.args[k].copy() for k in ("this", "db", "catalog") if table.args.get(k)})
    for part in bare.find_all(exp.Identifier):
        part.set("quoted", True)
    return str(bare.sql(dialect="duckdb"))


def _has_only(node: Any, *allowed: str) -> bool:
    """Whether a node, if it is one, has only the allowed parts."""
    return not isinstance(node, exp.Expr) or all(k in allowed or v in (None, False, []) for k, v in node.args.items())
