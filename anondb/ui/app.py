"""The application: its pages, its files, and the progress of its jobs."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from anondb.errors import AnondbError
from anondb.pages.html import STYLE
from anondb.pages.text import plain
from anondb.ui.window import ROUTES, NothingLoaded, Window, shown, window_of

_PERSON = '<g transform="translate({} 0)"><circle cx="5" cy="10" r="4"/><path d="M0 26v-5a5 5 0 0 1 10 0v5z"/></g>'
ICON = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 0 34 32" fill="#2166ac">{_PERSON * 3}</svg>'.format(0, 11, 22)


def application(window: Window) -> Starlette:
    """The application of a window. The first part is there at once; the others, which take longer to import, when a page is
    asked for that the first does not have."""
    first, *others = window.parts
    module = import_module(f"anondb.ui.{first}")

    async def with_others(scope: Scope, receive: Receive, send: Send) -> None:
        for name in others:
            import_module(f"anondb.ui.{name}")
            app.router.routes += ROUTES[name]
        app.router.default = app.router.not_found
        await app.router(scope, receive, send)

    app = Starlette(
        routes=[
            Route("/", lambda _: RedirectResponse(f"/{first}")),
            Route("/pages.css", lambda _: Response(STYLE, media_type="text/css")),
            Route("/favicon.ico", lambda _: Response(ICON, media_type="image/svg+xml")),
            Route("/jobs/{name}", progress),
            Route("/jobs/{name}/stop", stop, methods=["POST"]),
            Mount("/static", StaticFiles(directory=Path(__file__).parent / "static")),
            *ROUTES[first],
        ],
        exception_handlers={
            NothingLoaded: lambda request, _: shown(request, ""),
            **dict.fromkeys((AnondbError, HTTPException, Exception), failed),
        },
    )
    app.state.window, app.router.default = window, with_others
    if window.source and first == "load":
        module.begin(window, window.source)
    return app


def failed(request: Request, error: Exception) -> Response:
    """What a page says that cannot be made; it shows no data value."""
    if isinstance(error, AnondbError):
        return PlainTextResponse(f"{plain(str(error))} Go back.", 400)
    if isinstance(error, HTTPException):
        return PlainTextResponse(f"There is no such page in this window ({error.detail}). Go back.", error.status_code)
    words = f"This page failed unexpectedly ({type(error).__name__}). This is a mistake in anondb. Go back."
    return PlainTextResponse(words, 500)


def progress(request: Request) -> Response:
    """What the latest job of a kind does now. When it has ended, the page that asks reads itself again."""
    name = request.path_params["name"]
    job = window_of(request).jobs.get(name)
    if job is None or not job.is_active:
        return Response(headers={"HX-Trigger": "ended"})
    return shown(request, "", "job.html", job=job, name=name)


def stop(request: Request) -> Response:
    """Stop the latest job of a kind."""
    job = window_of(request).jobs.get(request.path_params["name"])
    if job is None:
        return PlainTextResponse("There is no such work: read the page again.", 404)
    job.stop()
    return Response(headers={"HX-Trigger": "ended"})
