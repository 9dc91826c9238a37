"""Write the proof pack: plain SQL that checks the promise of a sealed file, and a page that explains the check. The model's
``ModelSpec`` has the query that returns the violations, and the claims of the page."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from anondb.engine import Table, load
from anondb.engine.files import write_file
from anondb.engine.trees import exp, united
from anondb.errors import EngineError, InputError
from anondb.promises import PROMISES, proofs
from anondb.promises.spec import Shown
from anondb.release.objects import SEALED_SCHEMA
from anondb.release.paths import PRIVATE

Manifest = Mapping[str, str]
PAGE = "README.md"
_MANIFEST = Table("", SEALED_SCHEMA, "manifest")
_VIOLATIONS = "violations_of_the_promise"

PAGE_TEXT = """\
# Checking a sealed release without anondb

`verify_{model}.sql` is plain DuckDB SQL. It reads the sealed file and returns the violations of the promise: **no row
means that the promise holds**. The last line is PASS, or an error that says FAIL; then the shell ends with a nonzero exit
code. A row "this is another release" means that script and file do not belong together.

    duckdb -readonly RELEASE.duckdb < verify_{model}.sql

The file was made by {model} with {parameters}, and its release_id is `{release_id}`.

## Is it the file that was published?

The file alone cannot show that somebody changed its rows and kept the promise. Compare its digest with the one that its
publisher announces, over a different channel than the file:

    {sha256}   SHA-256 of the file (sha256sum RELEASE.duckdb)
    {content_digest}   its content

`anondb verify RELEASE.duckdb --expect DIGEST` compares either digest. A copy made by DuckDB has a different SHA-256 and
the same content digest.

## What is shown, and from what

{claims}
## What is not shown

* **Truthfulness**: each published transaction is the image of an original one. Only the owner can check this.
* **Coverage**: every person of the source is in the release, and no person was added.
* Facts outside the promise: sensitive facts that all k candidates share, knowledge of absence, and joins of two releases
  of the same persons. See docs/promise.md of anondb.
"""


_SUPPORTS_CLAIM = """\
* **Needs only the release**: by the counts of `item_supports`, nobody may hold a set of items that the promise covers, or k
  persons may. Somebody who knows the algorithm, or the absence of items, may learn more: docs/promise.md of anondb.
"""


def script(manifest: Manifest, shown: Shown = Shown()) -> str:
    """The SQL of a release's proof. Raises InputError: ``no_proof``: the model has no proof, or none without the owner's
    constraints."""
    model = manifest["model"]
    if model not in PROMISES:
        raise InputError(f"There is no proof in SQL for the model {model}, only for {', '.join(PROMISES)}.", code="no_proof")
    other = load("proof/other_release").bind({"manifest": _MANIFEST}, {"release_id": manifest["release_id"]})
    parts = [PROMISES[model].proof(manifest, shown)]
    if "item_supports" in manifest:
        parts.append(proofs.item_supports(manifest))
    columns = exp.select("violation", "items", "support")
    union = united([other, *(columns.from_(part.subquery("violations")) for part in parts)])
    for table in union.find_all(exp.Table):
        table.set("catalog", None)  # the file may be attached under any name
    title = f"-- Violations of the promise of release {manifest['release_id']} ({_words(manifest)})."
    head = f"{title} No row, and PASS at the end: it holds.\n"
    created = exp.Create(
        this=exp.to_table(_VIOLATIONS),
        kind="TABLE",
        replace=True,
        expression=union,
        properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
    )
    listed = exp.select("*").from_(_VIOLATIONS).order_by(exp.var("ALL"))
    texts = (tree.sql(dialect="duckdb", pretty=True) + ";\n" for tree in (created, listed, _verdict(manifest)))
    return head + "".join(texts)


def _verdict(manifest: Manifest) -> exp.Select:
    """The last statement: it returns PASS, or raises FAIL, which ends the shell with a nonzero exit code."""
    number = exp.Count(this=exp.Star())
    promise = f"{_words(manifest)} in release {manifest['release_id']}"
    parts = ("FAIL: ", exp.cast(number, "VARCHAR"), f" violations of {promise}.")
    words: exp.Expr = exp.Literal.string("")
    for part in parts:
        words = exp.DPipe(this=words, expression=exp.Literal.string(part) if isinstance(part, str) else part)
    failed = exp.Anonymous(this="error", expressions=[words])
    passed = exp.Literal.string(f"PASS: {_words(manifest)} holds for release {manifest['release_id']}.")
    verdict = exp.Case(ifs=[exp.If(this=number.eq(exp.convert(0)), true=passed)], default=failed)
    return exp.select(verdict.as_("verdict")).from_(_VIOLATIONS)


def _words(manifest: Manifest) -> str:
    parameters = PROMISES[manifest["model"]].parameters
    named = (f"{name} = {manifest[name]}" for name in parameters if name in manifest)
    return f"{manifest['model']}, {', '.join(named)}"


def proof_directory(directory: str | os.PathLike[str], manifest: Manifest, shown: Shown = Shown()) -> Path:
    """Check, before the long work, that a proof pack can be written, and return its directory. Raises InputError: the path
    is a file, its parent does not exist, it holds a page that is no proof's, or the model has no proof."""
    script(manifest, shown)
    place = Path(os.path.abspath(directory))
    if place.exists() and not place.is_dir():
        raise InputError(f"{place.name!r} is a file.", code="bad_path", hint="Name a directory for --proof.")
    if not place.parent.is_dir():
        raise InputError(f"The directory for {place.name!r} does not exist.", code="no_such_directory")
    if (place / PAGE).exists() and not any(place.glob("verify_*.sql")):
        words = f"{place.name!r} holds a {PAGE} that is no proof's."
        raise InputError(words, code="bad_path", hint="Name a new directory for --proof.")
    return place


def write_proof(
    directory: Path, manifest: Manifest, digests: tuple[str, str], shown: Shown = Shown(), mode: int | None = None
) -> list[Path]:
    """Write ``verify_<model>.sql`` and its page into a directory, created if needed; replace existing files. ``digests`` are
    the SHA-256 of the file and the digest of its content; ``mode`` is that of the files, by default 0600. Raises InputError:
    no proof for the model."""
    model = manifest["model"]
    page = PAGE_TEXT.format(
        model=model,
        parameters=_words(manifest).partition(", ")[2],
        release_id=manifest["release_id"],
        claims=PROMISES[model].claims + (_SUPPORTS_CLAIM if "item_supports" in manifest else ""),
        sha256=digests[0],
        content_digest=digests[1],
    )
    files = {directory / f"verify_{model}.sql": script(manifest, shown), directory / PAGE: page}
    try:
        directory.mkdir(exist_ok=True)
        for path, text in files.items():
            write_file(path, text, mode=PRIVATE if mode is None else mode)
    except OSError as error:
        raise EngineError(f"The proof could not be written ({type(error).__name__}).", code="io") from None
    return list(files)
