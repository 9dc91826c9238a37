"""Several files in one session: which files a folder holds, whether their counts add up, and what all of them promise; and
the column that divides a release into files: conditions on it choose files, and each file is a group of its own.

All rows of a file have the value that its manifest states under ``partition``. So a condition on this column is true for all
rows of a file or for none, and WHERE without it, on the files where it is true, has the same rows. The manifest states the
value as a text, whatever the type of the column: a condition is evaluated for each type that the values may have.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import inf
from pathlib import Path

from sqlglot import exp

from anondb.engine import DuckDBEngine
from anondb.engine.elsewhere import is_url
from anondb.errors import EngineError, InputError
from anondb.query.cached_release import Opened
from anondb.query.parsing import inline_table, lowered
from anondb.release.objects import MANIFEST_KEYS, manifest_keys, partition_of
from anondb.release.reader import SealedRelease
from anondb.warehouse.at_hand import releases_at

SUFFIX = ".duckdb"
_SAME = ("table", "records_table", "id_column", "item_column", "layout", "types", "semantics", "model")
_LARGER_IS_WEAKER = ("h",)
Manifest = Mapping[str, str]
Sources = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def files_of(folder: str) -> list[str]:
    """The sealed files of a folder and the releases of Parquet files in it, by name; the folder, if it is such a release.

    Raises:
        InputError: ``no_such_file``: it holds none.
    """
    from anondb.release.paths import is_parquet_release

    if is_parquet_release(folder):
        return [folder]
    places = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if not name.startswith(".")]
    files = [
        place
        for place in places
        if is_parquet_release(place) or (Path(place).suffix.lower() == SUFFIX and os.path.isfile(place))
    ]
    if not files:
        raise InputError(
            f"The folder {Path(folder).absolute().name!r} holds no sealed file.",
            code="no_such_file",
            hint=f"Sealed files in a folder have names that end in {SUFFIX}.",
        )
    return files


def check_alike(sealed: Sequence[SealedRelease]) -> None:
    """Refuse files whose counts cannot be added up.

    Raises:
        InputError: ``different_releases``, or ``overlap``: they hold the same persons, as their manifests show.
    """

    def shape(release: SealedRelease) -> tuple[object, ...]:
        attributes = None if release.kind.attributes is None else [(a.name, a.ends) for a in release.kind.attributes]
        return attributes, *(release.manifest.get(key) for key in _SAME)

    if len({s.manifest["release_id"] for s in sealed}) < len(sealed):
        raise InputError(
            "Two of the files hold the same release.", code="different_releases", hint="Name each release once."
        )
    _check_disjoint(sealed)
    first = sealed[0]
    for other in sealed[1:]:
        if shape(other) != shape(first):
            raise InputError(
                f"The files {first.path.name!r} and {other.path.name!r} are not releases of the same kind of table.",
                code="different_releases",
                hint="Open files with equal names of tables and columns and with one model.",
            )


def _check_disjoint(sealed: Sequence[SealedRelease]) -> None:
    """Refuse files whose manifests show that they share persons: the same part twice, a part and the whole, or parts by
    different columns."""
    parts: dict[tuple[str, str] | None, SealedRelease] = {}
    for release in sealed:
        part = partition_of(release.manifest)
        other = parts.get(part) if part is not None else None
        if part is None:
            other = next((s for p, s in parts.items() if p is not None), None)
        elif other is None:
            other = next((s for p, s in parts.items() if p is None or p[0] != part[0]), None)
        if other is not None:
            raise InputError(
                f"The files {other.path.name!r} and {release.path.name!r} hold the same persons, as their manifests show"
                " (partition), so their counts cannot be added up.",
                code="overlap",
                hint="Open the files of one partitioned view, each value once.",
            )
        parts[part] = release


def weakest(manifests: Sequence[Manifest]) -> str:
    """What all files promise: the model, and the weakest value of each parameter."""
    shown = [manifests[0]["model"]]
    for name in _parameters(manifests):
        numbers = {_number(m[name]): m[name] for m in manifests if name in m}
        values = [number for number in numbers if number is not None]
        if values and len(values) == len(numbers):
            shown.append(f"{name} = {numbers[(max if name in _LARGER_IS_WEAKER else min)(values)]}")
    return ", ".join(shown)


def _parameters(manifests: Sequence[Manifest]) -> list[str]:
    """The names of the parameters of the model."""
    return sorted(manifest_keys(manifests[0]["model"]) - MANIFEST_KEYS - {"sensitive", "records_table"})


def notes_on(manifests: Sequence[Manifest]) -> list[str]:
    """A note if the promises of the files differ."""
    promises = {tuple(m.get(name) for name in _parameters(manifests)) for m in manifests}
    if len(promises) < 2:
        return []
    return [f"The {len(manifests)} files have {len(promises)} promises; all of them keep the weakest: {weakest(manifests)}."]


def _number(text: str) -> Fraction | float | None:
    """The number that a text is; None for others."""
    try:
        return inf if text == "inf" else Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None


def paths_of(files: Sources, on_statement: Callable[[str], None] | None = None) -> list[str]:
    """The paths of the files; a pattern stands for all files that match it, the URL of a union for its releases."""
    listed = list(files) if isinstance(files, Iterable) and not isinstance(files, str | bytes | os.PathLike) else [files]
    if not all(isinstance(file, str | os.PathLike) for file in listed):
        raise InputError(
            "The files of a session must be given as a path or a list of paths.",
            code="bad_path",
            hint="Pass a text or a pathlib.Path, such as 'spring.duckdb' or 'weeks/*.duckdb'.",
        )
    paths: list[str] = []
    for path in (os.fspath(file) for file in listed):
        if is_url(path):
            paths += releases_at(path, on_statement)
            continue
        plain = Path(path).exists() or not glob.has_magic(path)
        matching = [] if plain else sorted(glob.glob(path))
        for place in matching or [path]:
            paths += files_of(place) if os.path.isdir(place) else [place]
    if not paths:
        raise InputError("There is no file to open.", code="no_such_file", hint="Name a sealed file.")
    if len({os.path.realpath(p) for p in paths}) < len(paths):
        raise InputError("A file is listed twice.", code="different_releases", hint="Name each file once.")
    return paths


TYPES = ("HUGEINT", "DATE", "TIME", "TIMESTAMP", "BOOLEAN", "UUID")
"""Types that a column may have whose values are known as texts."""
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}", re.ASCII)


class Parts:
    """The column that divides the files of a session, and its value in each file.

    Attributes:
        column: its name.
        values: its value in each file, as the manifests have them.
        kind: the type that the values seem to have, in which they are shown and ordered.
    """

    def __init__(self, column: str, values: Sequence[str], engine: DuckDBEngine) -> None:
        self.column, self.values, self._engine = column, list(values), engine
        self._places: dict[exp.Expr, list[int]] = {}

    @classmethod
    def of(cls, releases: Sequence[Opened], engine: DuckDBEngine) -> Parts | None:
        """The column that divides releases; None if their manifests do not say so, or if it is also an attribute."""
        parts = [part for part in (partition_of(release.manifest) for release in releases) if part is not None]
        if len(parts) < len(releases) or len({lowered(column) for column, _ in parts}) > 1:
            return None
        column = parts[0][0]
        if any(lowered(column) in map(lowered, columns) for _, columns in releases[0].original.tables()):
            return None
        return cls(column, [value for _, value in parts], engine)

    @cached_property
    def kind(self) -> str:
        """The first of all types in which DuckDB writes all values as they are written."""
        if all(map(_WHOLE.fullmatch, self.values)):
            return "BIGINT"
        kind = next((kind for kind in self._kinds() if self._typed(kind) is not None), "VARCHAR")
        return "BIGINT" if kind == "HUGEINT" and all(-(2**63) <= int(value) < 2**63 for value in self.values) else kind

    @property
    def shown(self) -> list[int | str]:
        """The values as answers show them."""
        return [int(value) if self.kind.endswith("INT") else value for value in self.values]

    @property
    def notes(self) -> dict[str, None]:
        """Notes on the type in which an answer shows the values."""
        words = f"The files have the values of {self.column!r} as texts, which are taken for values of the type {self.kind}."
        return {} if self.kind == "VARCHAR" else {words: None}

    # ---------------------------------------------------------------- values

    def _kinds(self) -> list[str]:
        """The types that a column may have whose values are known as texts."""
        decimals = {len(fraction) for _, _, fraction in (value.partition(".") for value in self.values)}
        return [*TYPES, *(f"DECIMAL(38, {places})" for places in sorted(decimals) if 0 < places < 38)]

    def _typed(self, kind: str) -> exp.Expr | None:
        """The rows (n, value) of the files with the values in a type; None if DuckDB writes one of them in another way."""
        texts = inline_table({"n": "BIGINT", "v": "VARCHAR"}, list(enumerate(self.values))).subquery("chosen")
        read = exp.TryCast(this=exp.column("v"), to=exp.DataType.build(kind, dialect="duckdb"))
        same = exp.Coalesce(this=exp.cast(read.copy(), "VARCHAR").eq(exp.column("v")), expressions=[exp.false()])
        typed = exp.select("n", read.as_("value"), same.as_("same")).from_(texts).subquery("part")
        alike = self._engine.select(exp.select("same").from_(typed.copy()), "a condition")["same"].tolist()
        return typed if all(alike) else None

    def holding(self, *conditions: exp.Expr) -> list[int]:
        """The places of the files for which conditions on the column alone are true, whatever its type."""
        condition = exp.and_(*(part.copy() for part in conditions))
        if isinstance(condition, exp.EQ) and isinstance(condition.expression, exp.Literal):
            equal = condition.expression
            if equal.is_string and equal.name in self.values:  # other texts are other values, in any type
                return [self.values.index(equal.name)]
        for node in list(condition.find_all(exp.Column)):
            node.replace(exp.column("value", "part"))
        if condition not in self._places:
            self._places[condition] = self._asked(condition)
        return self._places[condition]

    def _asked(self, condition: exp.Expr) -> list[int]:
        answers: list[list[int]] = []
        for kind in ("VARCHAR", *self._kinds()):
            typed = self._typed(kind)
            if typed is None:
                continue
            holds = exp.select("n").from_(typed).where(condition.copy()).order_by("n")
            try:
                answers.append([int(n) for n in self._engine.select(holds, "a condition")["n"].tolist()])
            except EngineError as error:
                if error.code != "refused":
                    raise
        if not answers:
            raise InputError(f"DuckDB does not accept the condition on {self.column!r}.", code="bad_sql")
        if any(answer != answers[0] for answer in answers):
            raise InputError(
                f"The column {self.column!r} may be of several types, and the condition holds for other values of each.",
                code="ambiguous_item",
                hint="Compare by = and IN, or with numbers instead of texts.",
            )
        return answers[0]
