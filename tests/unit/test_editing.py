"""Editing trees: what each edit makes of a tree, which persons stay counted, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anondb.data.taxonomy import from_edges
from anondb.errors import InputError
from anondb.taxonomies.editing import Draft

EDGES = [("all", None), ("X", "all"), ("Y", "all"), ("a", "X"), ("b", "X"), ("c", "Y"), ("d", "Y"), ("e", "Y")]
PERSONS = {"all": 6, "X": 6, "Y": 4, "a": 4, "b": 4, "c": 2, "d": 2, "e": 0}


@pytest.fixture
def draft() -> Draft:
    tree = from_edges(EDGES)
    return Draft.of(tree, [PERSONS[label] for label in tree.labels])


def parents(draft: Draft) -> dict[str, str | None]:
    tree = draft.tree()
    return {label: None if p < 0 else tree.labels[p] for label, p in zip(tree.labels, tree.parent.tolist(), strict=True)}


def counted(draft: Draft) -> dict[str, int]:
    return {draft.nodes.labels[node]: persons for node, persons in draft.nodes.persons.items()}


def test_edits_undo_and_redo(draft: Draft) -> None:
    node = draft.nodes.node_of
    before = parents(draft)
    assert before == dict(EDGES) and counted(draft) == PERSONS
    draft.rename(node["X"], "Z")
    renamed = parents(draft)
    assert renamed == {n: p for n, p in before.items() if n != "X"} | {"Z": "all", "a": "Z", "b": "Z"}
    assert counted(draft)["Z"] == 6, "a name changes no count"
    new = draft.group([node["b"], node["c"]], "G")
    assert parents(draft) == {**renamed, "G": "Z", "b": "G", "c": "G"}
    assert counted(draft) == {"a": 4, "b": 4, "c": 2, "d": 2, "e": 0}, "all above is to be counted anew"
    draft.undo()
    assert parents(draft) == renamed and counted(draft)["all"] == 6
    draft.redo()
    draft.group([], "empty")
    draft.count(Draft.of(draft.tree(), range(1, draft.tree().size + 1)))
    numbers = {label: n for n, label in enumerate(draft.tree().labels, 1)}
    assert counted(draft) == {**numbers, "empty": 0}
    draft.undo()
    draft.delete(new)
    assert parents(draft) == {**renamed, "c": "Z"}, "what was below a group goes to where it was"
    draft.delete(node["e"])
    assert "e" not in parents(draft)
    draft.undo()
    draft.undo()
    draft.move([node["Y"]], new)
    assert parents(draft)["Y"] == "G" and parents(draft)["d"] == "Y"
    at = draft.at
    draft.redo()
    assert draft.at == at, "what was undone before another edit is gone"


def test_groups_without_items_are_not_in_the_tree(draft: Draft) -> None:
    draft.group([], "empty")
    assert parents(draft) == dict(EDGES)
    draft.move([draft.nodes.node_of[item] for item in "cde"], draft.nodes.node_of["empty"])
    assert parents(draft)["c"] == "empty" and "Y" not in parents(draft)


def test_a_group_within_what_is_moved_keeps_its_items(draft: Draft) -> None:
    node = draft.nodes.node_of
    draft.move([node["X"], node["a"]], node["Y"])
    assert parents(draft) == {**dict(EDGES), "X": "Y"}


@pytest.mark.parametrize(
    "edit",
    [
        lambda d, n: d.rename(n["a"], "new"),
        lambda d, n: d.rename(n["X"], "Y"),
        lambda d, n: d.rename(n["X"], " "),
        lambda d, n: d.group([n["a"]], "b"),
        lambda d, n: d.group([0], "new"),
        lambda d, n: d.move([n["X"]], n["a"]),
        lambda d, n: d.move([n["X"]], n["X"]),
        lambda d, n: d.move([0], n["X"]),
        lambda d, n: d.move([], n["X"]),
        lambda d, n: d.delete(0),
        lambda d, n: d.delete(n["a"]),
    ],
)
def test_refusals_change_nothing(draft: Draft, edit: Callable[[Draft, dict[str, int]], None]) -> None:
    with pytest.raises(InputError) as refused:
        edit(draft, draft.nodes.node_of)
    assert refused.value.code == "bad_parameter" and refused.value.hint
    assert parents(draft) == dict(EDGES) and len(draft.states) == 1


def test_a_group_cannot_move_below_itself(draft: Draft) -> None:
    node = draft.nodes.node_of
    inner = draft.group([node["a"]], "inner")
    with pytest.raises(InputError):
        draft.move([node["X"]], inner)
