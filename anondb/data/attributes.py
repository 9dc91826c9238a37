"""Readers of the hierarchies, NCP weights and domains of quasi-identifiers
(docs/algorithms/metrics.md#ncp)."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from anondb.data.constraints import load_weights
from anondb.data.sources import Source, open_source, texts_of
from anondb.data.taxonomy import Edge, Edges, Taxonomy, edge_columns, load_taxonomy
from anondb.data.types import has_one_text, short
from anondb.engine import Engine
from anondb.errors import InputError

Domain = tuple[str, str]
_Value = TypeVar("_Value")
HIERARCHY_SUFFIXES = (".tree", ".csv", ".txt")
RESERVED = ("transaction_id", "items")


def can_be_attribute(kind: str) -> bool:
    """Whether equal values of a type have equal texts, under all settings."""
    return kind in ("DOUBLE", "FLOAT") or has_one_text(kind)


def check_type(source: Source, column: str) -> None:
    """Refuse a type whose values have several texts, or texts that depend on settings: a query on the texts of a release
    would differ from the same query on the values."""
    kind = source.columns[column]
    if not can_be_attribute(kind):
        words = f"The column {column!r} of {source.name} has the type {short(kind)}, which attributes cannot have."
        raise InputError(words, code="bad_type", hint="Cast it to text, DECIMAL, DATE or TIMESTAMP in a view.")


def check_names(columns: list[str], id_column: str, item_column: str) -> None:
    """Refuse column names that the tables of a release use for other columns."""
    lowered = {c.lower() for c in columns}
    if id_column.lower() in lowered:
        words = f"{id_column!r} is the id of the records, a direct identifier."
        raise InputError(words, code="direct_identifier", hint="Leave it out.")
    if item_column.lower() in lowered:
        hint = "Leave it out of the quasi-identifiers."
        raise InputError(f"{item_column!r} is the column of items.", code="bad_usage", hint=hint)
    generated = {c.lower() + end for c in columns for end in ("_lo", "_hi", "_null")}
    if clashing := sorted(lowered & (generated | set(RESERVED))):
        words = f"The release uses the column name {clashing[0]!r} for another column."
        raise InputError(words, code="column_clash", hint="Rename the column.")


def attribute_hierarchies(
    engine: Engine, hierarchies: Any, attributes: Collection[str]
) -> tuple[dict[str, Taxonomy], tuple[str, ...] | None]:
    """Read the hierarchies of attributes, in the formats of ``records.load_records``: those of the attributes by lower-case
    name; and the names of all, None if the owner has named no source of them. Raises InputError: ``unknown_hierarchy``, if
    hierarchies exist and none belongs to a quasi-identifier."""
    if hierarchies is None:
        return {}, None
    names = {c.lower() for c in attributes}
    named = hierarchy_sources(engine, hierarchies)
    unknown = len(set(named) - names)
    if unknown and not set(named) & names and not is_folder(hierarchies):
        words = f"None of the {unknown} hierarchies has the name of a quasi-identifier."
        hint = "Give a table (attribute, node, parent), or a directory with one NAME.tree file for each."
        raise InputError(words, code="unknown_hierarchy", hint=hint)
    return {name: load_taxonomy(engine, of) for name, of in named.items() if name in names}, tuple(named)


def hierarchy_sources(engine: Engine, hierarchies: Any) -> dict[str, Any]:
    """What ``load_taxonomy`` and ``read_edges`` read for each attribute, by lower-case name. Raises InputError: the source
    cannot be read, or rows lack an attribute or a node."""
    if isinstance(hierarchies, Mapping):
        return {str(name).lower(): tree for name, tree in hierarchies.items()}
    if is_folder(hierarchies):
        files = sorted(p for p in Path(hierarchies).iterdir() if p.suffix.lower() in HIERARCHY_SUFFIXES)
        return {p.stem.lower(): p for p in files}
    with open_source(engine, hierarchies, "hierarchies") as source:
        wanted = ("attribute", *(edge_columns(source.columns) or ("node", "parent")))
        columns = [source.column(name, "--hierarchies") for name in wanted]
        rows = texts_of(engine, source, columns, (*(c for c in source.columns if c.lower() == "ord"), "c0", "c1", "c2"))
    edges: dict[str, list[Edge]] = {}
    for name, node, parent in rows:
        if name is None or node is None:
            raise InputError(f"{source.name} has rows without an attribute or a node.", code="null_node")
        edges.setdefault(name.lower(), []).append((node, parent))
    return {name: Edges(pairs, f"the hierarchy of {name!r}") for name, pairs in edges.items()}


def is_folder(hierarchies: Any) -> bool:
    """Whether a source of hierarchies is a folder of files."""
    return isinstance(hierarchies, str | Path) and Path(hierarchies).is_dir()


def attribute_weights(engine: Engine, weights: Any, attributes: Collection[str]) -> dict[str, Fraction]:
    """Read the weights of attributes, by lower-case name, from ``(attribute, weight)`` or a mapping; None gives none. Raises
    InputError: ``bad_weight``; ``unknown_attribute`` for a name that is no quasi-identifier."""
    read = {} if weights is None else load_weights(engine, weights, "attribute")
    return _by_attribute(attributes, read, "weights")


def attribute_domains(engine: Engine, domains: Any, attributes: Collection[str]) -> dict[str, Domain]:
    """Read the domains of attributes, by lower-case name, from ``(attribute, low, high)`` or a mapping of names to ends. The
    ends stay texts. Raises InputError: ``bad_domain`` if an end is missing; ``unknown_attribute``."""
    if domains is None:
        return {}
    if isinstance(domains, Mapping):
        rows = [(name, *(ends if isinstance(ends, list | tuple) else ())) for name, ends in domains.items()]
        texts = [tuple(None if x is None else str(x) for x in row) for row in rows]
    else:
        with open_source(engine, domains, "domains") as source:
            names = [source.column(c, c) for c in ("attribute", "low", "high")]
            texts = texts_of(engine, source, names)
    if any(len(row) != 3 or None in row for row in texts) or len({row[0] for row in texts}) < len(texts):
        words = "A domain has no attribute, lacks an end, or is one of two for the same attribute."
        raise InputError(words, code="bad_domain", hint="Give (attribute, low, high), one row for each attribute.")
    return _by_attribute(attributes, {str(name): (str(low), str(high)) for name, low, high in texts}, "domains")


def domain_of_numbers(name: str, domain: Domain, decimals: int) -> tuple[int, int]:
    """Convert both ends to units of the column's last decimal. Raises InputError: ``bad_domain``: they are not numbers, have
    more decimals than the column, or are too long."""
    try:
        low, high = (Decimal(text).scaleb(decimals) for text in domain)
        if all(x == x.to_integral_value() and abs(x) < 10**18 for x in (low, high)):
            return int(low), int(high)
    except ArithmeticError:
        pass
    words = f"The domain of {name!r} must be two numbers with at most as many decimals as the column has."
    raise InputError(words, code="bad_domain")


def domain_of_dates(name: str, domain: Domain) -> tuple[int, int]:
    """Convert both ends to microseconds since 1970. Raises InputError: ``bad_domain``: they are not ISO dates."""
    try:
        low, high = ((datetime.fromisoformat(text) - datetime(1970, 1, 1)) // timedelta(microseconds=1) for text in domain)
        return low, high
    except (ValueError, TypeError):  # the latter for one with a time zone
        words = f"The domain of {name!r} must be two dates without a time zone, as in 2001-12-31."
        raise InputError(words, code="bad_domain") from None


def _by_attribute(attributes: Collection[str], values: Mapping[str, _Value], what: str) -> dict[str, _Value]:
    """The values by lower-case attribute name, after a check that each name is a quasi-identifier."""
    by_name = {str(name).lower(): value for name, value in values.items()}
    unknown = len(set(by_name).difference(map(str.lower, attributes)))
    if unknown or len(by_name) < len(values):
        words = f"{unknown or 'Some'} of the {what} do not belong to exactly one quasi-identifier."
        raise InputError(words, code="unknown_attribute", hint="Name the columns as in --quasi-identifiers.")
    return by_name
