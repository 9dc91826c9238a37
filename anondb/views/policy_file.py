"""A file of policies in TOML: where the data are, and the releases that a run makes or refreshes."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anondb.data.sources import is_file, resolve_table
from anondb.engine import DuckDBEngine
from anondb.engine.elsewhere import is_url
from anondb.engine.trees import exp
from anondb.errors import InputError, speaking
from anondb.ledger import ledger, stored
from anondb.ledger.stored import of_view
from anondb.models import Parameter
from anondb.options import LOAD, RUN, check_option, release_options
from anondb.pipeline.load import load
from anondb.publications.targets import anchored, check_target, how, target_of
from anondb.reading.formats import stem_of
from anondb.statements.statement import CreateView
from anondb.views import views
from anondb.views.results import Result
from anondb.views.script import check_query

SUFFIX = ".toml"
# parameters in the ledger that are names of inputs, whose contents are compared, or that no row depends on
_COMPARED_ELSEWHERE = (
    *("taxonomy", "records", "hierarchies", "sensitive", "privacy_constraints", "utility_constraints", "countable"),
    *("weights", "domains", "accept", "modelled_rows", "source_file", "records_file", "records_digest"),
)


@dataclass(frozen=True)
class PolicyFile:
    """A file of policies."""

    source: str  # the owner's database or data file, with an absolute path
    settings: Mapping[str, Any]  # ``threads``, ``memory_limit`` and ``log_file``, as far as the file names them
    load: Mapping[str, Any]  # the files that are loaded before, as ``Database.load`` takes them; empty for none
    releases: Mapping[str, Mapping[str, Any]]  # the options of each release, by name, in the order of the file


def read(path: Path) -> PolicyFile:
    """Read a file of policies, and check the names and types of all options; paths are relative to the file. Raises
    InputError: ``no_such_file``; ``syntax_error`` with line and column; ``unknown_option`` with the nearest name;
    ``bad_parameter``."""
    try:
        text = path.read_bytes().decode()
        values = tomllib.loads(text)
    except OSError:
        raise InputError(f"The file {path.name!r} cannot be read.", code="no_such_file", hint="Check the path.") from None
    except UnicodeDecodeError:
        raise InputError(f"The file {path.name!r} is not valid UTF-8.", code="bad_unicode") from None
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\((at .*)\)$", str(error))
        where = f" ({place[1]})" if place else ""
        raise InputError(f"{path.name!r} is not valid TOML{where}.", code="syntax_error") from None
    with speaking("toml"):
        named, loaded = values.pop("release", {}), values.pop("load", {})
        for name in (name for name, value in values.items() if isinstance(value, dict | list)):
            words = f"{path.name!r} has a table {name!r}, which no policy has."
            raise InputError(words, code="unknown_option", hint="There are [load] and [release.NAME].")
        settings = {name: check_option(name, value, RUN) for name, value in values.items()}
        if "source" not in settings:
            raise InputError(f"{path.name!r} names no source.", code="no_source", hint='Add source = "shop.duckdb".')
        if not isinstance(loaded, dict) or (loaded and is_file(settings["source"])):
            raise InputError("[load] names the files that are loaded into a DuckDB file, the source.", code="bad_usage")
        load = _checked("load", loaded, LOAD)
        releases = {name: _release(name, options, path.parent) for name, options in _tables(path.name, named)}
    folder = path.parent.absolute()
    load |= {name: str(folder / load[name]) for name in ("transactions", "taxonomy", "records") if name in load}
    for name in ("source", "log_file"):
        if name in settings and not is_url(settings[name]):
            settings[name] = str(folder / settings[name])
    return PolicyFile(settings.pop("source"), settings, load, releases)


def _tables(file: str, named: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The tables ``[release.NAME]``, with their names."""
    if not isinstance(named, dict) or not named or not all(isinstance(options, dict) for options in named.values()):
        raise InputError(
            f"{file!r} names no release.", code="bad_usage", hint="Begin each with a line such as [release.spring]."
        )
    yield from named.items()


def _release(name: str, options: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The checked options of a release, with absolute paths."""
    checked = _checked(f"release.{name}", options, release_options())
    if "transactions" in checked and "query" in checked:
        raise InputError(f"[release.{name}] has transactions and a query.", code="bad_usage", hint="Name one of them.")
    return anchored(checked, folder)


def _checked(table: str, options: Mapping[str, Any], available: Mapping[str, Parameter]) -> dict[str, Any]:
    """The checked options of a table of the file."""
    try:
        return {option: check_option(option, value, available) for option, value in options.items()}
    except InputError as error:
        raise InputError(f"[{table}]: {error}", code=error.code) from None


def run(engine: DuckDBEngine, file: PolicyFile) -> Iterator[tuple[str, Result]]:
    """Make or refresh the releases of a file, one after the other, and yield each result when it is done. A release is an
    anonymized view: it is made if it is not there, made anew if its query or an option has changed, and refreshed otherwise,
    which does nothing unless an input has changed. A release that was made in another way, with the same options, becomes
    that view. Raises AnondbError: the error of the first release that fails; earlier ones are kept."""
    for name, options in file.releases.items():
        with speaking("toml"):
            result = _run_statement(engine, _statement(engine, file, name, dict(options)))
        yield name, result


def _statement(engine: DuckDBEngine, file: PolicyFile, name: str, options: dict[str, Any]) -> CreateView:
    """The statement that makes a release."""
    replace = options.pop("replace", False)
    query, table = options.pop("query", None), options.pop("transactions", None)
    if query is None:
        if table is None and not is_file(file.source):
            raise InputError(f"[release.{name}] names no transactions.", code="no_transactions", hint="Add transactions.")
        named = resolve_table(engine, stem_of(Path(file.source)) if table is None else table, "transactions")
        reference = stored.reference_of(engine, named) or named.sql()
        query = exp.select("*").from_(exp.to_table(reference, dialect="duckdb")).sql(dialect="duckdb")
    statement = CreateView(name, query, options, replace)
    check_query(engine, query, statement)
    return statement


def _run_statement(engine: DuckDBEngine, statement: CreateView) -> Result:
    """Create a view, or replace it if its query or an option has changed; otherwise refresh it."""
    catalog = stored.current_catalog(engine)
    entry = ledger.find(engine, catalog, statement.name)
    view = None if entry is None else ledger.view_of(engine, catalog, entry.release_id)
    options = anchored(statement.options)
    if view is None and (entry is None or not _adopted(engine, entry, statement, options)):
        return views.create(engine, statement)
    if view is None or (view.query, view.options) == (statement.query, options):
        return views.refresh(engine, statement.name)
    path = target_of(options)
    if path is not None and options["publish"] != view.options.get("publish"):
        check_target(engine, path, statement.replace, how(path, options)["format"])  # the file is no earlier version
    return views.create(engine, replace(statement, replace=True))


def _adopted(engine: DuckDBEngine, entry: ledger.LedgerEntry, statement: CreateView, options: Mapping[str, Any]) -> bool:
    """Make a release the view of a statement, if the view would have the same: its options are the same, and no input has
    changed since. A file where it is published is then its own, or the statement replaces it."""
    table = of_view(engine, statement.name, statement.query)
    view = ledger.View(statement.name, statement.query, options, table)
    policy = stored.view_policy(view, replace=True)
    now = {**policy.ledger_options(), "algorithm": policy.algorithm, "id": policy.id, "item": policy.item}
    was = {**entry.parameters, "algorithm": entry.algorithm, "id": entry.id_column, "item": entry.item_column}
    now = json.loads(json.dumps(now))
    others = {name for name in now.keys() | was.keys() if name not in _COMPARED_ELSEWHERE}
    if entry.model != policy.model.name or any(now.get(name) != was.get(name) for name in others):
        return False
    path = target_of(options)
    with engine.transaction():
        if views.changed_inputs(engine, entry, load(engine, policy), policy):
            return False
        if path is not None and views.sealed_id(path) != entry.release_id:
            check_target(engine, path, statement.replace, how(path, options)["format"])
        ledger.record_view(engine, stored.current_catalog(engine), entry.release_id, view)
    return True
