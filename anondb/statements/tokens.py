"""The tokens of a text with statements of anonymized views, where its statements begin and end, and what a query selects."""

import contextlib
import re
from typing import Any

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.errors import SqlglotError

from anondb.statements.statement import syntax_error

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
_HEADS = (  # the words before ANONYMIZED
    ("CREATE",),
    ("CREATE", "OR", "REPLACE"),
    ("REFRESH",),
    ("REFRESH", "ALL"),
    ("ALTER",),
    ("DROP",),
    ("DESCRIBE",),
    ("DESC",),
    ("SHOW",),
    ("SHOW", "CREATE"),
)


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text. Ordinary SQL that cannot be split stays one token, for DuckDB to judge."""
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


def split(tokens: list[Token]) -> list[tuple[int, int]]:
    """The statements as ranges of tokens, without semicolons and empty statements."""
    ranges, begun = [], 0
    for i, token in enumerate(tokens):
        if token.token_type == TokenType.SEMICOLON:
            ranges.append((begun, i))
            begun = i + 1
    ranges.append((begun, len(tokens)))
    return [(i, j) for i, j in ranges if i < j]


def words_of(tokens: list[Token]) -> list[str]:
    """The tokens in upper case; strings and quoted names as empty texts."""
    quoted = (TokenType.STRING, TokenType.IDENTIFIER)
    return ["" if t.token_type in quoted else t.text.upper() for t in tokens]


def is_on_views(tokens: list[Token]) -> bool:
    """Whether a statement concerns anonymized views; ``SHOW anonymized`` alone shows a table of that name."""
    words = words_of(tokens[:4])
    if words[0] in ("SHOW", "DESCRIBE", "DESC") and words[1:] == ["ANONYMIZED"]:
        return False
    return any(tuple(words[: len(head) + 1]) == (*head, "ANONYMIZED") for head in _HEADS)


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
