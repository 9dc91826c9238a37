"""From the text of a query to its syntax tree, or a refusal, and helpers on such trees.

No engine that holds a release gets the text as SQL; DuckDB only binds it to empty tables, without running it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import TokenType

from anondb.engine.locked import VERSION
from anondb.errors import InputError
from anondb.query.refusals import HINT, too_complex, unsupported

MAX_CHARACTERS = 200_000
MAX_DEPTH = 200
_POSITIONS = {"line", "col", "start", "end"}
_STARTS = {TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.L_PAREN}


@cache
def _dialect() -> DuckDB:
    """The dialect of the DuckDB that is installed: ``~`` matches whole texts before 2.0, and parts of them since."""
    return DuckDB(version=VERSION)


def lowered(name: str) -> str:
    """Normalize a name for comparison: DuckDB ignores the case of A-Z, also in quoted names."""
    return name.lower() if name.isascii() else "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in name)


def _bad_sql(line: int | None = None, column: int | None = None) -> InputError:
    place = f" (line {line}, column {column})" if line else ""
    return InputError(f"The query is not valid SQL{place}.", code="bad_sql", hint="Test it on a table in DuckDB.")


def _check_depth(tree: exp.Expr) -> None:
    level = [tree]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in node.iter_expressions() if not _chained(node, child)] + [
            child for node in level for child in _chain(node)
        ]
        if not level:
            return
    raise too_complex(f"it is nested more than {MAX_DEPTH} deep")


def _chained(node: exp.Expr, child: exp.Expr) -> bool:
    return isinstance(node, exp.Connector) and type(child) is type(node)


def _chain(node: exp.Expr) -> list[exp.Expr]:
    """The operands of a chain ``a AND b AND ...``, which the parser nests to the left; it counts as one level."""
    if not isinstance(node, exp.Connector):
        return []
    operands: list[exp.Expr] = []
    todo = [c for c in node.iter_expressions() if type(c) is type(node)]
    while todo:
        for child in todo.pop().iter_expressions():
            (todo if type(child) is type(node) else operands).append(child)
    return operands


def parse(sql: str) -> exp.Expr:
    """Parse a text that holds exactly one SELECT.

    Raises:
        InputError: ``bad_sql``, with line and column; ``unsupported_query`` for anything other than one SELECT;
            ``query_too_complex`` if it is too long or nested too deeply.
    """
    if not isinstance(sql, str):
        raise InputError("The query must be a text.", code="bad_sql")
    if len(sql) > MAX_CHARACTERS:
        raise too_complex(f"it has {len(sql)} characters, more than {MAX_CHARACTERS}")
    try:
        sql.encode("utf-8")
        tokens = _dialect().tokenize(sql)
    except UnicodeEncodeError:
        raise InputError("The query is not valid Unicode.", code="bad_sql") from None
    except SqlglotError:
        raise _bad_sql() from None
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    if not tokens:
        raise _bad_sql()
    if any(token.token_type is TokenType.SEMICOLON for token in tokens):
        raise unsupported("several statements", "Ask one query at a time.")
    first = tokens[0]
    if first.token_type not in _STARTS:
        word = first.text.upper() if first.text.isascii() and first.text.isalpha() and len(first.text) < 20 else ""
        if first.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
            word = ""
        hint = "Write count(*) FILTER (WHERE column = value) for each column." if word == "PIVOT" else HINT
        raise unsupported(f"the statement {word}" if word else "a statement that is not a SELECT", hint)
    try:
        trees = _dialect().parser().parse(tokens, sql)
    except ParseError as error:
        where = error.errors[0] if error.errors else {}
        raise _bad_sql(where.get("line"), where.get("col")) from None
    except (SqlglotError, RecursionError) as error:
        if isinstance(error, RecursionError):
            raise too_complex("it is nested too deeply") from None
        raise _bad_sql() from None
    if len(trees) != 1 or trees[0] is None:
        raise _bad_sql()
    _check_depth(trees[0])
    for node in trees[0].walk():  # the positions of nodes in the text are unused, and most of the cost of a copy
        if node._meta and node._meta.keys() <= _POSITIONS:
            node._meta = None
    return trees[0]


def bare(node: exp.Expr) -> exp.Expr:
    """An expression without parentheses around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def is_null(node: exp.Expr) -> exp.Expr:
    """The condition that an expression is NULL: sqlglot writes no parentheses around NOT."""
    return exp.Is(this=exp.paren(node.copy()) if isinstance(node, exp.Not) else node.copy(), expression=exp.null())


def operands(node: exp.Expr) -> list[exp.Expr]:
    """The operands of a chain of AND or OR, from left to right, without recursion."""
    kind, leaves, todo = type(node), [], [node]
    while todo:
        top = bare(todo.pop())
        if type(top) is kind:
            todo += [top.args["expression"], top.args["this"]]
        else:
            leaves.append(top)
    return leaves


def whole(node: exp.Literal) -> int:
    """The value of a literal that is a whole number."""
    if not (node.name.isascii() and node.name.isdigit()) or len(node.name) > 38:
        raise unsupported("a number that is not whole", "Write items as texts.")
    return int(node.name)


def inline_table(columns: Mapping[str, str], rows: Sequence[tuple[str | int, ...]]) -> exp.Query:
    """The rows as a query with columns of these types; also for zero rows."""
    dummy = tuple("" if kind == "VARCHAR" else 0 for kind in columns.values())
    values = exp.Values(
        expressions=[exp.Tuple(expressions=[_literal(cell) for cell in row]) for row in rows or [dummy]],
        alias=exp.TableAlias(this=exp.to_identifier("inline_rows"), columns=[exp.to_identifier(c) for c in columns]),
    )
    cells = [exp.cast(exp.column(name), kind, dialect="duckdb").as_(name) for name, kind in columns.items()]
    tree = exp.select(*cells).from_(values, copy=False)
    return tree if rows else tree.where(exp.false())


def label_table(labels: Collection[str]) -> exp.Query:
    """Labels as a query ``(label)``, in order."""
    return inline_table({"label": "VARCHAR"}, [(label,) for label in sorted(labels)])


def _literal(cell: str | int) -> exp.Expr:
    return exp.Literal.string(cell) if isinstance(cell, str) else exp.Literal.number(cell)
