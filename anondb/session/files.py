"""Several files in one session: which files a folder holds, whether their counts add up, and what all of them promise."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import inf
from pathlib import Path

from anondb.engine.elsewhere import is_url
from anondb.errors import InputError
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
            f"The folder {Path(folder).name!r} holds no sealed file.",
            code="no_such_file",
            hint=f"Sealed files in a folder have names that end in {SUFFIX}.",
        )
    return files


def check_alike(sealed: Sequence[SealedRelease]) -> None:
    """Refuse files whose counts cannot be added up.

    Raises:
        InputError: ``different_releases``, or ``overlap``: they hold the same persons, as their manifests show.
    """

    def shape(one: SealedRelease) -> tuple[object, ...]:
        attributes = None if one.kind.attributes is None else [(a.name, a.ends) for a in one.kind.attributes]
        return attributes, *(one.manifest.get(key) for key in _SAME)

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
    for one in sealed:
        part = partition_of(one.manifest)
        other = parts.get(part) if part is not None else None
        if part is None:
            other = next((s for p, s in parts.items() if p is not None), None)
        elif other is None:
            other = next((s for p, s in parts.items() if p is None or p[0] != part[0]), None)
        if other is not None:
            raise InputError(
                f"The files {other.path.name!r} and {one.path.name!r} hold the same persons, as their manifests show"
                " (partition), so their counts cannot be added up.",
                code="overlap",
                hint="Open the files of one partitioned view, each value once.",
            )
        parts[part] = one


def weakest(manifests: Sequence[Manifest]) -> str:
    """What all files promise: the model, and the weakest value of each parameter."""
    shown = [manifests[0]["model"]]
    for name in _parameters(manifests):
        values = [m[name] for m in manifests if name in m]
        if values and all(_is_number(value) for value in values):
            pick = max if name in _LARGER_IS_WEAKER else min
            shown.append(f"{name} = {pick(values, key=_number)}")
    return ", ".join(shown)


def _parameters(manifests: Sequence[Manifest]) -> list[str]:
    """The names of the parameters of the model."""
    return sorted(manifest_keys(manifests[0]["model"]) - MANIFEST_KEYS - {"sensitive", "records_table"})


def notes_on(manifests: Sequence[Manifest]) -> list[str]:
    """A note if the promises of the files differ."""
    promises = {tuple(m.get(name) for name in _parameters(manifests)) for m in manifests}
    if len(promises) < 2:
        return []
    return [
        f"The {len(manifests)} files have {len(promises)} promises; all of them keep the weakest: {weakest(manifests)}."
    ]


def _is_number(text: str) -> bool:
    try:
        _number(text)
    except (ValueError, ZeroDivisionError):
        return False
    return True


def _number(text: str) -> Fraction | float:
    return inf if text == "inf" else Fraction(text)


def paths_of(files: Sources, on_statement: Callable[[str], None] | None = None) -> list[str]:
    """The paths of the files; a pattern stands for all files that match it, the URL of a union for its releases."""
    listed = [files] if isinstance(files, str | os.PathLike) else files
    if not isinstance(listed, Iterable) or isinstance(listed, bytes):
        raise _no_path()
    listed = list(listed)
    if not all(isinstance(file, str | os.PathLike) for file in listed):
        raise _no_path()
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


def _no_path() -> InputError:
    return InputError(
        "The files of a session must be given as a path or a list of paths.",
        code="bad_path",
        hint="Pass a text or a pathlib.Path, such as 'spring.duckdb' or 'weeks/*.duckdb'.",
    )
