"""What the window holds between two requests: the source, the files that were dropped, and the jobs."""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from anondb.engine.spill import private_directory
from anondb.options import flags_of
from anondb.pages.html import table
from anondb.pages.text import number, plain, raised
from anondb.reading.options import READING, word_of
from anondb.ui.worker import DONE, Job, Task, Then, Worker

PARTS = {  # the parts of the window, in the order of the work, each with what one does there
    "load": "Load",
    "understand": "Understand",
    "choose": "Choose",
    "publish": "Publish",
    "ask": "Ask",
    "audit": "Audit",
}
Handler = TypeVar("Handler", bound=Callable[..., Any])
ROUTES: dict[str, list[Route]] = {}  # of each part whose module is imported
_LABELS = ("item", "into")  # fields with labels of the data, in which blanks count
_STAYS = ("load", "ask", "audit")  # parts that do not depend on the project
_TEMPLATES = Environment(
    loader=PackageLoader("anondb.ui"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
_TEMPLATES.filters |= {"number": number, "plain": plain, "name": lambda path: plain(name_of(path)), "drawn": Markup}
_TEMPLATES.filters |= {"raised": lambda text: Markup(raised(text)), "count": "{:,}".format}
_TEMPLATES.filters |= {"word": lambda path: plain(shlex.quote(word_of(name_of(path))))}
_TEMPLATES.globals["table"] = lambda head, rows, text=(0,): Markup(
    table(head, [[escape(plain(str(cell))) for cell in row] for row in rows], text)
)


@dataclass(frozen=True)
class Project:
    """What is anonymized."""

    database: str  # the DuckDB file or the URL of PostgreSQL, whose ledger keeps the releases
    transactions: str  # their table
    # what else the Python interface takes, such as ``item``, ``taxonomy``, ``quasi_identifiers`` and options of reading
    options: Mapping[str, Any] = field(default_factory=dict)
    # the files that were loaded into the database, as ``Database.load`` takes them; a dropped one is a name alone
    loaded: Mapping[str, Any] = field(default_factory=dict)

    def command(self, name: str, **options: Any) -> str:
        """A command on the database."""
        return shlex.join(["anondb", *name.split(), word_of(self.database), *flags_of(options)])

    def source(self, *others: str) -> dict[str, Any]:
        """The options that name the transactions and how they are read, and others."""
        kept = {n: self.options[n] for n in ("id", "item", *others, *READING) if n in self.options}
        return {"transactions": self.transactions, **kept}

    @property
    def load_command(self) -> str:
        """The command that loaded the files; empty without."""
        options = {"as" if name == "transactions_as" else name: value for name, value in self.loaded.items()}
        return self.command("load", **options) if options else ""


@dataclass
class Window:
    """One window, shared by all tabs of its browser."""

    worker: Worker  # does what takes time
    beside: Worker  # does what must not wait for that, such as answers
    parts: tuple[str, ...] = tuple(PARTS)  # those that are shown
    source: str | None = None  # the data file, DuckDB file or URL that was named
    project: Project | None = None  # what is anonymized, confirmed in the part Load
    folder: Path = field(default_factory=private_directory)  # where dropped files lie; it is deleted at the end
    jobs: dict[str, Job] = field(default_factory=dict)  # the latest of each kind of work, by a name as in ``kept``
    # choices and results that a part remembers, by a name that begins with the part's; see ``use``
    kept: dict[str, Any] = field(default_factory=dict)

    @property
    def used(self) -> Project:
        """The project. Raises NothingLoaded: there is none."""
        if self.project is None:
            raise NothingLoaded
        return self.project

    def run(
        self, name: str, words: str, task: Task, /, *, beside: bool = False, then: Then | None = None, **arguments: Any
    ) -> Job:
        """Begin a job of a kind (``Job``); one that still runs is forgotten. Its words say what it does, as a participle;
        ``beside``, it does not wait for other work."""
        self.forget(name)
        self.jobs[name] = (self.beside if beside else self.worker).submit(words, task, arguments, then)
        return self.jobs[name]

    def result(self, name: str) -> Any:
        """The result of the latest job of a kind; None if it has none."""
        job = self.jobs.get(name)
        return job.result if job is not None and job.state == DONE else None

    def forget(self, *names: str) -> None:
        """Stop jobs, and do nothing with their results, for what they were about has changed."""
        for name in names:
            if (job := self.jobs.pop(name, None)) is not None:
                job.then = None
                job.stop()

    def use(self, project: Project, **kept: Any) -> None:
        """Set the project, and forget what parts keep of the one before, except ``kept``. Other requests never see one
        project with the results of another."""
        self.kept = {name: value for name, value in self.kept.items() if name.startswith(_STAYS)} | kept
        self.project = project
        self.forget(*(name for name in list(self.jobs) if not name.startswith(_STAYS)))

    async def dropped(self, file: UploadFile) -> Path:
        """Keep a file that was dropped or picked in the browser, under its own name, in a folder of its own."""
        name = plain(Path(file.filename or "").name)[-60:].lstrip(".") or "file"
        place = self.folder / secrets.token_hex(8)
        place.mkdir(mode=0o700)
        with (place / name).open("xb") as target:
            while block := await file.read(1 << 20):
                target.write(block)
        return place / name

    def close(self) -> None:
        """Stop all work, and delete what was dropped."""
        for worker in (self.worker, self.beside):
            worker.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def name_of(source: str) -> str:
    """The name of a file, or a URL without its user, its password and its parameters."""
    scheme, is_url, rest = source.partition("://")
    return f"{scheme}://{rest.partition('?')[0].rpartition('@')[2]}" if is_url else Path(source).name


class NothingLoaded(Exception):
    """A page needs a project, and there is none yet."""


def get(path: str, template: str = "", *query: str) -> Callable[[Handler], Handler]:
    """Answer requests to a path by a function of the window, names in the path, and of these of the query (empty without):
    it returns what the template shows, or a response."""

    def register(handler: Handler) -> Handler:
        def answer(request: Request) -> Response:
            asked = {name: request.query_params.get(name, "") for name in query}
            values = handler(window_of(request), **request.path_params, **asked)
            return values if isinstance(values, Response) else shown(request, template, **values)

        ROUTES.setdefault(path.split("/")[1], []).append(Route(path, answer))
        return handler

    return register


def post(path: str, there: str = "") -> Callable[[Handler], Handler]:
    """Have a function of the window, the form, and names in the path do what a form asks for. What follows is the page that
    it returns, else that of ``there``, else that of the part."""

    def register(handler: Handler) -> Handler:
        async def act(request: Request) -> Response:
            window = window_of(request)
            async with request.form() as form:
                other = handler(window, await read_form(window, form), **request.path_params)
            return RedirectResponse(other or there or f"/{path.split('/')[1]}", 303)

        ROUTES.setdefault(path.split("/")[1], []).append(Route(path, act, methods=["POST"]))
        return handler

    return register


def window_of(request: Request) -> Window:
    """The window of a request; the request remembers which jobs ran, and which had ended, when it came (``shown``)."""
    window: Window = request.app.state.window
    jobs = list(window.jobs.items())
    request.state.ran = {name: job for name, job in jobs if job.is_active}
    request.state.ended = {name: job for name, job in jobs if name not in request.state.ran}
    return window


def shown(request: Request, page: str, template: str = "base.html", **values: Any) -> Response:
    """A page from the template of its main part; ``window``, ``parts``, ``path``, ``ran`` and ``ended`` are there, too.

    A job that ends, or is forgotten, while its page is made is shown as if it ran, for the page may lack its result: the
    next look has it.
    """
    window: Window = request.app.state.window
    parts = {name: PARTS[name] for name in window.parts}
    frame = {"window": window, "parts": parts, "path": request.url.path, "page": page}
    frame |= {"ran": request.state.ran, "ended": request.state.ended}
    return HTMLResponse(_TEMPLATES.get_template(template).render(frame | values))


class Form(dict[str, str]):
    """The texts of a form that are not blank, by name; ``lists`` has all of each name."""

    def __init__(self, **texts: str) -> None:
        super().__init__(texts)
        self.lists = defaultdict[str, list[str]](list)


async def read_form(window: Window, data: FormData) -> Form:
    """The form that was sent. ``path`` is that of the file that it names or has."""
    form = Form()
    for name, text in data.multi_items():
        if isinstance(text, str) and text.strip():
            form.lists[name].append(text)
            form[name] = text if name in _LABELS else text.strip()
    file = data.get("file")
    if isinstance(file, UploadFile) and file.filename:
        form["path"] = str(await window.dropped(file))
    elif "path" in form:
        form["path"] = os.path.expanduser(form["path"])
    return form


def saved(text: str | None, name: str, kind: str = "text/plain") -> Response:
    """A text as a file to save, if there is one."""
    if text is None:
        return PlainTextResponse("There is nothing to save: go back, and make it first.", 404)
    return Response(text, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})
