"""Statements as tokens: those of a text, which end with semicolons; and other words where sqlglot does not read DuckDB's."""

from __future__ import annotations

import re
from functools import cache

from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from anondb.engine.locked import VERSION

MAX_CHARACTERS = 200_000
_ENDS = {TokenType.ORDER_BY, TokenType.LIMIT, TokenType.OFFSET, TokenType.FETCH}
_PIVOTS = {TokenType.PIVOT, TokenType.UNPIVOT}
_SETS = {TokenType.ROLLUP, TokenType.CUBE, TokenType.GROUPING_SETS}
"""What stands for several sets of grouped expressions, in parentheses."""
_QUERIES = {TokenType.SELECT, TokenType.FROM}
_NAMES = {
    *(TokenType.ALTER, TokenType.DROP, TokenType.FORCE, TokenType.GRANT, TokenType.INSERT, TokenType.INSTALL),
    *(TokenType.REVOKE, TokenType.ROLLBACK),
}
"""Words that DuckDB reads as names within queries, where no statement begins."""
_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}


@cache
def dialect() -> DuckDB:
    """The dialect of the DuckDB that is installed: ``~`` matches whole texts before 2.0, and parts of them since."""
    return DuckDB(version=VERSION)


def sql_tokens(text: str) -> list[Token] | None:
    """The tokens of a text; None if it has no valid ones, of which the parser says what is wrong."""
    try:
        return DuckDB().tokenize(text)
    except (SqlglotError, UnicodeEncodeError):
        return None


def reworded(tokens: list[Token]) -> list[Token]:
    """The tokens of a statement as sqlglot reads them."""
    return _with_ends_outside(_with_keys_apart(_with_unions(_with_names(_with_defaults(tokens)))))


def _with_defaults(tokens: list[Token]) -> list[Token]:
    """The tokens of CREATE MACRO with DEFAULT in place of ``:=`` between its parameters, as columns have it."""
    begin = next((n for n, token in enumerate(tokens) if token.token_type is TokenType.L_PAREN), 0)
    if not any(token.text.upper() in ("MACRO", "FUNCTION") for token in tokens[:begin]):
        return tokens
    result = list(tokens)
    for n in range(begin, _closed(tokens, begin)):
        if tokens[n].token_type is TokenType.COLON_EQ:
            result[n : n + 1] = _tokens("DEFAULT")
    return result


def _with_names(tokens: list[Token]) -> list[Token]:
    """The tokens of a statement with words as names that begin statements: ``SELECT avg(alter) FROM people``."""
    result, inside, merges = list[Token](), False, tokens[0].token_type is TokenType.MERGE
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        begins = merges or (after is not None and after.token_type is TokenType.INTO)
        is_name = inside and token.token_type in _NAMES and not begins
        named = Token(TokenType.VAR, token.text, token.line, token.col, token.start, token.end, token.comments)
        result.append(named if is_name else token)
        inside = inside or token.token_type in _QUERIES
    return result


def _with_keys_apart(tokens: list[Token]) -> list[Token]:
    """The tokens of a statement with parentheses around each expression of ROLLUP, CUBE or GROUPING SETS that has more than
    one token: sqlglot reads no conditions there."""
    result = list[Token]()
    place = 0
    while place < len(tokens):
        result.append(tokens[place])
        place += 1
        if result[-1].token_type not in _SETS or place == len(tokens) or tokens[place].token_type is not TokenType.L_PAREN:
            continue
        end = _closed(tokens, place)
        result.append(tokens[place])
        for number, part in enumerate(_parts(tokens[place + 1 : end])):
            whole = part and part[0].token_type is TokenType.L_PAREN and _closed(part, 0) == len(part) - 1
            apart = len(part) > 1 and not whole and part[0].token_type not in _SETS
            inner = _with_keys_apart(part)
            result += [*(_tokens(",") if number else ()), *([*_tokens("("), *inner, *_tokens(")")] if apart else inner)]
        place = end
    return result


def _closed(tokens: list[Token], place: int) -> int:
    """The place of the parenthesis that closes the one at a place, or the end."""
    depth = 0
    for n in range(place, len(tokens)):
        kind = tokens[n].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if not depth:
            return n
    return len(tokens)


def _parts(tokens: list[Token]) -> list[list[Token]]:
    """Tokens between the commas outside of all brackets."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        if token.token_type is TokenType.COMMA and not depth:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _with_unions(tokens: list[Token]) -> list[Token]:
    """The tokens of a statement with UNION DISTINCT behind GROUP BY ALL, where sqlglot takes UNION for a function."""
    kinds = [token.token_type for token in tokens]
    taken = [TokenType.GROUP_BY, TokenType.ALL, TokenType.UNION, TokenType.L_PAREN]
    places = [n for n in range(3, len(kinds)) if kinds[n - 3 : n + 1] == taken]
    result = list(tokens)
    for place in reversed(places):
        result[place:place] = _tokens("DISTINCT")
    return result


def _with_ends_outside(tokens: list[Token]) -> list[Token]:
    """The tokens of a statement with ``SELECT * FROM (...)`` around each PIVOT statement, up to ORDER BY or LIMIT: sqlglot
    reads no end of one, and none behind CREATE ... AS or in parentheses without a clause before them."""
    result, around, first = list[Token](), list[int](), -1  # where PIVOT statements begin, or -1, in brackets and in these
    for token in [*tokens, None]:
        kind = None if token is None else token.token_type
        before = result[-1].token_type if result else TokenType.L_PAREN
        if first >= 0 and (kind in _ENDS or kind in (None, TokenType.R_PAREN)):
            result[first:first] = _tokens("SELECT * FROM (")
            result.extend(_tokens(")"))
            first = -1
        if kind is TokenType.L_PAREN:
            around.append(first)
            first = -1
        elif kind is TokenType.R_PAREN and around:
            first = around.pop()
        elif kind in _PIVOTS and (before in (TokenType.L_PAREN, TokenType.ALIAS) or _closes_cte(result)):
            first = len(result)
        if token is not None:
            result.append(token)
    return result


def _tokens(text: str) -> list[Token]:
    return dialect().tokenize(text)


def _closes_cte(tokens: list[Token]) -> bool:
    """Whether tokens end with the query of a common table expression."""
    depth = 0
    for place in reversed(range(len(tokens))):
        kind = tokens[place].token_type
        depth += (kind is TokenType.R_PAREN) - (kind is TokenType.L_PAREN)
        if not depth:
            words = [token.text.upper() for token in tokens[max(place - 1, 0) : place]]
            return kind is TokenType.L_PAREN and words in (["AS"], ["MATERIALIZED"])
    return False


_MARK = re.compile(r"'|\"|--|/\*|\$(?:[A-Za-z_]\w*)?\$|\$\d+")
_END = {"'": "'", '"': '"', "--": "\n", "/*": "*/"}


def spaced(text: str) -> str:
    """A text with a blank after each parameter ``$1``: sqlglot takes ``$1,$`` for the beginning of a quoted text."""
    if len(text) > MAX_CHARACTERS or "$" not in text:
        return text
    parts, begun, at = [], 0, 0
    while (match := _MARK.search(text, at)) is not None:
        mark, at = match[0], match.end()
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
    tokens = sql_tokens(text)
    if tokens is None:
        return [], text
    statements, begun, has_tokens = [], 0, False
    for token in tokens:
        if token.token_type is not TokenType.SEMICOLON:
            has_tokens = True
            continue
        if has_tokens:
            statements.append(text[begun : token.start].strip())
        begun, has_tokens = token.end + 1, False
    return statements, text[begun:] if has_tokens else ""


def script(text: str) -> list[str]:
    """The statements of a text, the last of which needs no semicolon."""
    statements, rest = split(text)
    return [*statements, *([rest.strip()] if rest.strip() else [])]
