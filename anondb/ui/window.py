"""What the window holds between two requests: the source, the files that were dropped, and the jobs."""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from anondb.engine.spill import private_directory
from anondb.options import flags_of
from anondb.pages.html import table
from anondb.pages.text import number, plain, raised
from anondb.reading.options import word_of
from anondb.ui.worker import DONE, Job, Worker

PARTS = {  # the parts of the window, in the order of the work, each with what one does there
    "load": "Load",
    "understand": "Understand",
    "choose": "Choose",
    "publish": "Publish",
    "ask": "Ask",
    "audit": "Audit",
}
_LABELS = ("item", "into")  # fields with labels of the data, in which blanks count
_STAYS = ("load", "ask", "audit")  # parts that do not depend on the project
_TEMPLATES = Environment(
    loader=PackageLoader("anondb.ui"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
_TEMPLATES.filters |= {"number": number, "plain": plain, "name": lambda path: plain(name_of(path)), "drawn": Markup}
_TEMPLATES.filters |= {"word": lambda path: plain(shlex.quote(argument(name_of(path))))}
_TEMPLATES.globals["table"] = lambda head, rows, text=(0,): Markup(
    table(head, [[escape(plain(str(cell))) for cell in row] for row in rows], text)
)
_TEMPLATES.filters |= {"raised": lambda text: Markup(raised(text)), "count": "{:,}".format}


@dataclass(frozen=True)
class Project:
    """What is anonymized.

    Attributes:
        database: the DuckDB file or the URL of PostgreSQL, whose ledger keeps the releases.
        transactions: their table.
        options: how the Python interface names the rest: ``id``, ``item``, ``taxonomy``, ``records``, ``quasi_identifiers``,
            ``hierarchies``, ``sensitive``, ``accept`` and options of reading; those that are not set are absent.
        loaded: the files that were loaded into the database, as ``Database.load`` takes them; empty if it was there.
            Of a file that was dropped only the name is known.
    """

    database: str
    transactions: str
    options: Mapping[str, Any] = field(default_factory=dict)
    loaded: Mapping[str, Any] = field(default_factory=dict)

    def command(self, name: str, **options: Any) -> str:
        """A command on the database."""
        return shlex.join(["anondb", *name.split(), argument(self.database), *flags_of(options)])

    @property
    def load_command(self) -> str:
        """The command that loaded the files; empty without."""
        options = {"as" if name == "transactions_as" else name: value for name, value in self.loaded.items()}
        return self.command("load", **options) if options else ""


@dataclass
class Window:
    """One window, shared by all tabs of its browser.

    Attributes:
        worker: does what takes time.
        beside: does what must not wait for that, such as answers.
        parts: the parts that are shown.
        folder: where dropped files lie; only their owner can enter it, and it is deleted at the end.
        source: the data file, DuckDB file or URL that was named; None before.
        project: what is anonymized, confirmed in the part Load; None before.
        jobs: the latest job of each kind of work, by a name such as ``profile``; see ``kept``.
        kept: what a part remembers, by a name that begins with the part's, such as ``load``: choices of the user, and
            results. When the project changes, all goes but what begins with ``load``, ``ask`` or ``audit``.
    """

    worker: Worker
    beside: Worker
    parts: tuple[str, ...] = tuple(PARTS)
    source: str | None = None
    project: Project | None = None
    folder: Path = field(default_factory=private_directory)
    jobs: dict[str, Job] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict)

    def run(
        self,
        name: str,
        words: str,
        task: Callable[..., Any],
        /,
        *,
        beside: bool = False,
        then: Callable[[Any], None] | None = None,
        **arguments: Any,
    ) -> Job:
        """Begin a job of a kind; one of the same kind that still runs is stopped.

        Args:
            name: the kind; ``jobs`` has its latest.
            words: what it does, as a participle: ``Reading purchases.csv``.
            task: a function of a module, called as ``task(say, **arguments)`` in another process, where ``say`` takes words
                about the progress (``on_progress`` of ``anondb.connect``). What it takes and returns must be picklable.
            beside: whether it does not wait for other work.
            then: called here with the result, before the job is seen to be done.
        """
        self.forget(name)
        self.jobs[name] = (self.beside if beside else self.worker).submit(words, task, arguments, then)
        return self.jobs[name]

    def result(self, name: str) -> Any:
        """The result of the latest job of a kind; None if it has none."""
        job = self.jobs.get(name)
        return job.result if job is not None and job.state == DONE else None

    def forget(self, *names: str) -> None:
        """Stop and forget jobs, for what they were about has changed."""
        for name in names:
            if (job := self.jobs.pop(name, None)) is not None:
                job.forget()

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


def argument(source: str) -> str:
    """A file or a URL as a command names it: nothing in it is a flag or a password."""
    scheme, is_url, rest = source.partition("://")
    if not is_url:
        return word_of(source)
    place, _, settings = rest.partition("?")
    user, at, place = place.rpartition("@")
    kept = "&".join(setting for setting in settings.split("&") if "password" not in setting.partition("=")[0])
    return f"{scheme}://{user.partition(':')[0]}{at}{place}{'?' if kept else ''}{kept}"


def at_work(path: str) -> str:
    """A file or a URL as a file of policies names it, which may run in another folder."""
    return argument(path) if "://" in path else os.path.abspath(path)


def window_of(request: Request) -> Window:
    """The window of a request; the request remembers which jobs ran, and which had ended, when it came (``shown``)."""
    window: Window = request.app.state.window
    if not hasattr(request.state, "ended"):
        jobs = list(window.jobs.items())
        request.state.ran = {name: job for name, job in jobs if job.is_active}
        request.state.ended = {name: job for name, job in jobs if name not in request.state.ran}
    return window


class NothingLoaded(Exception):
    """A page needs a project, and there is none yet."""


def project_at(request: Request) -> tuple[Window, Project]:
    """The window of a request, and its project.

    Raises:
        NothingLoaded: it has none.
    """
    window = window_of(request)
    if window.project is None:
        raise NothingLoaded
    return window, window.project


def shown(request: Request, page: str, template: str = "base.html", **values: Any) -> Response:
    """A page from the template of its main part; ``window``, ``parts``, ``path``, ``ran`` and ``ended`` are there, too.

    A job that ends, or is forgotten, while its page is made is shown as if it ran, for the page may lack its result: the
    next look has it.
    """
    window = window_of(request)
    parts = {name: PARTS[name] for name in window.parts}
    frame = {"window": window, "parts": parts, "path": request.url.path, "page": page}
    frame |= {"ran": request.state.ran, "ended": request.state.ended}
    return HTMLResponse(_TEMPLATES.get_template(template).render(frame | values))


async def posted(request: Request) -> tuple[dict[str, str], FormData]:
    """The texts of a form that are not blank, by name, and the form. ``path`` is that of the file that it names or has."""
    async with request.form() as form:
        texts = {name: value for name, value in form.items() if isinstance(value, str) and value.strip()}
        fields = {name: text if name in _LABELS else text.strip() for name, text in texts.items()}
        file = form.get("file")
        if isinstance(file, UploadFile) and file.filename:
            fields["path"] = str(await window_of(request).dropped(file))
        elif "path" in fields:
            fields["path"] = os.path.expanduser(fields["path"])
    return fields, form


def saved(text: str | None, name: str, kind: str = "text/plain") -> Response:
    """A text as a file to save, if there is one."""
    if text is None:
        return PlainTextResponse("There is nothing to save: go back, and make it first.", 404)
    return Response(text, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def back(path: str) -> Response:
    """Go to a page after something was done."""
    return RedirectResponse(path, 303)
