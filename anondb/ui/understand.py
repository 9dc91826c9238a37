"""The part Understand: the profile as pictures, and trees to edit: the taxonomy of the items, hierarchies of attributes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from anondb.errors import AnondbError
from anondb.guide.page import pictures_of, pictures_of_threats, section_html
from anondb.guide.profile import Profile
from anondb.guide.words import profile_sections
from anondb.reading.options import PEOPLE, names_in
from anondb.taxonomies import BUILDERS, GROUPS, HIERARCHIES, OPTION_OF, OPTIONS
from anondb.taxonomies.build import Request as Building
from anondb.taxonomies.editing import ROOT, Draft
from anondb.ui import tasks
from anondb.ui.load import KINDS
from anondb.ui.window import Form, Project, Window, get, post

HERE = "/understand#tree"
_OTHERS = ("taxonomy", "records", "quasi_identifiers", "hierarchies", "sensitive")
SIZES, WHOLE = "understand_sizes", "understand_profile"
TREE, COUNT, SAVE = "understand_tree", "understand_count", "understand_save"
MOST = 200  # children that are shown of a node
SUGGESTED = "what the values suggest"  # to build a hierarchy by


@dataclass
class View:
    """How a tree is looked at."""

    attribute: str | None = None  # whose hierarchy it is; None for the taxonomy of the items
    draft: Draft | None = None  # the tree; None before it is read or built
    opened: set[int] = field(default_factory=lambda: {ROOT})  # nodes whose children are shown
    chosen: set[int] = field(default_factory=set)  # nodes that an edit is about
    find: str = ""  # what was searched
    hits: set[int] = field(default_factory=set)  # the nodes whose labels contain it
    problem: AnondbError | None = None  # why the last edit was refused
    building: dict[str, Any] | None = None  # how the tree was built, as options of the command; None if it was not


@get("/understand", "understand.html")
def page(window: Window) -> dict[str, Any]:
    """The page of the part."""
    project = window.used
    arguments: dict[str, Any] = {"database": project.database, "method": "profile", "transactions": project.transactions}
    arguments |= {name: value for name, value in project.options.items() if name != "accept"}
    if SIZES not in window.jobs:
        window.run(SIZES, f"Reading {project.transactions}", tasks.call, attackers=False, **arguments)
    tree = shown_tree(window, project)
    if WHOLE not in window.jobs:
        window.run(WHOLE, "Counting what attackers find", tasks.call, **arguments)
    whole: Profile | None = window.result(WHOLE)
    profile: Profile | None = whole or window.result(SIZES)
    values: dict[str, Any] = {"profile": profile, "jobs": (SIZES, WHOLE), **tree}
    values["pictures"] = () if profile is None else pictures_of(profile.counts) + pictures_of_threats(profile)
    values["sections"] = [section_html(section) for section in profile_sections(whole)] if whole else []
    return values | {"command": project.command("profile", **project.source(*_OTHERS))}


def view_of(window: Window) -> View:
    """The tree that is looked at; at first the taxonomy or, of people without items, the hierarchy of an attribute."""
    project = window.project
    named = attributes_of(project) if project is not None and project.options.get("layout") == PEOPLE else []
    view: View = window.kept.setdefault("understand_view", View(next(iter(named), None)))
    return view


def attributes_of(project: Project) -> list[str]:
    """The attributes of people that may have hierarchies."""
    parts = [part for part in names_in(project.options.get("quasi_identifiers", "")) if part]
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
    kind, flag, options = "taxonomy", "taxonomy", project.source()
    if view.attribute is not None:
        kind, flag, records = "hierarchy", "hierarchies", project.options.get("records", project.transactions)
        options = {"records": records, "id": project.options.get("id"), "attribute": view.attribute}
    if view.building is not None and view.draft is not None and view.draft.at == 0 and view.draft.saved < 0:
        return project.command(f"{kind} build", **options, **view.building, to=_target(project, view, named))
    return "" if named is None else project.command(f"{kind} show", **options, **{flag: named})


@post("/understand/tree", HERE)
def edit(window: Window, form: Form) -> None:
    """Open or close nodes, search, or edit the tree."""
    project, view = window.used, view_of(window)
    if (draft := view.draft) is None:
        return
    before, labels = draft.nodes, draft.nodes.labels
    view.chosen = {int(n) for n in form.lists["node"] if n.isdecimal() and int(n) in labels}
    view.problem = None
    try:
        _do(view, draft, form)
    except AnondbError as problem:
        view.problem = problem
    if draft.nodes is not before:
        view.opened &= draft.nodes.labels.keys()
        view.chosen = set()  # the next edit is about other nodes
        window.forget(COUNT)
        if len(draft.nodes.persons) < len(draft.nodes.labels):
            arguments: dict[str, Any] = {"project": project, "attribute": view.attribute, "tree": draft.tree()}
            window.run(COUNT, "Counting persons", tasks.draft, then=draft.count, **arguments)


def _do(view: View, draft: Draft, form: Form) -> None:
    """What a button, a key or a drop asks for."""
    action, _, node = form.get("do", "enter").partition(":")
    name, find, into, nodes = form.get("name", ""), form.get("find", ""), form.get("into"), draft.nodes
    single = min(view.chosen) if len(view.chosen) == 1 else None
    if action == "enter":
        action = "find" if find != view.find else "move" if into else "group" if single is None else "rename"
    if action == "toggle" and node.isdecimal():
        view.opened ^= {int(node)}
    elif action == "find":
        view.find = find
        hits = [n for n, label in nodes.labels.items() if find and find.casefold() in label.casefold()]
        view.hits = set(hits)
        view.opened |= {above for hit in hits[:MOST] for above in nodes.above(hit)}
    elif action in ("undo", "redo"):
        getattr(draft, action)()
    elif action == "group":
        new = draft.group(sorted(view.chosen), name)
        view.opened |= {*draft.nodes.above(new)}
    elif action == "move":
        to = int(node) if node.isdecimal() else nodes.node_of.get(into or "", -1)
        if to not in nodes.labels:
            raise AnondbError("There is no group of this name.", hint="Choose one of those offered.")
        draft.move(sorted(view.chosen), to)
        view.opened |= {to, *draft.nodes.above(to)}
    elif single is None:
        raise AnondbError("This is done with one node.", hint="Tick one node, and no other.")
    elif action == "rename":
        draft.rename(single, name)
    elif action == "delete":
        draft.delete(single)


@post("/understand/of", HERE)
def choose(window: Window, form: Form) -> None:
    """Look at the taxonomy, or at the hierarchy of an attribute."""
    window.forget(TREE, COUNT, SAVE)
    attribute = form.get("attribute")
    window.kept["understand_view"] = View(attribute if attribute in attributes_of(window.used) else None)


@post("/understand/build", HERE)
def build(window: Window, form: Form) -> None:
    """Build a new tree, or add the missing items below a node."""
    view, by, under = view_of(window), form.get("by", ""), form.get("under")
    more = {OPTION_OF[by]: form[f"more-{by}"]} if f"more-{by}" in form and by in OPTION_OF else {}
    view.building = {"by": by or None, **more} if under is None else None
    try:
        read(window, view, under=under, built=Building.from_texts(by, **more) if under is None else None)
    except AnondbError as problem:
        view.problem = problem


@post("/understand/save", HERE)
def keep(window: Window, form: Form) -> None:
    """Save the tree; the project uses it then."""
    project, view, to = window.used, view_of(window), form.get("to", "")
    if (draft := view.draft) is None:
        return
    option, at = "taxonomy" if view.attribute is None else "hierarchies", draft.at

    def then(_: str) -> None:
        draft.saved, view.building = at, None
        window.use(replace(project, options={**project.options, option: to}), understand_view=view)

    arguments: dict[str, Any] = {"project": project, "attribute": view.attribute, "tree": draft.tree(), "to": to}
    window.forget(COUNT)
    window.run(SAVE, f"Saving {to}", tasks.write, then=then, **arguments, replace="replace" in form)
