"""The part of the window named choose."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from anondb.ui.window import shown


def page(request: Request) -> Response:
    """The page of the part."""
    return shown(request, "choose.html")


ROUTES = [Route("/choose", page)]
