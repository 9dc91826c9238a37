"""The part of the window named publish."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from anondb.ui.window import shown


def page(request: Request) -> Response:
    """The page of the part."""
    return shown(request, "publish.html")


ROUTES = [Route("/publish", page)]
