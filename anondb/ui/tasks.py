"""What the parts Load and Understand have done in the worker's process, which imports what that takes, to begin soon."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import anondb
from anondb.errors import InputError
from anondb.reading.options import READING, read_as
from anondb.ui.worker import Say

if TYPE_CHECKING:
    from anondb.api.before import BeforeRelease
    from anondb.taxonomies.build import Request
    from anondb.taxonomies.check import Checked
    from anondb.taxonomies.editing import Draft
    from anondb.ui.window import Project

AT_ONCE = ("anondb.api.before", "anondb.guide.peek")  # what the first look at a file takes


def opened(database: str, say: Say) -> BeforeRelease:
    """A database to read; memory for a data file, which has none."""
    from anondb.api.before import BeforeRelease
    from anondb.engine import DuckDBEngine

    if not database:
        return BeforeRelease(DuckDBEngine.open(on_progress=say, one_shot=True))
    return anondb.connect(database, read_only=True, on_progress=say)


def refuse_copy(say: Say) -> None:
    """Refuse a database that was dropped: its ledger would be deleted with the window."""
    hint = "Write the path of the database instead."
    raise InputError("What is dropped here is a copy, which is deleted with the window.", code="bad_usage", hint=hint)


def call(say: Say, database: str, method: str, **options: Any) -> Any:
    """The result of a method of a database that is only read."""
    with opened(database, say) as db:
        return getattr(db, method)(**options)


def check(say: Say, database: str, source: str, reading: dict[str, Any], taxonomy: str) -> Checked:
    """Whether a taxonomy fits the items of a file or a table."""
    from anondb.taxonomies.check import check_taxonomy

    with opened(database, say) as db:
        return check_taxonomy(db.engine, taxonomy, _rows(source, reading))


def _rows(source: Any, options: Mapping[str, Any]) -> Any:
    """A source, read as options say."""
    columns = {name: options[name] for name in ("id", "item") if name in options}
    return read_as(source, {name: options[name] for name in READING if name in options}, **columns)


def load(say: Say, database: str, how: dict[str, Any]) -> tuple[str, ...]:
    """Load files into a database; what was read of each."""
    from anondb.api.connect import new_file

    with new_file(database), anondb.connect(database, on_progress=say) as db:
        return tuple(f"{table.table}: {table.account.words}" for table in db.load(**how))


def draft(
    say: Say,
    project: Project,
    attribute: str | None,
    tree: Any = None,
    built: Request | None = None,
    under: str | None = None,
) -> Draft:
    """Read a taxonomy, or the hierarchy of an attribute, to edit it: ``tree`` instead of the project's, or one that is
    ``built`` so, or the project's with the missing items ``under`` a node."""
    from anondb.taxonomies.build import build_taxonomy
    from anondb.taxonomies.check import with_missing
    from anondb.taxonomies.editing import read
    from anondb.taxonomies.hierarchies import build_hierarchy

    options, rows = project.options, _rows(project.transactions, project.options)
    named: Any = options.get("taxonomy" if attribute is None else "hierarchies")
    if attribute is not None and "records" in options:
        rows = _rows(options["records"], {name: value for name, value in options.items() if name not in READING})
    with opened(project.database, say) as db:
        if built is not None and attribute is None:
            tree = build_taxonomy(db.engine, rows, built)
        elif built is not None and attribute is not None:
            tree = build_hierarchy(db.engine, rows, attribute, built).tree
        elif under is not None:
            tree, _ = with_missing(db.engine, named, rows, under)
        another = tree if attribute is None or tree is None else {attribute: tree}
        drafted = read(db.engine, named if another is None else another, rows, attribute=attribute)
    return drafted if tree is None else dataclasses.replace(drafted, saved=-1)


def write(say: Say, project: Project, attribute: str | None, tree: Any, to: str, replace: bool) -> str:
    """Save an edited tree."""
    from anondb.taxonomies.writing import save

    with anondb.connect(project.database, on_progress=say) as db:
        return save(db.engine, tree, to, attribute=attribute, replace=replace)
