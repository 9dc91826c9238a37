"""URLs of PostgreSQL databases and of releases in them, without their passwords in any text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from anondb.engine.elsewhere import is_url
from anondb.errors import InputError

_MOST_BYTES = 63  # PostgreSQL cuts longer names off
_REFUSED = ("options", "client_encoding", "dbname")  # anondb sets the first two


@dataclass(frozen=True)
class Place:
    """A database of a PostgreSQL server, or a schema in it."""

    server: str = field(repr=False)  # the part of the URL before the path: scheme, user, password, host and port
    database: str  # the name of the database
    schema: str | None = None  # the name of the schema; None for the database
    settings: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # the parameters of the URL
    analysts: tuple[str, ...] = ()  # the roles that may read the release
    counters: tuple[str, ...] = ()  # the roles that may only call ``count_bounds``
    same_database: bool = False  # whether the release may lie in the database of its source
    union: str | None = None  # of a part of a partitioned view: the schema that shows all parts as one release
    beside: tuple[str, ...] = ()  # the numbers of the releases that the union also shows; others are dropped

    def part(self, value: str, beside: Sequence[str] = ()) -> Place:
        """The schema of a value of a partitioned view that is published here. Raises InputError: ``bad_name``: the name is
        too long."""
        return replace(self, schema=check_name(f"{self.schema}/{value}"), union=self.schema, beside=tuple(beside))

    @property
    def uri(self) -> str:
        """The URL for libpq, with everything that it needs to connect. Never print it."""
        return self._url(self.database)

    @property
    def url(self) -> str:
        """The URL of the schema as ``place_of`` reads it. Never print it."""
        return self._url(self.database, str(self.schema))

    def _url(self, *names: str) -> str:
        path = "/".join(quote(name, safe="") for name in names)
        return f"{self.server}/{path}?{urlencode(self.settings, quote_via=quote)}"

    def __str__(self) -> str:
        """The URL without user, password and parameters."""
        host = self.server.partition("://")[2].rpartition("@")[2]
        names = [self.database] if self.schema is None else [self.database, self.schema]
        return f"postgresql://{host}/{'/'.join(quote(name, safe='') for name in names)}"

    @property
    def has_password(self) -> bool:
        """Whether the URL holds a password."""
        user = self.server.partition("://")[2].rpartition("@")[0]
        return ":" in user or any(name in ("password", "sslpassword") for name, _ in self.settings)


def database_of(database: Any) -> Place | None:
    """The database that a URL ``postgresql://HOST/DATABASE`` or a connection of psycopg names; None for anything else.
    Raises InputError: ``bad_url``; ``transaction_open``: the connection has a transaction open."""
    if type(database).__module__.partition(".")[0] == "psycopg" and hasattr(database, "info"):
        return _place_of_connection(database.info)
    if not is_url(database):
        return None
    place = place_of(database)
    if place.schema is not None:
        raise InputError(
            "The URL of a raw database is postgresql://HOST/DATABASE.",
            code="bad_url",
            hint="Name tables as SCHEMA.TABLE with --transactions.",
        )
    return place


def _place_of_connection(info: Any) -> Place:
    """The database of a connection of psycopg, and how it was reached."""
    if info.transaction_status != 0:
        raise InputError(
            "The connection has an open transaction, whose changes anondb would not see.",
            code="transaction_open",
            hint="COMMIT or ROLLBACK it first.",
        )
    settings = {"host": info.host, "port": str(info.port), **info.get_parameters(), "password": info.password}
    kept = tuple((name, str(value)) for name, value in settings.items() if value and name not in _REFUSED)
    return Place("postgresql://", info.dbname, None, kept)


def release_of(url: str) -> Place:
    """The schema of a release that a URL names: ``postgresql://HOST/DATABASE/SCHEMA``. Raises InputError: ``bad_url``."""
    place = place_of(url)
    if place.schema is None:
        raise InputError("The URL of a release is postgresql://HOST/DATABASE/SCHEMA.", code="bad_url")
    return place


def place_of(url: str) -> Place:
    """Parse a URL; no part of it is in an error, because it may hold a password. Raises InputError: ``bad_url`` or
    ``bad_name``."""
    try:
        parts = urlsplit(url)
        settings = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        names = [unquote(name, errors="strict") for name in parts.path.removeprefix("/").split("/")]
    except (ValueError, UnicodeError):
        names = []
    if not 1 <= len(names) <= 2 or not all(names) or parts.fragment or any(n in _REFUSED for n, _ in settings):
        raise InputError(
            "The URL cannot be read.",
            code="bad_url",
            hint="Write postgresql://HOST/DATABASE for raw data, postgresql://HOST/DATABASE/SCHEMA for a release;"
            " quote special characters of names and passwords as %XX.",
        )
    for name in names:
        check_name(name)
    schema = names[1] if len(names) == 2 else None
    if schema is not None and (schema.lower().startswith("pg_") or schema in ("information_schema", "public", "anondb")):
        raise InputError(
            f"A release cannot have the schema {schema!r}.", code="bad_name", hint="Give it a schema of its own."
        )
    return Place(f"postgresql://{parts.netloc}", names[0], schema, tuple(settings))


def check_name(name: str) -> str:
    """Check the name of a database, schema or role. Raises InputError: ``bad_name``."""
    try:
        fits = 0 < len(name.encode()) <= _MOST_BYTES and "\0" not in name
    except UnicodeEncodeError:
        fits = False
    if not fits:
        raise InputError(
            f"A name in PostgreSQL has 1 to {_MOST_BYTES} bytes in UTF-8.", code="bad_name", hint="Shorten the name."
        )
    return name


def target(where: Any, analysts: Any = None, counters: Any = None, same_database: bool = False) -> Any:
    """The place of a publication: a ``Place`` for a URL, with the names of roles (a text with commas, or a list), which only
    a URL may have; a path is returned as it is. Raises InputError: ``bad_url``, ``bad_name``; ``bad_usage``: roles for a
    file."""
    if isinstance(where, Place):
        return where
    if is_url(where):
        place = release_of(where)
        return replace(place, analysts=_roles(analysts), counters=_roles(counters), same_database=same_database)
    if analysts or counters or same_database:
        raise InputError(
            "Roles apply to releases in PostgreSQL only.",
            code="bad_usage",
            hint="Publish to postgresql://HOST/DATABASE/SCHEMA.",
        )
    return where


def _roles(names: Any) -> tuple[str, ...]:
    """The names of roles, each once."""
    listed = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names or ())
    if not all(isinstance(name, str) for name in listed):
        raise InputError("Roles are named by texts.", code="bad_parameter")
    return tuple(dict.fromkeys(check_name(name) for name in listed))
