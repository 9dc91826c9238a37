"""The typed errors for queries without a sound answer, which whatever reads or answers one may raise; each names the
unsupported construct.
"""

from __future__ import annotations

from sqlglot import exp

from anondb.errors import InputError

REFUSED = "Not answered from a release: "
HINT = "Ask for a COUNT over the id and item columns of the original table."

ARGUMENTS = {
    **{key: key.upper() for key in ("distinct", "having", "limit", "offset", "qualify", "rename", "replace", "where")},
    "limit_options": "LIMIT with a percentage",
    "order": "ORDER BY",
    "windows": "WINDOW",
    "sample": "TABLESAMPLE",
    "group": "GROUP BY",
    "joins": "a join inside parentheses",
    "laterals": "LATERAL",
    "pivots": "PIVOT",
    "into": "INTO",
    "locks": "FOR UPDATE",
    "with_": "WITH in this place",
    "db": "a qualified name",
    "catalog": "a qualified name",
    "when": "AT (a version of a table)",
    "by_name": "BY NAME",
    "recursive": "WITH RECURSIVE",
    "method": "this kind of join",
    "on": "ON in this place",
    "using": "USING in this place",
    "except_": "EXCLUDE",
    "negate": "a negated operator written with !",
    "ordinality": "WITH ORDINALITY",
    "nulls_first": "NULLS FIRST",
    "with_fill": "WITH FILL",
    "from_": "FROM",
}


def unsupported(construct: str, hint: str = HINT) -> InputError:
    """The error ``unsupported_query``: a construct, by its name in SQL, has no sound answer."""
    return InputError(f"{REFUSED}{construct}.", code="unsupported_query", hint=hint)


def too_complex(what: str) -> InputError:
    """The error ``query_too_complex``: the exact evaluation would take too long."""
    return InputError(
        f"The query is too complex: {what}.",
        code="query_too_complex",
        hint="Ask for fewer items, conditions or subqueries at once.",
    )


def name_of(node: exp.Expr) -> str:
    """The SQL name of a construct: the name of a function, the sign of an operator, else the keyword."""
    if isinstance(node, exp.Anonymous):
        return f"the function {node.name}"
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Func):
        return f"the table function {node.this.name or node.this.sql_names()[0]}"
    if isinstance(node, exp.Literal):
        return "a literal in this place"
    if isinstance(node, exp.Func) and node.sql_names():
        return f"the function {_function(node)}"
    if isinstance(node, exp.Binary):
        written = type(node)(this=exp.Placeholder(), expression=exp.Placeholder()).sql("duckdb")
        return f"the operator {written.strip(' ?').partition('(')[0]}"
    return f"{node.key.upper().replace('_', ' ')} in this place"


def _function(call: exp.Func) -> str:
    """The name of a function in DuckDB, where it is written as a call; sqlglot's own name else."""
    name = call.sql("duckdb").partition("(")[0]
    within = any(part.sql("duckdb").startswith(f"{name}(") for part in call.iter_expressions())
    called = name if name.isidentifier() and not within else call.sql_names()[0]
    return "STRING_AGG" if called == "LISTAGG" else called


def only(node: exp.Expr, *allowed: str) -> None:
    """Refuse a node with other parts than the allowed ones: no part of a query may be ignored.

    Raises:
        InputError: ``unsupported_query``, naming the part.
    """
    for key, value in node.args.items():
        if value not in (None, False, []) and key not in allowed:
            raise unsupported(ARGUMENTS.get(key, f"{key.strip('_').upper().replace('_', ' ')} of {node.key.upper()}"))
