"""From the text of a query to its syntax tree, or a refusal, and helpers on such trees.

No engine that holds a release gets the text as SQL; DuckDB only binds it to empty tables, without running it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from anondb.errors import InputError
from anondb.query.refusals import too_complex, unsupported
from anondb.query.scripts import MAX_CHARACTERS, dialect, reworded

MAX_DEPTH = 200
_POSITIONS = {"line", "col", "start", "end"}
_STARTS = {TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.L_PAREN}
SELECT = "SELECT"
STATEMENT_HINT = "A session answers queries, and keeps tables of your own; it opens no files, and writes none."
_QUERIES = {"VALUES", "TABLE", "PIVOT", "UNPIVOT", "SUMMARIZE"}
_ALONE = {"ANALYZE", "BEGIN", "CHECKPOINT", "COMMENT", "COMMIT", "RESET", "ROLLBACK", "VACUUM"}
"""Statements of which nothing but the first word matters."""
_SAME = {"START": "BEGIN", "END": "COMMIT", "ABORT": "ROLLBACK", "DESC": "DESCRIBE"}
_TAKEN = _QUERIES | {
    *("ALTER", "CREATE", "DELETE", "DESCRIBE", "DROP", "INSERT", "MERGE"),
    *("PRAGMA", "SET", "TRUNCATE", "UPDATE", "USE"),
}
_PREPARED = {"PREPARE", "EXECUTE", "DEALLOCATE"}
"""Statements about a query that has a name; it is parsed when it is made (``session.statements``)."""
_MODIFIERS = {"OR", "REPLACE", "TEMP", "TEMPORARY", "LOCAL", "GLOBAL", "UNIQUE"}
_CREATABLE = {"TABLE", "VIEW", "MACRO", "FUNCTION", "INDEX", "SCHEMA", "SEQUENCE", "TYPE"}


def is_function(name: str) -> bool:
    """Whether a name followed by parentheses is read as a function of its own, and no macro can have it."""
    return name.upper() in dialect().parser_class.FUNCTIONS


def lowered(name: str) -> str:
    """Normalize a name for comparison: DuckDB ignores the case of A-Z, also in quoted names."""
    return name.lower() if name.isascii() else "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in name)


def dotted(parts: Sequence[exp.Expr]) -> str:
    """A name in lower case, of its parts: those of a table are its catalog and schema, if they are written, and its own."""
    return lowered(".".join(part.name for part in parts))


def _bad_sql(line: int | None = None, column: int | None = None) -> InputError:
    place = f" (line {line}, column {column})" if line else ""
    return InputError(f"The query is not valid SQL{place}.", code="bad_sql", hint="Test it on a table in DuckDB.")


def check_depth(tree: exp.Expr) -> None:
    """Refuse a tree that is nested too deeply."""
    level = [tree]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in (_chain(node) or node.iter_expressions())]
        if not level:
            return
    raise too_complex(f"it is nested more than {MAX_DEPTH} deep")


def _chain(node: exp.Expr) -> list[exp.Expr]:
    """The operands of a chain ``a AND b AND ...``, which the parser nests to the left; it counts as one level."""
    operands: list[exp.Expr] = []
    todo = [node] if isinstance(node, exp.Connector) else []
    while todo:
        for child in todo.pop().iter_expressions():
            (todo if type(child) is type(node) else operands).append(child)
    return operands


def _ended_inside(tree: exp.Expr) -> exp.Expr:
    """A query in which only a SELECT or a set operation has ORDER BY, LIMIT or OFFSET, and no parentheses around one."""
    for node in list(tree.find_all(exp.Subquery, exp.Values)):
        ends = {key: node.args[key] for key in ("order", "limit", "offset") if node.args.get(key) is not None}
        if not ends:
            continue
        listed = node.copy() if isinstance(node, exp.Values) else exp.Subquery(this=node.this)
        for key in ends:
            node.set(key, None)
            listed.set(key, None)
        listed.set("alias", exp.TableAlias(this=exp.to_identifier("listed")))
        select = exp.Select(expressions=[exp.Star()], from_=exp.From(this=listed), **ends)
        if isinstance(node, exp.Subquery):
            node.set("this", select)
        elif node is tree:
            tree = select
        else:
            node.replace(select)
    return tree


def _with_selects(tree: exp.Expr) -> exp.Expr:
    """A query in which VALUES is ``SELECT * FROM (VALUES ...)`` where it is no source, and so is SUMMARIZE that is the
    query."""
    if isinstance(tree, exp.Summarize):
        return exp.select("*").from_(exp.Subquery(this=tree, alias=exp.TableAlias(this=exp.to_identifier("q"))))
    for node in list(tree.find_all(exp.Values)):
        around = node.parent
        select = exp.Select(expressions=[exp.Star()])
        if isinstance(around, exp.In):
            around.set("expressions", None)
            around.set("query", exp.Subquery(this=select))
        elif isinstance(around, exp.Subquery | exp.Insert | exp.Create):
            node.replace(select)
        elif around is None:
            tree = select
        else:
            continue
        node.set("alias", exp.TableAlias(this=exp.to_identifier("listed")))
        select.set("from_", exp.From(this=node))
    return tree


def _grouped(tree: exp.Expr) -> exp.Expr:
    """A query without each GROUP BY ALL that groups by nothing: DuckDB groups by the expressions that have columns."""
    for select in tree.find_all(exp.Select):
        group = select.args.get("group")
        if group is not None and group.args.get("all") and not any(map(_is_grouped, select.expressions)):
            select.set("group", None)
    return tree


def _is_grouped(selected: exp.Expr) -> bool:
    """Whether GROUP BY ALL may group by an expression."""
    return selected.find(exp.AggFunc) is None and selected.find(exp.Column, exp.Star, exp.Columns) is not None


@dataclass(frozen=True)
class Statement:
    """One statement of a script.

    Attributes:
        word: the keyword that it begins with, in capitals; ``SELECT`` for each query.
        tree: its syntax tree; for EXPLAIN that of the query.
        text: its text.
    """

    word: str
    tree: exp.Expr
    text: str


def parse(sql: str) -> exp.Expr:
    """Parse a text that holds exactly one query.

    Raises:
        InputError: ``bad_sql``, with line and column; ``unsupported_query`` for anything other than one query;
            ``query_too_complex`` if it is too long or nested too deeply.
    """
    statements = parse_script(sql)
    if len(statements) > 1:
        raise unsupported("several statements", "Ask one query at a time.")
    if statements[0].word != SELECT:
        raise unsupported(f"the statement {statements[0].word}", "Ask it in a session: anondb.open(FILE).sql(...).")
    return statements[0].tree


def parse_script(sql: str) -> list[Statement]:
    """Parse the statements of a text, which are separated by semicolons.

    Raises:
        InputError: ``bad_sql``, with line and column; ``unsupported_query`` for statements that a session does not take;
            ``query_too_complex`` if it is too long or nested too deeply.
    """
    if not isinstance(sql, str):
        raise InputError("The query must be a text.", code="bad_sql")
    if len(sql) > MAX_CHARACTERS:
        raise too_complex(f"it has {len(sql)} characters, more than {MAX_CHARACTERS}")
    try:
        sql.encode("utf-8")
        tokens = dialect().tokenize(sql)
    except UnicodeEncodeError:
        raise InputError("The query is not valid Unicode.", code="bad_sql") from None
    except SqlglotError:
        raise _bad_sql() from None
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.token_type is TokenType.SEMICOLON:
            parts.append([])
        else:
            parts[-1].append(token)
    statements = [_statement(part, sql) for part in parts if part]
    if not statements:
        raise _bad_sql()
    return statements


def _statement(tokens: list[Token], sql: str) -> Statement:
    """One statement, of its tokens."""
    text = sql[tokens[0].start : tokens[-1].end + 1]
    first = tokens[0]
    if first.token_type in _STARTS:
        tree = _parsed(tokens, sql)
        return Statement("INSERT" if isinstance(tree, exp.Insert) else SELECT, tree, text)
    quoted = first.token_type in (TokenType.STRING, TokenType.IDENTIFIER)
    word = _SAME.get(first.text.upper(), first.text.upper()) if first.text.isascii() and not quoted else ""
    if word in _ALONE:
        return Statement(word, exp.Var(this=word), text)
    if word in _PREPARED:
        return Statement(word, exp.Var(this=sql[first.end + 1 : tokens[-1].end + 1].strip()), text)
    if word in ("EXPLAIN", "SHOW"):
        return _asked_about(word, sql[first.end + 1 : tokens[-1].end + 1].strip(), text)
    kind = next((token.text.upper() for token in tokens[1:] if token.text.upper() not in _MODIFIERS), "")
    if word not in _TAKEN or (word == "CREATE" and kind not in _CREATABLE):
        word = word if word.isalpha() and len(word) < 20 else ""
        raise unsupported(f"the statement {word}" if word else "a statement that is not a SELECT", STATEMENT_HINT)
    tree = _of_type(tokens, sql) if kind == "TYPE" else _parsed(tokens, sql)
    return Statement(SELECT if word in _QUERIES else word, tree, text)


def _of_type(tokens: list[Token], sql: str) -> exp.Expr:
    """The tree of CREATE TYPE or DROP TYPE, neither of which sqlglot reads: it has NULL of the type as its query, or in
    parentheses the query whose values an ENUM has."""
    replaced = [dialect().tokenize("VIEW")[0] if token.text.upper() == "TYPE" else token for token in tokens]
    for n, token in enumerate(tokens):
        if token.token_type is TokenType.ALIAS:
            kind = tokens[n + 1 :]
            listed = len(kind) < 3 or kind[2].token_type not in _STARTS
            cast = [*dialect().tokenize("SELECT CAST(NULL AS"), *kind, *dialect().tokenize(")")]
            replaced[n + 1 :] = cast if listed else kind[1:]
            break
    tree = _parsed(replaced, sql)
    tree.set("kind", "TYPE")
    return tree


def _asked_about(word: str, rest: str, text: str) -> Statement:
    """EXPLAIN of a query, or SHOW of all tables or of one; their texts are one token each."""
    if word == "SHOW" and rest.upper() in ("TABLES", "ALL TABLES"):
        return Statement(word, exp.Var(this=rest.upper()), text)
    if word == "SHOW":
        try:
            return Statement("DESCRIBE", exp.Describe(this=exp.to_table(rest, dialect="duckdb")), text)
        except SqlglotError:
            raise _bad_sql() from None
    query = rest[len("ANALYZE") :] if rest.upper().startswith("ANALYZE") else rest
    return Statement(word, parse(query), text)


_SCHEMAS = ("main", "pg_catalog", "information_schema", "system", "temp")
"""What stands before the name of a function without being its first operand."""


def _parsed(tokens: list[Token], sql: str) -> exp.Expr:
    """The tree of one statement."""
    try:
        trees = dialect().parser().parse(reworded(tokens), sql)
        for tree in filter(None, trees):
            check_depth(tree)
            _write_calls(tree)
    except ParseError as error:
        where = error.errors[0] if error.errors else {}
        raise _bad_sql(where.get("line"), where.get("col")) from None
    except (SqlglotError, RecursionError) as error:
        if isinstance(error, RecursionError):
            raise too_complex("it is nested too deeply") from None
        raise _bad_sql() from None
    if len(trees) != 1 or trees[0] is None or isinstance(trees[0], exp.Command):
        raise _bad_sql()
    for call in list(trees[0].find_all(exp.IgnoreNulls)):
        if isinstance(call.this, exp.AnyValue):  # so sqlglot reads any_value(x)
            call.replace(call.this)
    for top in list(trees[0].find_all(exp.ApproxTopK)):  # which sqlglot writes as that of other databases
        top.replace(exp.Anonymous(this="approx_top_k", expressions=[top.this, *filter(None, [top.expression])]))
    for node in trees[0].walk():  # the positions of nodes in the text are unused, and most of the cost of a copy
        if node._meta and node._meta.keys() <= _POSITIONS:
            node._meta = None
    return _with_selects(_grouped(_ended_inside(trees[0])))


def _write_calls(tree: exp.Expr) -> None:
    """Write ``x.f(y)``, whose x sqlglot does not read as a column, as ``f(x, y)``."""
    for dot in reversed(list(tree.find_all(exp.Dot))):  # inner ones first
        call, of = dot.expression, dot.this
        if isinstance(call, exp.Anonymous) and not (isinstance(of, exp.Identifier) and lowered(of.name) in _SCHEMAS):
            text = f"{call.name}({', '.join(operand.sql(dialect='duckdb') for operand in (of, *call.expressions))})"
            dot.replace(dialect().parser().parse(dialect().tokenize(text), text)[0])


def bare(node: exp.Expr) -> exp.Expr:
    """An expression without parentheses around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def is_null(node: exp.Expr) -> exp.Expr:
    """The condition that an expression is NULL: sqlglot writes no parentheses around NOT, AND and OR."""
    loose = isinstance(node, exp.Not | exp.Connector)
    return exp.Is(this=exp.paren(node.copy()) if loose else node.copy(), expression=exp.null())


def conjoined(condition: exp.Expr | None) -> list[exp.Expr]:
    """The conditions that AND connects."""
    if condition is None:
        return []
    inner = bare(condition)
    return operands(inner) if isinstance(inner, exp.And) else [inner]


def is_conjunct(condition: exp.Expr) -> bool:
    """Whether a condition is one of those that AND connects in WHERE, HAVING or QUALIFY, where NULL is as false."""
    at = condition.parent
    while isinstance(at, exp.And | exp.Paren):
        at = at.parent
    return isinstance(at, exp.Where | exp.Having | exp.Qualify)


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


def _literal(cell: str | int) -> exp.Expr:
    return exp.Literal.string(cell) if isinstance(cell, str) else exp.Literal.number(cell)


def cases_of(node: exp.Expr) -> list[tuple[exp.Expr, exp.Expr]]:
    """The conditions and results of CASE or IF, in order; the last one has the others."""
    if isinstance(node, exp.If):
        return [(node.this, node.args["true"]), (exp.true(), node.args.get("false") or exp.null())]
    cases = [
        (
            b.this if node.this is None else exp.EQ(this=exp.paren(node.this.copy()), expression=exp.paren(b.this.copy())),
            b.args["true"],
        )
        for b in node.args["ifs"]
    ]
    return [*cases, (exp.true(), node.args.get("default") or exp.null())]
