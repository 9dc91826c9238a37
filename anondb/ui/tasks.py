"""What the parts Load and Understand have done in the worker's process; it imports nothing of the web, to begin quickly."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import anondb
from anondb.api.connect import new_file
from anondb.api.database import Database
from anondb.guide.peek import Peek
from anondb.guide.tables import Columns
from anondb.reading.options import READING, read_as
from anondb.taxonomies.build import Request, build_taxonomy
from anondb.taxonomies.check import Checked, check_taxonomy, with_missing
from anondb.taxonomies.editing import Draft, save
from anondb.taxonomies.hierarchies import build_hierarchy, supported_hierarchy
from anondb.taxonomies.supports import supported_taxonomy
from anondb.ui.worker import Say

if TYPE_CHECKING:
    from anondb.guide.profile import Profile
    from anondb.ui.window import Project


def opened(database: str, say: Say) -> Database:
    """A database to read; memory for a data file, which has none."""
    if not database:
        return anondb.connect(on_progress=say, one_shot=True)
    return anondb.connect(database, read_only=True, on_progress=say)


def tables(say: Say, database: str) -> tuple[Columns, ...]:
    """The tables of a database."""
    with opened(database, say) as db:
        return db.tables()


def peek(say: Say, database: str, source: str, given: dict[str, Any]) -> Peek:
    """How a file or a table is read."""
    with opened(database, say) as db:
        return db.peek(source, **given)


def check(say: Say, database: str, source: str, given: dict[str, Any], taxonomy: str) -> Checked:
    """Whether a taxonomy fits the items of a file or a table."""
    reading = dict(given)
    columns = {f"{name}_column": reading.pop(name) for name in ("id", "item") if name in reading}
    with opened(database, say) as db:
        return check_taxonomy(db.engine, taxonomy, read_as(source, reading), **columns)


def load(say: Say, database: str, how: dict[str, Any]) -> tuple[str, ...]:
    """Load files into a database; what was read of each."""
    with new_file(database), anondb.connect(database, on_progress=say) as db:
        return tuple(f"{table.table}: {table.account.words}" for table in db.load(**how))


def profile(say: Say, project: Project, attackers: bool) -> Profile:
    """The profile of a project; its sizes alone are quick."""
    with opened(project.database, say) as db:
        options = {name: value for name, value in project.options.items() if name != "accept"}
        return db.profile(project.transactions, attackers=attackers, **options)


def draft(
    say: Say, project: Project, attribute: str | None, built: Request | None = None, under: str | None = None
) -> Draft:
    """A taxonomy, or the hierarchy of an attribute, to edit: that of the project, a new one, or completed below a node."""
    with opened(project.database, say) as db:
        rows, columns = _of(project, attribute)
        tree: Any = project.options.get("taxonomy" if attribute is None else "hierarchies")
        if built is not None and attribute is None:
            tree = build_taxonomy(db.engine, rows, built, **columns)
        elif built is not None and attribute is not None:
            tree = {attribute: build_hierarchy(db.engine, rows, attribute, built, **columns).tree}
        elif under is not None:
            tree, _ = with_missing(db.engine, tree, rows, under, **columns)
        made = Draft.of(*_counted(db, project, attribute, tree))
    return made if built is None and under is None else dataclasses.replace(made, saved=-1)


def count(say: Say, project: Project, attribute: str | None, tree: Any) -> dict[str, int]:
    """The persons at or below each node of a tree, by its label."""
    with opened(project.database, say) as db:
        tree, persons = _counted(db, project, attribute, tree if attribute is None else {attribute: tree})
    return dict(zip(tree.labels, map(int, persons), strict=True))


def write(say: Say, project: Project, attribute: str | None, tree: Any, to: str, replace: bool) -> str:
    """Save an edited tree."""
    with anondb.connect(project.database, on_progress=say) as db:
        return save(db.engine, tree, to, attribute=attribute, replace=replace)


def _of(project: Project, attribute: str | None) -> tuple[Any, dict[str, Any]]:
    """The transactions or, for an attribute, the records, and their columns."""
    options = project.options
    rows = read_as(project.transactions, {name: options[name] for name in READING if name in options})
    columns = {"id_column": options.get("id", "tid")}
    if attribute is None:
        return rows, columns | {"item_column": options.get("item", "item")}
    return options.get("records", rows), columns


def _counted(db: Database, project: Project, attribute: str | None, tree: Any) -> tuple[Any, Any]:
    """A tree with the persons of each node."""
    rows, columns = _of(project, attribute)
    if attribute is None:
        return supported_taxonomy(db.engine, tree, rows, **columns)
    return supported_hierarchy(db.engine, tree, rows, attribute, **columns)
