"""Unfinished work that the owner asked to keep: the results of finished steps, in the schema ``anondb_work``. A step is kept
in its own transaction, with a key that is a digest of all that it depends on. The next run takes what has its key, and
throws everything else away. There is one unfinished run in a database at most."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np

from anondb import __version__, recoding
from anondb.algorithms.method import Task
from anondb.data.constraints import load_columns
from anondb.data.layouts import arranged
from anondb.data.sources import all_columns, open_source
from anondb.data.transactions import Dataset
from anondb.engine import Engine, Query, Table, reads
from anondb.engine.texts import quoted, sql
from anondb.errors import InputError, InternalError
from anondb.ledger import ledger
from anondb.policy import Policy
from anondb.reading.account import Account
from anondb.release.objects import SchemaName
from anondb.release.row_sums import figures_of

WORK_SCHEMA = "anondb_work"
_STEPS = {"step": "VARCHAR", "key": "VARCHAR", "value": "VARCHAR"}
_KEPT = (
    Account,
    Dataset,
    recoding.BucketRecoding,
    recoding.Decision,
    recoding.GlobalRecoding,
    recoding.LocalRecoding,
    recoding.PublishedAttribute,
    recoding.RelationalRecoding,
)
_TYPES: dict[str, Any] = {kind.__name__: kind for kind in _KEPT}


class Unfinished:
    """The kept steps of a database. Call all methods inside ``engine.transaction()``."""

    def __init__(self, engine: Engine, catalog: str) -> None:
        self._engine, self._catalog = engine, catalog
        self._schema = SchemaName(catalog, WORK_SCHEMA)
        self._steps = self._schema.table("steps")

    def _names(self) -> list[str] | None:
        """The names of the tables of the schema; None if some are the user's."""
        stored = self._engine.query("ledger/stored_tables", catalog_name=self._catalog, schema=WORK_SCHEMA)
        names: list[str] = stored["name"].tolist()
        prefixes = ("steps", *(f"{step}_{self._engine.work_table('').name}" for step in ("load", "anonymize")))
        return names if all(name.startswith(prefixes) for name in names) else None

    def check(self) -> None:
        """Check, before the long work, that the schema holds nothing of the user's. Raises InputError: ``reserved_name``."""
        if self._names() is None:
            raise InputError(
                f"The schema {WORK_SCHEMA!r} has tables that are not anondb's.",
                code="reserved_name",
                hint="Rename it: anondb keeps unfinished work under this name.",
            )

    def sweep(self) -> None:
        """Drop all kept work."""
        if names := self._names():
            self._engine.drop(*map(self._schema.table, names))
            self._engine.run(sql("DROP SCHEMA {}", self._schema.sql()), "dropping kept work")

    def restore(self, step: str, key: str) -> Any:
        """The result of a step that was kept under a key; None if there is none."""
        if "steps" not in (self._names() or ()):
            return None
        kept = sql("step = {} AND key = {}", step, key)
        rows = self._engine.select(reads.rows(self._steps, "value", where=kept))["value"].tolist()
        return self._decoded(json.loads(rows[0])) if rows else None

    def keep(self, step: str, key: str, value: Any) -> Any:
        """Keep the result of a step, with its work tables, in the place of all results of this step; return it as restored.
        The first step throws away all others."""
        if step == "load":
            self.sweep()
            self._engine.run(self._schema.creation(exists=True), "keeping work")
            self._engine.put(self._steps, {name: (kind, []) for name, kind in _STEPS.items()})
        else:
            self._engine.drop(*(self._schema.table(n) for n in self._names() or () if n.startswith(f"{step}_")))
            self._engine.run(sql("DELETE FROM {} WHERE step = {}", self._steps, step), "keeping work")
        text = json.dumps(self._encoded(value, step), ensure_ascii=False)
        row = {"step": step, "key": key, "value": text}
        self._engine.insert(self._steps, {name: (kind, [row[name]]) for name, kind in _STEPS.items()})
        return self._decoded(json.loads(text))

    def _encoded(self, value: Any, step: str) -> Any:
        """A value as JSON; a work table becomes a table of the schema, a table of the database its name."""
        if isinstance(value, Table):
            if value.catalog != "temp":
                here = value.catalog == self._catalog
                return {"table": [None if here else value.catalog, value.schema, value.name]}
            kept = self._engine.create(self._schema.table(f"{step}_{value.name}"), all_columns(value))
            return {"work": kept.name}
        if isinstance(value, np.ndarray):
            return {"array": [str(value.dtype), value.tolist()]}
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, Fraction):
            return {"fraction": str(value)}
        if isinstance(value, dict):
            return {"dict": [[self._encoded(part, step) for part in pair] for pair in value.items()]}
        if isinstance(value, tuple):
            return {"tuple": [self._encoded(part, step) for part in value]}
        if type(value) in _KEPT:
            return {type(value).__name__: {f.name: self._encoded(getattr(value, f.name), step) for f in fields(value)}}
        if value is None or isinstance(value, bool | int | float | str):
            return value
        raise InternalError(f"Unfinished work of the type {type(value).__name__} cannot be kept.")

    def _decoded(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        simple: dict[str, Callable[[Any], Any]] = {
            "table": lambda names: Table(names[0] or self._catalog, *names[1:]),
            "work": self._schema.table,
            "array": lambda pair: np.array(pair[1], dtype=pair[0]),
            "fraction": Fraction,
            "dict": lambda pairs: {self._decoded(name): self._decoded(part) for name, part in pairs},
            "tuple": lambda parts: tuple(self._decoded(part) for part in parts),
        }
        if kind in simple:
            return simple[kind](content)
        return _TYPES[kind](**{name: self._decoded(part) for name, part in content.items()})


def key_of_load(engine: Engine, policy: Policy) -> str:
    """A digest of the persons of a policy, which costs one scan and no sorting: ``load`` has the same result for the same
    key. DuckDB's hashes may change between its versions, so that its version is part of the key."""
    version = engine.select(Query("SELECT version() AS version"), "the version of DuckDB")
    facts: list[Any] = [__version__, version["version"].tolist(), policy.id, policy.item, policy.bag_input]
    facts.append(policy.reading.texts())
    facts.append(_sums(engine, policy.rows, "transactions", policy.id, policy.item))
    if policy.people is not None and policy.people is not policy.rows:
        facts.append(_sums(engine, policy.people, "records", policy.id))
    return _digest(facts)


def _sums(engine: Engine, data: Any, what: str, id_column: str, item: str | None = None) -> list[Any]:
    """The name and the columns of a source, and sums of hashes over its rows, in any order."""
    with open_source(engine, data, what) as source:
        if item is not None:
            source, id_column, item = arranged(engine, source, id_column, item)
        names = [source.column(id_column, "--id"), *([] if item is None else [source.column(item, "--item")])]
        sums = engine.select(reads.rows(source.query, figures_of(map(quoted, names))), f"reading {source.name}")
        place = None if source.reference is None else source.reference.sql()
        return [
            source.name,
            source.table,
            place,
            [(n, source.columns[n]) for n in names],
            *(c.tolist() for c in sums.values()),
        ]


def key_of_recoding(engine: Engine, key: str, policy: Policy, task: Task) -> str:
    """A digest of all that an algorithm depends on: the key of ``load``, the options, and the contents of their sources."""
    tree, columns = task.taxonomy, policy.columns
    if columns is not None and not isinstance(columns, int):
        columns = [
            part.tolist() if isinstance(part, np.ndarray) else part for part in load_columns(engine, columns, task.dataset)
        ]
    facts = [
        *(key, policy.model.name, policy.algorithm, policy.ledger_options()),
        *(None if tree is None else (tree.labels, tree.parent.tolist()), columns),
        *(ledger.constraint_rows(task.requirements), task.sensitive),
        None if task.records is None else task.records.fingerprint(),
    ]
    return _digest(facts)


def _digest(facts: list[Any]) -> str:
    return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()
