"""Partitioned views: a release for each value of a column, over disjoint persons. Each value is made in a transaction of its
own, and then published in another. So a process that is killed leaves whole releases and whole files; the next REFRESH makes
and publishes what is missing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anondb.engine import AnyQuery, DuckDBEngine, Engine, reads
from anondb.engine.texts import quoted, sql
from anondb.engine.trees import exp
from anondb.errors import InfeasibleError, InputError
from anondb.ledger import ledger, stored
from anondb.ledger.stored import of_parts
from anondb.ledger.tables import VIEWS
from anondb.pipeline import reports
from anondb.pipeline.anonymize import anonymize
from anondb.pipeline.clock import Clock
from anondb.pipeline.load import load_step
from anondb.publications import overlap
from anondb.publications import persons as of_persons
from anondb.publications import published_rows as published
from anondb.publications.history import PublishedFile
from anondb.publications.publish import publish_release, seal
from anondb.publications.targets import how
from anondb.release.objects import find_schema, release_schema
from anondb.release.row_sums import RowSums
from anondb.views import parts
from anondb.views.folders import Folder, folder_of
from anondb.views.partition_results import MadePart, Partitioned
from anondb.views.partition_values import Survey, among, column_of, source_of, survey_of, values_of
from anondb.views.parts import Part, Value
from anondb.warehouse.postgres.place import Place


def create(engine: DuckDBEngine, view: ledger.View, replacing: bool) -> Partitioned:
    """Make a release for each value of a new view, or of one that replaces another, and publish each into the folder. All
    values are checked before the first release is made. Raises InputError: ``bad_partition``, ``shared_persons``,
    ``overlap``, ``release_exists``, or the folder cannot be written. InfeasibleError: values too small to be released; those
    of the others are made."""
    folder = folder_of(view)
    with engine.transaction():
        catalog = stored.current_catalog(engine)
        stored.check_writable(engine, catalog)
        ledger.check_names(engine, catalog)
        survey = survey_of(engine, catalog, view, ())
        if not survey.new:
            raise InputError(
                "The query returns no rows, so the view has no value to release.",
                code="bad_partition",
                hint="Create it when its first value is complete.",
            )
        _check_names_are_free(engine, view, survey.new, replacing)
        _check_disjoint(engine, view, survey.new, ())
        if folder is not None:
            folder.check(engine, survey.new, replacing=replacing, fresh=True)
        _check_not_published(engine, view, survey.new, folder)
    results = _make_all(engine, view, survey.new, folder, replacing=replacing, fresh=True)
    where = None if folder is None else str(folder)
    return Partitioned(view.name, column_of(view), tuple(results), 0, folder=where, kind="create")


def refresh(engine: DuckDBEngine, view: ledger.View, ignore_late_rows: bool) -> Partitioned:
    """Make and publish the releases of new values, and publish those that have no file. Raises InputError: ``late_rows``:
    rows of a published value have changed, unless they are ignored; see ``create``."""
    folder = folder_of(view)
    with engine.transaction():
        catalog = stored.current_catalog(engine)
        existing = parts.parts_of(engine, catalog, view.name)
        survey = survey_of(engine, catalog, view, existing)
        if survey.late and not ignore_late_rows:
            raise _late(view, survey)
        wanted = [*survey.again, *survey.new]
        _check_names_are_free(engine, view, survey.new, False)
        _check_disjoint(engine, view, wanted, [p.release_id for p in survey.kept])
        if folder is not None:
            folder.check(engine, survey.new, replacing=False, fresh=False)
        _check_not_published(engine, view, wanted, folder)
        parts.accept(engine, catalog, survey.late)
        pending = [] if folder is None else folder.missing(engine, catalog, survey.kept)
        stay = [part.release_id for part in survey.kept]
    done = [_published(engine, view, part, folder, stay) for part in pending if folder is not None]
    results = _make_all(engine, view, wanted, folder, replacing=False, fresh=False)
    unchanged = len(survey.kept) - len(done)
    return Partitioned(
        view.name,
        column_of(view),
        (*done, *results),
        unchanged,
        gone=survey.gone,
        ignored=len(survey.late),
        folder=None if folder is None else str(folder),
    )


def _check_names_are_free(engine: Engine, view: ledger.View, values: Sequence[Value], replacing: bool) -> None:
    """Refuse a view, or a part of it, whose release would have the name of another release."""
    catalog = stored.current_catalog(engine)
    replaced = {part.release.casefold() for part in parts.parts_of(engine, catalog, view.name)} if replacing else set()
    names = [] if replacing else [view.name]
    names += [replace(view, partition=value.partition).release for value in values]
    for name in names:
        if name.casefold() not in replaced and find_schema(engine, release_schema(catalog, name)) is not None:
            raise InputError(
                "A release of the name of the view, or of one of its values, exists already.",
                code="release_exists",
                hint="Choose another name.",
            )


def _check_disjoint(engine: Engine, view: ledger.View, values: Sequence[Value], others: Sequence[str]) -> None:
    """Refuse values that share persons with each other, or with the other parts of the view."""
    if not values:
        return
    source, column, _ = source_of(engine, view)
    id_column = source.column(str(view.options.get("id", "tid")), "id")
    person, value = quoted(id_column), quoted(column)
    asked: dict[str, Any] = {"where": among(values), "group": person}
    several = reads.rows(source.query, f"{person} AS id", having=f"min({value}) < max({value})", **asked)
    counted = reads.counted(several)
    number = int(engine.select(counted, "persons in several values")["n"][0]) if len(values) > 1 else 0
    if others:
        shared = _shared(engine, reads.rows(source.query, f"{person} AS id, 0 AS tid", **asked))
        number += sum(shared.get(release_id, 0) for release_id in others)
    if number:
        raise _shared_persons(column, number)


def _shared(engine: Engine, ids: AnyQuery) -> dict[str, int]:
    catalog = stored.current_catalog(engine)
    ledger.ensure(engine, catalog)
    digests = of_persons.digests(engine, catalog, ids)
    shared = dict(of_persons.shared(engine, catalog, digests))
    engine.drop(digests)
    return shared


def _shared_persons(column: str, number: int) -> InputError:
    are = "person is" if number == 1 else "persons are"
    return InputError(
        f"{number:,} {are} in two values of {column!r}: readers of both files would single them out.",
        code="shared_persons",
        hint="Let the id be that of a basket, which is in one value only, or keep one value of each person in the query.",
    )


def _check_not_published(engine: DuckDBEngine, view: ledger.View, values: Sequence[Value], folder: Folder | None) -> None:
    """Refuse values whose persons are in an earlier publication other than a part of the view that stays."""
    if folder is None or not values or view.options.get("allow_overlap", False) or engine.one_shot:
        return
    source, _, _ = source_of(engine, view)
    id_column = source.column(str(view.options.get("id", "tid")), "id")
    ids = reads.rows(source.query, f"0 AS tid, {quoted(id_column)} AS id", where=among(values))
    if before := overlap.earlier(engine, stored.current_catalog(engine), ids, None, view.options.get("population")):
        raise overlap.refused(view.name, before, "Add allow_overlap = true if that is wanted.")


def _late(view: ledger.View, survey: Survey) -> InputError:
    more = sum(max(0, value.rows - parts.rows_of(part.digest)) for part, value in survey.late)
    fewer = sum(max(0, parts.rows_of(part.digest) - value.rows) for part, value in survey.late)
    name = exp.to_identifier(view.name, quoted=True).sql(dialect="duckdb")
    return InputError(
        f"{len(survey.late):,} of {len(survey.kept):,} values of {column_of(view)!r} have other rows than when they were "
        f"released ({more:,} more, {fewer:,} fewer). A file made anew would show, beside the old one, whose rows came late.",
        code="late_rows",
        hint=f"Leave them out: REFRESH ANONYMIZED VIEW {name} WITH (late_rows = 'ignore'). Or give them a value of their"
        f" own in the query, or make all anew: {overlap.allowing_anew(view.name)}.",
    )


def _make_all(
    engine: DuckDBEngine, view: ledger.View, values: Sequence[Value], folder: Folder | None, *, replacing: bool, fresh: bool
) -> list[MadePart]:
    """Make the release of each value, and publish it into the folder; values that are too small are left out, and named at
    the end. A view of the name that is ``replacing`` is dropped with the first release; ``fresh`` says whether the view is
    new."""
    if folder is not None and values:
        folder.make()
    results: list[MadePart] = []
    too_small: list[InfeasibleError] = []
    for number, value in enumerate(values, 1):
        engine.progress(f"value {number} of {len(values)}", (number - 1) / len(values))
        try:
            results.append(_make(engine, view, value, folder, drop_first=replacing and not results))
        except InfeasibleError as error:
            too_small.append(error)
    if not too_small:
        return results
    first = too_small[0]
    words = str(first).removesuffix(f" {first.hint}") if first.hint else str(first)
    kept = f" The other {len(results):,} were made." if results else ""
    if fresh and not results:
        kept = " The view was not made."
    raise InfeasibleError(
        f"{len(too_small):,} of {len(values):,} values of {column_of(view)!r} cannot be released: {words}{kept}",
        code=first.code,
        hint="Merge small values in the query, or allow more suppression.",
    )


def _make(engine: DuckDBEngine, view: ledger.View, value: Value, folder: Folder | None, *, drop_first: bool) -> MadePart:
    kept = "the releases of earlier values are kept"
    clock = Clock(folder is not None, limit=view.time_limit, kept=kept)
    with engine.transaction():
        catalog = stored.current_catalog(engine)
        if drop_first:
            drop_view(engine, catalog, view.name)
        existing = parts.parts_of(engine, catalog, view.name)
        then = ledger.view_of(engine, catalog, existing[0].release_id) if existing else None
        part = replace(view, partition=value.partition, table=view.table if then is None else then.table)
        policy = stored.view_policy(part, replace=True)
        with clock.limited(engine):
            task = load_step(engine, clock, policy)
        existing = [p for p in existing if p.release != part.release]
        others = [p.release_id for p in existing]
        shared = _shared(engine, exp.select("tid", "id").from_(task.dataset.ids.expression())) if others else {}
        if number := sum(shared.get(release_id, 0) for release_id in others):
            raise _shared_persons(value.partition.column, number)
        raw, table = part.table, of_parts(engine, part, task.dataset)
        part, task = replace(part, table=table), replace(task, dataset=replace(task.dataset, table=table))
        report = anonymize(engine, policy, view=part, task=task, sums=folder is not None, clock=clock)
        (now,) = values_of(engine, view, value.partition)
        parts.record(engine, catalog, report.frozen.release_id, now)
        if table != raw:
            _rename_table(engine, part, existing, folder)
    file = None
    if folder is not None:
        begun = time.perf_counter()
        file = _publish(engine, view, part.release, folder.of(value.partition, others), report.verified_rows)
        report = reports.published(report, file, time.perf_counter() - begun)
        for earlier in existing if table != raw else ():
            where = folder.of(earlier.partition, [*others, report.frozen.release_id])
            if isinstance(where, Place):
                _publish(engine, view, earlier.release, where, None)
    published_as = None if file is None else str(file.path)
    renamed = (raw, table) if table != raw else None
    return MadePart(value.partition.value, part.release, report.transactions, report, published_as, renamed)


def _rename_table(engine: DuckDBEngine, view: ledger.View, existing: Sequence[Part], folder: Folder | None) -> None:
    """Let earlier parts answer for the table of ``view``, in their files, too; call it last in a transaction. If a file
    cannot be written, the next REFRESH makes the part with repeated rows again, and writes all of them. Schemas of
    PostgreSQL are written after the transaction, or by the next REFRESH."""
    for part in existing:
        schema = stored.find_release(engine, part.release)
        renaming = sql("UPDATE {} SET value = {} WHERE key = 'table'", schema.table("manifest"), view.table)
        engine.run(renaming, "writing the manifest")
        VIEWS.change(engine, schema.catalog, part.release_id, source_table=view.table)
        where = None if folder is None else folder.of(part.partition)
        if isinstance(where, str):
            written = how(where, view.options)
            seal(engine, part.release, stored.find_whole(engine, part.release), where, (), replace=True, **written)


def drop_view(engine: Engine, catalog: str, name: str, *, if_exists: bool = True) -> bool:
    """Drop a view, partitioned or not; returns whether there was one. Call it inside a transaction. Raises InputError: its
    schema holds other objects, or the view does not exist, unless ``if_exists``."""
    releases = [part.release for part in parts.parts_of(engine, catalog, name)]
    if not releases and if_exists and find_schema(engine, release_schema(catalog, name)) is None:
        return False
    for release in releases or [name]:
        published.drop_release(engine, catalog, release)
    return True


def _published(engine: DuckDBEngine, view: ledger.View, part: Part, folder: Folder, stay: Sequence[str]) -> MadePart:
    """Publish a release that has no file."""
    folder.make()
    file = _publish(engine, view, part.release, folder.of(part.partition, stay), None)
    return MadePart(part.partition.value, part.release, part.transactions, None, str(file.path))


def _publish(
    engine: DuckDBEngine, view: ledger.View, release: str, where: str | Place, verified: RowSums | None
) -> PublishedFile:
    return publish_release(engine, release, where, replace=True, verified=verified, **how(where, view.options))
