"""The part Publish: the release, a checklist before it is given away, its file, and what was released before."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.responses import HTMLResponse, Response

from anondb.api.connect import connect
from anondb.guide.needs import untried
from anondb.guide.questions import first_answers, options_of, planned
from anondb.options import toml_of, toml_text
from anondb.policy import accepted
from anondb.reading.options import word_of
from anondb.ui.window import Form, Project, Window, get, post, saved
from anondb.ui.worker import Say

REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; base-uri 'none'"
HOW = ("format", "mode", "sign", "proof", "modelled_rows", "accept", "allow_overlap", "replace")  # of a publication
MODES = {"": "You alone (0600)", "0640": "You and your group (0640)", "0644": "Everybody on this computer (0644)"}
POLICY = """# Makes and publishes the release: anondb run policy.toml
# It may run every night: it keeps the release, and its file, until the data change."""
BACK = '<p><a href="/publish">Back to the window</a> &middot; <a href="?save=yes">Save this page</a></p>'
AGAIN = "# Then it publishes the same persons again, and readers can compare both files"
STOPS = "# Then it stops, since readers could compare a second release of the same persons, unless allow_overlap = true"
DROPPED = "# The window had copies of the files to load: put this file where they are."


def prepare(say: Say, project: Project, name: str, options: dict[str, Any] | None, replace: bool) -> dict[str, Any]:
    """Make a release or, without options, take one that was made earlier. Returns its ``verification``, the owner's
    ``report``, ``warnings``, and the pages ``owner`` and ``public``."""
    with connect(project.database, on_progress=say) as database:
        if options is None:
            release = database.release(name)
        else:
            release = database.anonymize(project.transactions, name=name, replace=replace, **options)
        report, of_run = release.owner_report(), release.report
        warnings = [] if of_run is None else of_run.to_json().get("warnings", [])
        return {"verification": release.verification, "report": report, "warnings": warnings, **_pages(release, report)}


def seal(say: Say, project: Project, name: str, path: str, options: dict[str, Any]) -> dict[str, Any]:
    """Publish a release; returns its ``PublishedFile`` as ``file``, and the pages ``owner`` and ``public``."""
    with connect(project.database, on_progress=say) as database:
        release = database.release(name)
        file = release.publish(path, **options)
        return {"file": file, **_pages(release, release.owner_report())}


def _pages(release: Any, report: Any) -> dict[str, str]:
    return {"owner": report.html(), "public": release.report_html(public=True)}


def history(say: Say, project: Project, drop: str = "") -> tuple[list[Any], list[Any]]:
    """The releases and the publications of the ledger, the oldest first; a release may be dropped before."""
    with connect(project.database, read_only=not drop, on_progress=say) as database:
        if drop:
            database.drop(drop)
        return database.releases(), database.publications()


def _plan(window: Window, project: Project) -> dict[str, Any]:
    """The options and the title of the release to make: the candidate that was chosen, else the default for the project."""
    window.kept = {"publish_how": {}, "publish_made": None, "publish_path": None, **window.kept}
    if (plan := window.kept.get("publish_chosen")) is not None:
        return dict(plan)
    answers = first_answers(project.options)
    run = untried(planned(project.options, answers)[1], answers["use"])
    return {"options": options_of(project.options, run), "title": ""}


def commands(project: Project, recipe: Mapping[str, Any], path: str | None, how: Mapping[str, Any]) -> str:
    """The commands that make the same release, if this window made it, and publish it, if it is published."""
    lines = list[str]()
    if recipe["options"] is not None:
        options = {**recipe["options"], "release": recipe["name"], "replace": recipe["replace"]}
        lines += [project.load_command] if project.loaded else []
        lines.append(project.command("anonymize", transactions=project.transactions, **options))
    if path is not None:
        lines.append(project.command("publish", release=recipe["name"], to=word_of(path), **how))
    return "\n".join(lines)


def policy(project: Project, recipe: Mapping[str, Any], path: str, how: Mapping[str, Any]) -> str:
    """The file of policies that makes and publishes the same release; paths that are known are absolute."""
    files = ("transactions", "taxonomy", "records")

    def placed(name: str, value: Any) -> Any:
        if isinstance(value, str) and "://" in value:
            return word_of(value)
        is_path = isinstance(value, str) and (name == "hierarchies" or Path(value).suffix) and os.path.exists(value)
        return os.path.abspath(value) if is_path or name in ("sign", "proof", "source", "publish") else value

    accept = [*accepted(recipe["options"].get("accept", ())), *how.get("accept", ())]
    chosen = {**recipe["options"], **how, "accept": ",".join(accept) or None, "publish": path}
    chosen |= {"replace": True} if recipe["replace"] else {}
    lines = [POLICY, f'{AGAIN if how.get("allow_overlap") else STOPS} (page "Week after week" of the documentation).']
    lines += [DROPPED] if any(not os.path.isabs(project.loaded.get(name, "/")) for name in files) else []
    lines += [f"source = {toml_text(placed('source', project.database))}", ""]
    lines += ["[load]", toml_of(project.loaded)] if project.loaded else []
    lines.append(f"[release.{toml_text(recipe['name'])}]")
    options = {"transactions": project.transactions, **{name: placed(name, value) for name, value in chosen.items()}}
    return "\n".join([*lines, toml_of(options)])


@get("/publish", "publish.html")
def page(window: Window) -> dict[str, Any]:
    """The release that was chosen, its checklist, what was published, and the history."""
    project = window.used
    plan = _plan(window, project)
    if "history" not in window.jobs:
        window.run("history", "Reading the ledger", history, project=project)
    prepared, recipe = window.result("made"), window.kept["publish_made"]
    sealed = (window.result("published") or {}).get("file")
    how, path = window.kept["publish_how"], window.kept["publish_path"]
    folder = Path() if "://" in project.database else Path(project.database).parent
    table = project.transactions.rpartition(".")[2].strip('"')
    name = recipe["name"] if recipe else Path(project.database).stem if table == "transactions" else table
    values: dict[str, Any] = {"plan": plan, "prepared": prepared, "sealed": sealed, "how": dict.fromkeys(HOW, "") | how}
    values |= {"name": name, "most": (recipe["options"] or {}).get("max_suppression", "") if recipe else ""}
    values["planned"] = commands(project, {"name": name, "options": plan["options"], "replace": False}, None, {})
    values["target"] = path or str(folder / f"{name}-release.duckdb".replace(os.sep, "_"))
    if prepared is not None:
        values["legend"] = {m for item in prepared["report"].contents.items for m in item.members}
        values["command"] = commands(project, recipe, path if sealed else None, how)
        values["policy"] = policy(project, recipe, path, how) if sealed and recipe["options"] is not None else ""
    return values | {"modes": MODES, "history": window.result("history")}


@post("/publish/release")
def release(window: Window, form: Form) -> None:
    """Make the release, or check one that was made earlier."""
    project = window.used
    plan, is_made = _plan(window, project), "open" in form
    if (name := form.get("name")) is None:
        return
    window.forget("published")
    recipe: dict[str, Any] = {"name": name, "options": None, "replace": "replace" in form}
    if not is_made:
        accept = list(dict.fromkeys([*accepted(plan["options"].get("accept", ())), *form.lists["accept"]]))
        recipe["options"] = plan["options"] | ({"accept": accept} if accept else {})
        recipe["options"] |= {n: form[n] for n in ("max_suppression",) if n in form}
    window.kept |= {"publish_how": {}, "publish_path": None, "publish_made": recipe}
    window.run("made", f"{'Checking' if is_made else 'Making'} the release {name}", prepare, project=project, **recipe)
    window.run("history", "Reading the ledger", history, project=project)


@post("/publish/file", "/publish#published")
def publish(window: Window, form: Form) -> None:
    """Publish the release that was made and checked."""
    project, prepared, path = window.used, window.result("made"), form.get("path")
    if prepared is None or path is None or str(window.jobs["made"].number) != form.get("of"):
        return  # another tab has made another release: look at its checklist
    how: dict[str, Any] = {n: form[n] for n in HOW if n in form}
    how |= {name: True for name in ("modelled_rows", "allow_overlap", "replace") if name in how}
    how |= {"accept": form.lists["accept"]} if "accept" in how else {}
    how |= {"proof": f"{Path(path).with_suffix('')}-proof"} if "proof" in how else {}
    how = {name: value for name, value in how.items() if (name, value) != ("format", "duckdb")}
    window.kept |= {"publish_how": how, "publish_path": path}
    name = prepared["report"].entry.name
    arguments: dict[str, Any] = {"project": project, "name": name, "path": path, "options": how}
    window.run("published", f"Publishing {name}", seal, then=prepared.update, **arguments)
    window.run("history", "Reading the ledger", history, project=project)


@post("/publish/drop", "/publish#history")
def leave(window: Window, form: Form) -> None:
    """Drop a release."""
    project, name, recipe = window.used, form.get("name"), window.kept.get("publish_made")
    if name is not None:
        if recipe is not None and recipe["name"].lower() == name.lower():
            window.forget("made", "published")
        window.run("history", f"Dropping the release {name}", history, project=project, drop=name)


@get("/publish/report/{kind}", "", "save")
def report(window: Window, kind: str, save: str) -> Response:
    """A report, as a page of its own or as a file."""
    prepared = window.result("made")
    page = None if prepared is None or kind not in ("owner", "public") else prepared[kind]
    if page is None or save:
        return saved(page, f"{kind}.html", "text/html")
    return HTMLResponse(page.replace("<body>", f"<body>{BACK}", 1), headers={"Content-Security-Policy": REPORT_POLICY})


@get("/publish/policy.toml", "", "again")
def policy_file(window: Window, again: str) -> Response:
    """The file of policies."""
    recipe = window.kept.get("publish_made")
    if recipe is None or recipe["options"] is None or window.result("published") is None:
        return saved(None, "")
    how = window.kept["publish_how"] | ({"allow_overlap": True} if again else {})
    return saved(policy(window.used, recipe, window.kept["publish_path"], how), "policy.toml", "application/toml")
