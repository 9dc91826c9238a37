"""The two digests that identify a sealed file: of its bytes, and of its content.

The content digest identifies the release, not the file: a copy made by DuckDB has the same one. It is the SHA-256 of one
line for each object: ``table NAME(COLUMN TYPE, ...) ROWS DIGEST`` for each base table, ``text NAME DIGEST`` for each view
and macro with the digest of the SQL file that defines it, without its comment lines. The lines are sorted, and each ends
with a newline. The digest of a table is the SHA-256 of the hexadecimal digests of its blocks, in order: a block holds the
rows of 65,536 transactions (buckets); any other table is a single block. A row is its values in column order, each as
``LENGTH:TEXT`` with the length in bytes and the text of a CAST to VARCHAR; a list is its number of elements, then each
element; NULL is ``-``.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from sqlglot import exp

from anondb.engine import Engine
from anondb.engine.queries import source_digest
from anondb.release.definitions import definition_queries
from anondb.release.objects import ROW_ORDER, Kind, SchemaName

PREFIX = "content:"
_BLOCK = 65_536  # transactions


def file_digest(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def content_digest(engine: Engine, schema: SchemaName, kind: Kind) -> str:
    """The content digest, with its prefix ``content:``. Check the catalog of the release first."""
    lines = [_table_line(engine, schema, name, kind) for name in kind.tables]
    lines += [f"text {name} {source_digest(query)}" for name, query in definition_queries(kind)]
    return PREFIX + hashlib.sha256("".join(f"{line}\n" for line in sorted(lines)).encode()).hexdigest()


def _table_line(engine: Engine, schema: SchemaName, name: str, kind: Kind) -> str:
    columns = kind.tables[name]
    row = engine.select(_table_digest(schema, name, kind), "the digest of a table")
    described = ", ".join(f"{column} {of_type}" for column, of_type in columns.items())
    return f"table {name}({described}) {int(row['n'][0])} {row['digest'][0]}"


def _table_digest(schema: SchemaName, name: str, kind: Kind) -> exp.Query:
    """``(n, digest)``: the number of rows of a table, and the digest of the digests of its blocks."""
    columns = kind.tables[name]
    number = exp.column(exp.to_identifier(kind.number, quoted=True))
    block: exp.Expr = exp.convert(0)
    if kind.number in columns:
        block = exp.IntDiv(this=number, expression=exp.convert(_BLOCK))
    text = exp.Concat(expressions=[_text(exp.column(exp.to_identifier(c, quoted=True)), t) for c, t in columns.items()])
    order = exp.Order(
        expressions=[exp.Ordered(this=exp.column(exp.to_identifier(c, quoted=True))) for c in ROW_ORDER[name]]
    )
    blocks = (
        exp.select(
            block.as_("block"),
            exp.Count(this=exp.Star()).as_("n"),
            _sha256(_joined(text, order)).as_("digest"),
        )
        .from_(schema.table(name).expression())
        .group_by(exp.convert(1))
    )
    in_order = exp.Order(expressions=[exp.Ordered(this=exp.column("block"))])
    total = exp.func("coalesce", exp.Sum(this=exp.column("n")), exp.convert(0))
    whole = _sha256(exp.func("coalesce", _joined(exp.column("digest"), in_order), exp.Literal.string("")))
    return exp.select(exp.cast(total, "BIGINT").as_("n"), whole.as_("digest")).from_(blocks.subquery("blocks"))


def _joined(text: exp.Expr, order: exp.Order) -> exp.Expr:
    """Concatenate the texts of a group."""
    order.set("this", text)
    return exp.GroupConcat(this=order, separator=exp.Literal.string(""))


def _sha256(text: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="sha256", expressions=[text])


def _text(value: exp.Expr, of_type: str) -> exp.Expr:
    """A value as ``LENGTH:TEXT``, which makes the text of a row unambiguous."""
    if of_type.endswith("[]"):
        element = exp.to_identifier("element")
        each = exp.Lambda(this=_text(exp.column("element"), of_type[:-2]), expressions=[element])
        texts = exp.Anonymous(this="list_transform", expressions=[value.copy(), each])
        listed = exp.Anonymous(this="array_to_string", expressions=[texts, exp.Literal.string("")])
        counted = exp.cast(exp.Anonymous(this="len", expressions=[value.copy()]), "VARCHAR")
        shown: exp.Expr = exp.Concat(expressions=[counted, exp.Literal.string("["), listed])
    else:
        text = exp.cast(value.copy(), "VARCHAR")
        length = exp.cast(exp.Anonymous(this="strlen", expressions=[text]), "VARCHAR")
        shown = exp.Concat(expressions=[length, exp.Literal.string(":"), text.copy()])
    missing = value.copy().is_(exp.null())
    return exp.Case(ifs=[exp.If(this=missing, true=exp.Literal.string("-"))], default=shown)
