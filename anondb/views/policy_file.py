"""A file of policies in TOML: where the data are, and the releases that a run makes or refreshes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlglot import exp

from anondb.data.sources import is_file, resolve_table
from anondb.engine import DuckDBEngine
from anondb.engine.elsewhere import is_url
from anondb.errors import InputError, speaking
from anondb.ledger import ledger
from anondb.ledger.stored import current_catalog, reference_of
from anondb.options import RUN, check_option, release_options
from anondb.publications.targets import anchored, check_target, how, target_of
from anondb.reading.formats import stem_of
from anondb.statements.statement import CreateView
from anondb.views import views
from anondb.views.results import Result
from anondb.views.script import check_query

SUFFIX = ".toml"


@dataclass(frozen=True)
class PolicyFile:
    """A file of policies.

    Attributes:
        source: the owner's database or data file, with an absolute path.
        settings: ``threads``, ``memory_limit`` and ``log_file``, as far as the file names them.
        releases: the options of each release, by name, in the order of the file.
    """

    source: str
    settings: Mapping[str, Any]
    releases: Mapping[str, Mapping[str, Any]]


def read(path: Path) -> PolicyFile:
    """Read a file of policies, and check the names and types of all options; paths are relative to the file.

    Raises:
        InputError: ``no_such_file``; ``syntax_error`` with line and column; ``unknown_option`` with the nearest name;
            ``bad_parameter``.
    """
    try:
        text = path.read_bytes().decode()
        values = tomllib.loads(text)
    except OSError:
        raise InputError(
            f"The file {path.name!r} cannot be read.", code="no_such_file", hint="Check the path."
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"The file {path.name!r} is not valid UTF-8.", code="bad_unicode") from None
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\((at .*)\)$", str(error))
        where = f" ({place[1]})" if place else ""
        raise InputError(f"{path.name!r} is not valid TOML{where}.", code="syntax_error") from None
    with speaking("toml"):
        named = values.pop("release", {})
        settings = {name: check_option(name, value, RUN) for name, value in values.items()}
        if "source" not in settings:
            raise InputError(f"{path.name!r} names no source.", code="no_source", hint='Add source = "shop.duckdb".')
        releases = {name: _release(name, options, path.parent) for name, options in _tables(path.name, named)}
    folder = path.parent.absolute()
    for name in ("source", "log_file"):
        if name in settings and not is_url(settings[name]):
            settings[name] = str(folder / settings[name])
    return PolicyFile(settings.pop("source"), settings, releases)


def _tables(file: str, named: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The tables ``[release.NAME]``, with their names."""
    if not isinstance(named, dict) or not named or not all(isinstance(options, dict) for options in named.values()):
        raise InputError(
            f"{file!r} names no release.", code="bad_usage", hint="Begin each with a line such as [release.spring]."
        )
    yield from named.items()


def _release(name: str, options: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The checked options of a release, with absolute paths."""
    available = release_options()
    try:
        checked = {option: check_option(option, value, available) for option, value in options.items()}
    except InputError as error:
        raise InputError(f"[release.{name}]: {error}", code=error.code) from None
    if "transactions" in checked and "query" in checked:
        raise InputError(f"[release.{name}] has transactions and a query.", code="bad_usage", hint="Name one of them.")
    return anchored(checked, folder)


def run(engine: DuckDBEngine, file: PolicyFile) -> Iterator[tuple[str, Result]]:
    """Make or refresh the releases of a file, one after the other, and yield each result when it is done.

    A release is an anonymized view: it is made if it is not there, made anew if its query or an option has changed, and
    refreshed otherwise, which does nothing unless an input has changed.

    Raises:
        AnondbError: the error of the first release that fails; earlier ones are kept.
    """
    for name, options in file.releases.items():
        with speaking("toml"):
            result = _made(engine, _statement(engine, file, name, dict(options)))
        yield name, result


def _statement(engine: DuckDBEngine, file: PolicyFile, name: str, options: dict[str, Any]) -> CreateView:
    """The statement that makes a release."""
    replace = options.pop("replace", False)
    query, table = options.pop("query", None), options.pop("transactions", None)
    if query is None:
        if table is None and not is_file(file.source):
            raise InputError(
                f"[release.{name}] names no transactions.", code="no_transactions", hint="Add transactions."
            )
        named = resolve_table(engine, stem_of(Path(file.source)) if table is None else table, "transactions")
        reference = reference_of(engine, named) or named.sql()
        query = exp.select("*").from_(exp.to_table(reference, dialect="duckdb")).sql(dialect="duckdb")
    statement = CreateView(name, query, options, replace)
    check_query(engine, query, statement)
    return statement


def _made(engine: DuckDBEngine, statement: CreateView) -> Result:
    """Create a view, or replace it if its query or an option has changed; otherwise refresh it.

    Raises:
        InputError: ``release_exists`` and ``target_exists`` if a release or a file of this name is no earlier version of the
            view, unless the statement replaces; see ``create``.
    """
    catalog = current_catalog(engine)
    entry = ledger.find(engine, catalog, statement.name)
    view = None if entry is None else ledger.view_of(engine, catalog, entry.release_id)
    if view is None:
        return views.create(engine, statement)
    options = anchored(statement.options)
    if (view.query, view.options) == (statement.query, options):
        return views.refresh(engine, statement.name)
    path = target_of(options)
    if path is not None and options["publish"] != view.options.get("publish"):
        check_target(engine, path, statement.replace, how(path, options)["format"])  # the file is no earlier version
    return views.create(engine, replace(statement, replace=True))
