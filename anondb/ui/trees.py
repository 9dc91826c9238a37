"""Trees of the part Understand: the taxonomy of the items, and the hierarchies of attributes, to look at and to edit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from anondb.errors import AnondbError
from anondb.reading.options import PEOPLE
from anondb.taxonomies import BUILDERS, GROUPS, HIERARCHIES, OPTION_OF, OPTIONS
from anondb.taxonomies.build import Request as Building
from anondb.taxonomies.editing import ROOT, Draft
from anondb.ui import tasks
from anondb.ui.load import KINDS
from anondb.ui.window import Project, Window, back, posted, project_at

HERE = "/understand#tree"
TREE, COUNT, SAVE = "understand_tree", "understand_count", "understand_save"
MOST = 200  # children that are shown of a node
SUGGESTED = "what the values suggest"  # to build a hierarchy by


@dataclass
class View:
    """How a tree is looked at.

    Attributes:
        attribute: whose hierarchy it is; None for the taxonomy of the items.
        draft: the tree; None before it is read or built.
        opened, chosen: the nodes that are open, and those that an edit is about.
        find, hits: what was searched, and the nodes whose labels contain it.
        problem: why the last edit was refused.
        building: how the tree was built, as options of the command; None if it was not.
    """

    attribute: str | None = None
    draft: Draft | None = None
    opened: set[int] = field(default_factory=lambda: {ROOT})
    chosen: set[int] = field(default_factory=set)
    find: str = ""
    hits: set[int] = field(default_factory=set)
    problem: AnondbError | None = None
    building: dict[str, Any] | None = None


def view_of(window: Window) -> View:
    """The tree that is looked at; at first the taxonomy or, of people without items, the hierarchy of an attribute."""
    project = window.project
    named = attributes_of(project) if project is not None and project.options.get("layout") == PEOPLE else []
    view: View = window.kept.setdefault("understand_view", View(next(iter(named), None)))
    return view


def attributes_of(project: Project) -> list[str]:
    """The attributes of people that may have hierarchies."""
    parts = [part for part in project.options.get("quasi_identifiers", "").split(",") if part]
    return [part.rpartition(":")[0] if part.rpartition(":")[2] in KINDS else part for part in parts]


def shown_tree(window: Window, project: Project) -> dict[str, Any]:
    """What the page shows of the tree; begins to read it if the project has one."""
    view = view_of(window)
    named = project.options.get("taxonomy" if view.attribute is None else "hierarchies")
    if view.draft is None and named is not None and TREE not in window.jobs:
        read(window, view)
    job = window.jobs.get(TREE)
    is_unknown = job is not None and job.problem is not None and job.problem.code == "unknown_hierarchy"
    builders = BUILDERS if view.attribute is None else ("", *HIERARCHIES)
    values: dict[str, Any] = {"view": view, "draft": view.draft, "MOST": MOST}
    values |= {"is_unknown": is_unknown, "has_none": (named is None or is_unknown) and view.draft is None}
    values |= {"builders": {by: (GROUPS.get(by, SUGGESTED), OPTIONS.get(OPTION_OF.get(by, ""))) for by in builders}}
    values |= {"target": _target(project, view, named), "tree_command": _command(project, view, named)}
    has_items = project.options.get("layout") != PEOPLE
    trees = {"": "the taxonomy of the items"} if has_items else {}
    return values | {"trees": trees | {name: f"the hierarchy of {name}" for name in attributes_of(project)}}


def read(window: Window, view: View, **how: Any) -> None:
    """Read, build or complete the tree of a view. Jobs run one after the other, so that none finds the database locked."""

    def then(draft: Draft) -> None:
        view.draft, view.opened, view.chosen, view.hits = draft, {ROOT}, set(), set()

    view.problem = None
    words = "Building" if how.get("built") else "Reading"
    words += " the taxonomy" if view.attribute is None else f" the hierarchy of {view.attribute}"
    window.forget(COUNT, SAVE)
    window.run(TREE, words, tasks.draft, then=then, project=window.project, attribute=view.attribute, **how)


def _target(project: Project, view: View, named: Any) -> str:
    """Where the tree may be saved: where it is from, beside a table of it, or a new file or folder."""
    if view.attribute is not None:
        return str(named or "hierarchies/")
    if named is None or str(named).endswith(".tree") or "://" in project.database:  # whose tables stay as they are
        return str(named) if str(named).endswith(".tree") else "taxonomy.tree"
    return f"{Path(str(named)).stem}_edited"


def _command(project: Project, view: View, named: Any) -> str:
    """The command that builds the tree, or shows the one that was saved."""
    from anondb.ui.understand import source_of

    kind, flag, options = "taxonomy", "taxonomy", source_of(project)
    if view.attribute is not None:
        kind, flag, records = "hierarchy", "hierarchies", project.options.get("records", project.transactions)
        options = {"records": records, "id": project.options.get("id"), "attribute": view.attribute}
    if view.building is not None and view.draft is not None and view.draft.at == 0 and view.draft.saved < 0:
        return project.command(f"{kind} build", **options, **view.building, to=_target(project, view, named))
    return "" if named is None else project.command(f"{kind} show", **options, **{flag: named})


async def edit(request: Request) -> Response:
    """Open or close nodes, search, or edit the tree."""
    (window, project), (fields, form) = project_at(request), await posted(request)
    view = view_of(window)
    if (draft := view.draft) is None:
        return back(HERE)
    before, labels = draft.nodes, draft.nodes.labels
    view.chosen = {int(str(n)) for n in form.getlist("node") if str(n).isdecimal() and int(str(n)) in labels}
    view.problem = None
    try:
        _do(view, draft, fields)
    except AnondbError as problem:
        view.problem = problem
    if draft.nodes is not before:
        view.opened &= draft.nodes.labels.keys()
        view.chosen = set()  # the next edit is about other nodes
        window.forget(COUNT)
        if len(draft.nodes.persons) < len(draft.nodes.labels):
            arguments: dict[str, Any] = {"project": project, "attribute": view.attribute, "tree": draft.tree()}
            window.run(COUNT, "Counting persons", tasks.draft, then=draft.count, **arguments)
    return back(HERE)


def _do(view: View, draft: Draft, fields: Mapping[str, str]) -> None:
    """What a button, a key or a drop asks for."""
    action, _, node = fields.get("do", "enter").partition(":")
    name, find, nodes = fields.get("name", ""), fields.get("find", ""), draft.nodes
    single = min(view.chosen) if len(view.chosen) == 1 else None
    if action == "enter":
        into_or_name = "move" if fields.get("into") else "group" if single is None else "rename"
        action = "find" if find != view.find else into_or_name
    if action == "toggle" and node.isdecimal():
        view.opened ^= {int(node)}
    elif action == "find":
        view.find = find
        hits = [n for n, label in nodes.labels.items() if view.find and view.find.casefold() in label.casefold()]
        view.hits = set(hits)
        view.opened |= {above for hit in hits[:MOST] for above in nodes.above(hit)}
    elif action == "undo":
        draft.undo()
    elif action == "redo":
        draft.redo()
    elif action == "group":
        new = draft.group(sorted(view.chosen), name)
        view.opened |= {*draft.nodes.above(new)}
    elif action == "move":
        into = int(node) if node.isdecimal() else nodes.node_of.get(fields.get("into", ""), -1)
        if into not in nodes.labels:
            raise AnondbError("There is no group of this name.", hint="Choose one of those offered.")
        draft.move(sorted(view.chosen), into)
        view.opened |= {into, *draft.nodes.above(into)}
    elif single is None:
        raise AnondbError("This is done with one node.", hint="Tick one node, and no other.")
    elif action == "rename":
        draft.rename(single, name)
    elif action == "delete":
        draft.delete(single)


async def choose(request: Request) -> Response:
    """Look at the taxonomy, or at the hierarchy of an attribute."""
    (window, project), (fields, _) = project_at(request), await posted(request)
    window.forget(TREE, COUNT, SAVE)
    attribute = fields.get("attribute")
    window.kept["understand_view"] = View(attribute if attribute in attributes_of(project) else None)
    return back(HERE)


async def build(request: Request) -> Response:
    """Build a new tree, or add the missing items below a node."""
    (window, _), (fields, _) = project_at(request), await posted(request)
    view, by = view_of(window), fields.get("by", "")
    if "under" in fields:
        view.building = None
        read(window, view, under=fields["under"])
    else:
        more = {OPTION_OF[by]: fields[f"more-{by}"]} if f"more-{by}" in fields and by in OPTION_OF else {}
        view.building = {"by": by or None, **more}
        try:
            read(window, view, built=Building.from_texts(by, **more))
        except AnondbError as problem:
            view.problem = problem
    return back(HERE)


async def keep(request: Request) -> Response:
    """Save the tree; the project uses it then."""
    (window, project), (fields, _) = project_at(request), await posted(request)
    view, to = view_of(window), fields.get("to", "")
    if (draft := view.draft) is None:
        return back(HERE)
    option = "taxonomy" if view.attribute is None else "hierarchies"
    at = draft.at

    def then(_: str) -> None:
        draft.saved, view.building = at, None
        window.use(replace(project, options={**project.options, option: to}), understand_view=view)

    arguments: dict[str, Any] = {"project": project, "attribute": view.attribute, "tree": draft.tree(), "to": to}
    arguments["replace"] = "replace" in fields
    window.forget(COUNT)
    window.run(SAVE, f"Saving {to}", tasks.write, then=then, **arguments)
    return back(HERE)


ROUTES = [
    Route(f"/understand/{name}", handler, methods=["POST"])
    for name, handler in {"tree": edit, "of": choose, "build": build, "save": keep}.items()
]
