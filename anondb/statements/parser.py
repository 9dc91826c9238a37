"""Parse the statements of anonymized views in a text that may also contain ordinary SQL.

sqlglot's parser for DuckDB is compiled and cannot be subclassed, so this module parses the tokens of sqlglot's DuckDB
dialect::

    CREATE [OR REPLACE] ANONYMIZED VIEW [IF NOT EXISTS] name AS query [WITH (option = value, ...)]
    REFRESH ANONYMIZED VIEW name [WITH (late_rows = 'refuse' | 'ignore')]
    REFRESH ALL ANONYMIZED VIEWS
    ALTER ANONYMIZED VIEW name RENAME TO name
    DROP ANONYMIZED VIEW [IF EXISTS] name
    DESCRIBE ANONYMIZED VIEW name
    SHOW CREATE ANONYMIZED VIEW name
    SHOW ANONYMIZED VIEWS [LIKE 'pattern'] [WITH (status = true | false)]

A name may have a schema and a database before it. The text between these statements is ordinary SQL and goes to DuckDB
unchanged. The query of a view is run, stored and rerun exactly as the owner wrote it.
"""

import re
from collections.abc import Callable

from sqlglot import Token, TokenType

from anondb.errors import InputError
from anondb.options import check_option
from anondb.release.objects import check_name
from anondb.statements.statement import (
    CreateView,
    DescribeView,
    DropView,
    Ordinary,
    RefreshAll,
    RefreshView,
    RenameView,
    ShowViews,
    Statement,
    StatementSyntaxError,
    Value,
    position,
    syntax_error,
)
from anondb.statements.tokens import RESERVED, is_on_views, split, tokens_of, words_of

_WORD = re.compile(r"[^\W\d][\w$]*")
_VARYING = frozenset({"GETVARIABLE", "CURRENT_SETTING", "RANDOM", "UUID", "GEN_RANDOM_UUID", "SETSEED"})
_OTHER_ROWS = "REFRESH might read other rows of the same data. Select them by a condition on their values."
_SIGNS = {TokenType.DASH: -1, TokenType.PLUS: 1}


def parse(text: str) -> list[Statement]:
    """Split a text into statements, in order; ordinary SQL between two statements of anonymized views stays in one piece.
    Raises StatementSyntaxError: a syntax error, with its position. InputError: an unknown option, an option value of the
    wrong type, or an invalid name."""
    tokens = tokens_of(text)
    statements: list[Statement] = []
    ordinary: int | None = None
    for i, j in split(tokens):
        if is_on_views(tokens[i:j]):
            if ordinary is not None:
                statements.append(Ordinary(text[ordinary : tokens[i].start], ordinary))
                ordinary = None
            statements.append(_Parser(text, tokens[i:j]).statement())
        elif ordinary is None:
            ordinary = tokens[i].start
    if ordinary is not None:
        statements.append(Ordinary(text[ordinary:], ordinary))
    return statements


class _Parser:
    """A recursive-descent parser over the tokens of one statement."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.text, self.tokens, self.at = text, tokens, 0

    def statement(self) -> Statement:
        start = self.tokens[0].start
        word = self.tokens[0].text.upper()
        self.at = 1
        if word == "CREATE":
            return self._create(start)
        if word == "SHOW" and not self._here("CREATE"):
            return self._show(start)
        if word == "REFRESH" and self._take("ALL"):
            self._expect("ANONYMIZED")
            self._expect("VIEWS")
            self._end()
            return RefreshAll(start)
        shows_statement = self._take("CREATE")
        self._expect("ANONYMIZED")
        self._expect("VIEW")
        if if_exists := word == "DROP" and self._take("IF"):
            self._expect("EXISTS")
        named = {"name_start": self._begins(), "start": start}
        name, place = self._name()
        statement: Statement
        if word == "DROP":
            statement = DropView(name, if_exists, place=place, **named)
        elif word == "REFRESH":
            options = self._options(_check_late_rows) if self._take("WITH") else {}
            statement = RefreshView(name, options.get("late_rows") == "ignore", place=place, **named)
        elif word == "ALTER":
            statement = RenameView(name, self._new_name(place), place=place, **named)
        else:
            statement = DescribeView(name, shows_statement, place=place, **named)
        self._end()
        return statement

    def _new_name(self, place: tuple[str, ...]) -> str:
        self._expect("RENAME")
        self._expect("TO")
        begun = self.at
        name, other_place = self._name()
        if other_place and other_place != place:
            self.at = begun
            raise self._error("a view cannot be renamed into another schema or database.", "Give the new name alone.")
        return name

    def _create(self, start: int) -> CreateView:
        if replace := self._take("OR"):
            self._expect("REPLACE")
        self._expect("ANONYMIZED")
        self._expect("VIEW")
        if if_not_exists := self._here("IF") and self._word(1) == "NOT":
            if replace:
                raise self._error("OR REPLACE and IF NOT EXISTS exclude each other.", "Write one of them.")
            self.at += 2
            self._expect("EXISTS")
        name_start = self._begins()
        name, place = self._name()
        if self._here("WITH"):
            raise self._error("expected AS and a query.", "WITH (...) comes after the query.")
        self._expect("AS")
        begun, end = self.at, self._options_at()
        if begun == end:
            raise self._error("expected a query.")
        self._check_definition(begun, end, name)
        first, last = self.tokens[begun], self.tokens[end - 1]
        query = self.text[first.start : last.end + 1]
        self.at = end
        options = self._options(check_option) if self._take("WITH") else {}
        self._end()
        return CreateView(
            name, query, options, replace, if_not_exists, first.start, place=place, start=start, name_start=name_start
        )

    def _show(self, start: int) -> ShowViews:
        self._expect("ANONYMIZED")
        self._expect("VIEWS")
        like = None
        if self._take("LIKE"):
            if self._kind(self.at) != TokenType.STRING:
                raise self._error("expected a pattern of names.", "Write it in quotes: LIKE 'week%'.")
            like = self.tokens[self.at].text
            self.at += 1
        options = self._options(_check_status) if self._take("WITH") else {}
        self._end()
        return ShowViews(bool(options.get("status", False)), start, like)

    def _check_definition(self, begun: int, end: int, name: str) -> None:
        """Refuse a query that may return other rows of the same data at the next REFRESH, or that reads the view's own
        release."""
        words = words_of(self.tokens[begun:end])
        for n, word in enumerate(words):
            following = words[n + 1] if n + 1 < len(words) else ""
            self.at = begun + n
            if word in ("LIMIT", "OFFSET", "FETCH", "TABLESAMPLE") or (word == "USING" and following == "SAMPLE"):
                shown = "SAMPLE" if word == "USING" else word
                raise self._error(f"{shown} in the definition of an anonymized view.", _OTHER_ROWS)
            if following == "(" and word in _VARYING:
                raise self._error(f"{word.lower()}() in the definition of an anonymized view.", _OTHER_ROWS)
            text = self.tokens[begun + n].text
            schema = text.lower() == f"release_{name}".lower()
            if schema and self._kind(begun + n + 1) == TokenType.DOT:
                raise self._error("an anonymized view cannot read its own release.", "Select from the original table.")
        self.at = end

    def _begins(self) -> int:
        """Where the next token begins in the text."""
        return self.tokens[self.at].start if self.at < len(self.tokens) else self.tokens[-1].end + 1

    def _name(self) -> tuple[str, tuple[str, ...]]:
        """Parse a view's name and what stands before it: each one word or one quoted name."""
        parts = [self._part()]
        while self._kind(self.at) == TokenType.DOT:
            self.at += 1
            parts.append(self._part())
        if len(parts) > 3:
            self.at -= 1
            raise self._error("a name has at most a database and a schema before it.", 'Quote a name with a dot: "a.b".')
        return parts[-1], tuple(parts[:-1])

    def _part(self) -> str:
        """Parse one word or one quoted name."""
        token = self._next_name("a view", 'Quote it if it is no plain word: "a name".')
        if token.token_type != TokenType.IDENTIFIER and token.text.lower() in RESERVED:
            raise self._error(f"{token.text.upper()} is a reserved word.", f'Quote it: "{token.text}".')
        try:
            name = check_name(token.text)
        except InputError as error:
            raise self._at(token, error) from None
        self.at += 1
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
            token = self._next_name("an option")
            self.at += 1
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

    def _next_name(self, what: str, hint: str | None = None) -> Token:
        """The next token, which must be one word or one quoted name; ``hint`` is for those that are neither."""
        if self.at == len(self.tokens):
            raise self._error(f"expected the name of {what}.")
        token = self.tokens[self.at]
        if token.token_type == TokenType.STRING or not (
            token.token_type == TokenType.IDENTIFIER or _WORD.fullmatch(token.text)
        ):
            raise self._error(f"expected the name of {what}.", hint)
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

    def _kind(self, i: int) -> TokenType | None:
        return self.tokens[i].token_type if i < len(self.tokens) else None

    def _word(self, ahead: int = 0) -> str:
        return (words_of(self.tokens[self.at + ahead : self.at + ahead + 1]) or [""])[0]

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


def _check_late_rows(name: str, value: Value) -> Value:
    if name != "late_rows":
        raise InputError(f"There is no option {name!r}; there is late_rows.", code="unknown_option")
    if value not in ("refuse", "ignore"):
        raise InputError("late_rows must be 'refuse' or 'ignore'.", code="bad_parameter")
    return value


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)
