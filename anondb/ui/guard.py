"""Who may speak to the window: one browser, which came with the token, and only from the window's own pages."""

from __future__ import annotations

import hmac
import secrets
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_SAFE = ("GET", "HEAD")
_OPEN = "Open the address that anondb ui printed."
ONWARD = '<!doctype html><title>anondb</title><meta http-equiv="refresh" content="0;url={0}"><a href="{0}">Go on</a>'


class Guard:
    """Checks each request before the application sees it.

    The host must be the address that is served, which keeps other names for 127.0.0.1 out; a request that changes
    something must come from one of its pages; and all but the first must have the cookie that the token was exchanged for.
    The window has no web sockets: they are closed.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app, self._cookie = app, f"anondb_ui_{port}"
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.token: str | None = secrets.token_urlsafe(32)
        self._secret = secrets.token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
        else:
            answer = self._refusal(scope)
            await (answer or self._app)(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> Response | None:
        """The answer to a request that does not reach the application; None for one that does."""
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if host not in self._hosts:
            return PlainTextResponse(f"This address is not served. {_OPEN}", 421)
        if origin not in (None, f"http://{host}") or (origin is None and scope["method"] not in _SAFE):
            return PlainTextResponse("This request does not come from a page of this window: do it there.", 403)
        named = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if self.token and scope["method"] == "GET" and hmac.compare_digest(named.encode(), self.token.encode()):
            self.token = None  # it opens one browser
            entered = HTMLResponse(ONWARD.format("/"))  # the cookie is sent from this site's own pages alone
            entered.set_cookie(self._cookie, self._secret, httponly=True, samesite="strict")
            return entered
        shown = cookie_parser(headers.get("cookie", "")).get(self._cookie, "")
        if not hmac.compare_digest(shown.encode(), self._secret.encode()):
            return PlainTextResponse(f"{_OPEN} It opens one browser, once: start anondb ui again for another.", 403)
        return None


def _with_headers(send: Send) -> Send:
    """Add the headers of every answer, except those that the answer states itself."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
