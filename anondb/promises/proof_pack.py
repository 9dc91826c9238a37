"""The proof pack: plain SQL with which anybody checks the promise of a sealed file, and a page on what that shows.

The query whose rows are the violations, and the claims of the page, are those of the model's ``ModelSpec``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from sqlglot import exp

from anondb.engine import Table, load
from anondb.errors import EngineError, InputError
from anondb.promises import PROMISES
from anondb.promises.spec import Shown
from anondb.release.objects import SEALED_SCHEMA

Manifest = Mapping[str, str]
PAGE = "README.md"
_MANIFEST = Table("", SEALED_SCHEMA, "manifest")
_FOUND = exp.to_table("violations_of_the_promise")

PAGE_TEXT = """\
# Checking a sealed release without anondb

`verify_{model}.sql` is plain DuckDB SQL. It reads the sealed file and returns the violations of the promise: **no row
means that the promise holds**. The last line is PASS, or an error that says FAIL, and then the shell ends with an exit code
that is not 0. A row "this is another release" means that script and file do not belong together.

    duckdb -readonly RELEASE.duckdb < verify_{model}.sql

The file was made by {model} with {parameters}, and its release_id is `{release_id}`.

## Is it the file that was published?

Rows that were changed, and written anew so that the promise still holds, cannot be told from the file alone. Compare it
with what its publisher says, over another way than the file came:

    {sha256}   SHA-256 of the file (sha256sum RELEASE.duckdb)
    {content_digest}   its content

`anondb verify RELEASE.duckdb --expect DIGEST` compares either. A copy made by DuckDB has another SHA-256, and the same
content.

## What is shown, and from what

{claims}
## What is not shown

* **Truthfulness**: that each published transaction is the image of an original one. Only the owner can check this.
* **Coverage**: that every person of the source is in the release, and that nobody was added.
* What the promise does not promise: sensitive facts that all k candidates share, knowledge of absence, and two releases
  of the same persons that are joined. See docs/promise.md of anondb.
"""


def script(manifest: Manifest, shown: Shown = Shown()) -> str:
    """The SQL of a release's proof.

    Raises:
        InputError: ``no_proof``: there is none for this model, or not without the owner's constraints.
    """
    model = manifest["model"]
    if model not in PROMISES:
        raise InputError(
            f"There is no proof in SQL for the model {model}; there are {', '.join(PROMISES)}.", code="no_proof"
        )
    other = load("proof/other_release").bind({"manifest": _MANIFEST}, {"release_id": manifest["release_id"]})
    violations = PROMISES[model].proof(manifest, shown).subquery("violations")
    union = exp.union(other, exp.select("violation", "items", "support").from_(violations), distinct=False)
    for node in union.walk():
        node.comments = None
        if isinstance(node, exp.Table):
            node.set("catalog", None)  # the file may be attached under any name
    about = f"-- Violations of the promise of release {manifest['release_id']} ({_words(manifest)})."
    head = f"{about} No row, and PASS at the end: it holds.\n"
    made = exp.Create(
        this=_FOUND,
        kind="TABLE",
        replace=True,
        expression=union,
        properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
    )
    listed = exp.select("*").from_(_FOUND.copy()).order_by(exp.var("ALL"))
    texts = (tree.sql(dialect="duckdb", pretty=True) + ";\n" for tree in (made, listed, _verdict(manifest)))
    return head + "".join(texts)


def _verdict(manifest: Manifest) -> exp.Select:
    """The last statement: PASS, or an error that says FAIL, with which a shell ends with a non-zero exit code."""
    number = exp.Count(this=exp.Star())
    parts = ("FAIL: ", exp.cast(number, "VARCHAR"), f" violations of the promise of release {manifest['release_id']}.")
    words: exp.Expr = exp.Literal.string("")
    for part in parts:
        words = exp.DPipe(this=words, expression=exp.Literal.string(part) if isinstance(part, str) else part)
    failed = exp.Anonymous(this="error", expressions=[words])
    passed = exp.Literal.string(f"PASS: the promise of release {manifest['release_id']} holds.")
    verdict = exp.Case(ifs=[exp.If(this=number.eq(exp.convert(0)), true=passed)], default=failed)
    return exp.select(verdict.as_("verdict")).from_(_FOUND.copy())


def _words(manifest: Manifest) -> str:
    parameters = PROMISES[manifest["model"]].parameters
    named = (f"{name} = {manifest[name]}" for name in parameters if name in manifest)
    return f"{manifest['model']}, {', '.join(named)}"


def proof_directory(directory: str | os.PathLike[str], manifest: Manifest, shown: Shown = Shown()) -> Path:
    """Where a proof pack is to be written, refused before the long work if that is not possible.

    Raises:
        InputError: it is a file, its parent does not exist, or there is no proof.
    """
    script(manifest, shown)
    place = Path(os.path.abspath(directory))
    if place.exists() and not place.is_dir():
        raise InputError(f"{place.name!r} is a file.", code="bad_path", hint="Name a directory for --proof.")
    if not place.parent.is_dir():
        raise InputError(f"The directory for {place.name!r} does not exist.", code="no_such_directory")
    return place


def write_proof(directory: Path, manifest: Manifest, digests: tuple[str, str], shown: Shown = Shown()) -> list[Path]:
    """Write ``verify_<model>.sql`` and its page into a directory, which is made if need be; files of those names give way.

    ``digests`` are the SHA-256 of the file and the digest of its content.

    Raises:
        InputError: no proof for the model.
        EngineError: it cannot be written.
    """
    model = manifest["model"]
    page = PAGE_TEXT.format(
        model=model,
        parameters=_words(manifest).partition(", ")[2],
        release_id=manifest["release_id"],
        claims=PROMISES[model].claims,
        sha256=digests[0],
        content_digest=digests[1],
    )
    files = {directory / f"verify_{model}.sql": script(manifest, shown), directory / PAGE: page}
    try:
        directory.mkdir(exist_ok=True)
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise EngineError(f"The proof could not be written ({type(error).__name__}).", code="io") from None
    return list(files)
