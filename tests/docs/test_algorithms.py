"""The example of every algorithm's page, run as it stands there."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import goldens
import pytest
from portions import some

from anondb.algorithms import METHODS

PAGES = Path(__file__).resolve().parents[2] / "docs" / "algorithms"
WITHOUT = {"README.md", "conventions.md"}
DEFINITIONS = {"metrics", "models"}
EXAMPLES = {
    path.name: "".join(re.findall(r"^```python\n(.*?)^```$", path.read_text("utf-8"), re.M | re.S))
    for path in sorted(PAGES.glob("*.md"))
    if path.name not in WITHOUT
}


def test_every_algorithm_has_a_page() -> None:
    index = (PAGES / "README.md").read_text("utf-8")
    pages = {name.removesuffix(".md") for name in EXAMPLES} - DEFINITIONS
    on_records = {a for a in METHODS if "_bound_" in a} | {"rfirst", "tfirst"}
    assert pages == set(METHODS) - on_records | {"rum_tum_bound"}
    assert all(f"({name}.md)" in index for name in pages)
    assert all(f"`{name}`" in index or f"`_{name.rsplit('_', 1)[1]}`" in index for name in on_records)


def data_of(page: str) -> list[doctest.Example]:
    """What the example of a page does up to its last table."""
    examples = doctest.DocTestParser().get_examples(EXAMPLES[page])
    last = max(n for n, example in enumerate(examples) if "CREATE TABLE" in example.source)
    return examples[: last + 1]


@pytest.mark.slow
@pytest.mark.parametrize("page", some(EXAMPLES, *list(EXAMPLES)[::7], check=list(EXAMPLES)))
def test_example(page: str) -> None:
    test = doctest.DocTestParser().get_doctest(EXAMPLES[page], {}, page, page, 0)
    if named := re.search(r"data of \[[\w-]+\]\((\w+\.md)#example\)", (PAGES / page).read_text("utf-8")):
        test.examples[:0] = data_of(named[1])
    assert len(test.examples) > 2
    said: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert not failed, "".join(said)


def test_the_cases_that_pages_name_exist() -> None:
    named = {c for p in PAGES.glob("*.md") for c in re.findall(r"`([sxb]\d+b?_\w+)`", p.read_text("utf-8"))}
    assert len(named) > 10 and named <= {c["id"] for c in goldens.CASES}
