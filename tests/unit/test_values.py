"""Dataclasses that are quick to make do what those of Python do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import KW_ONLY, field
from typing import Any, ClassVar

import pytest

from anondb import values

Make = Callable[..., Any]


def plain(make: Make) -> Any:
    @make(frozen=True)
    class Point:
        """A point."""

        x: int
        y: float = 2.0
        kind: ClassVar[str] = "point"

    return Point


def checked(make: Make) -> Any:
    @make(frozen=True)
    class Checked:
        """With all kinds of fields."""

        x: int
        names: list[str] = field(default_factory=list, repr=False, compare=False)
        half: int = field(init=False)
        _: KW_ONLY
        y: float = 2.0

        def __post_init__(self) -> None:
            object.__setattr__(self, "half", self.x // 2)

    return Checked


def inherited(make: Make) -> Any:
    class Named(plain(make)):
        """Not a dataclass."""

    @make(frozen=True, eq=False, repr=False)
    class Third(Named):
        """Another default, and another field."""

        y: float = 3.0
        z: int = 4

    return Third


def extended(make: Make) -> Any:
    @dataclasses.dataclass(frozen=True)
    class Extended(checked(make)):
        """By whoever adds a model: with the function of Python."""

        z: int = 4

    return Extended


def own(make: Make) -> Any:
    @make(frozen=True, kw_only=True)
    class Own:
        """With methods of its own."""

        x: int = 1

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self))

    return Own


def empty(make: Make) -> Any:
    @make(frozen=True)
    class Empty:
        """Without fields."""

    return Empty


@pytest.mark.parametrize("kind", [plain, checked, inherited, extended, own, empty])
def test_a_quick_dataclass_is_like_one_of_python(kind: Callable[[Make], Any]) -> None:
    def seen(make: Make) -> list[Any]:
        cls = kind(make)
        arguments = {"x": 7} if "x" in inspect.signature(cls).parameters else {}
        value, same, other = cls(**arguments), cls(**arguments), cls(**dict.fromkeys(arguments, 8))
        with pytest.raises(dataclasses.FrozenInstanceError) as refused:
            value.x = 9
        return [
            repr(value).replace("<locals>.", ""),
            [value == same, value == other, value == 7, len({value, same, other}), hash(value) == hash(same)],
            str(inspect.signature(cls)).replace(repr(dataclasses.MISSING), "<factory>"),
            cls.__match_args__,
            [(f.name, f.default, f.init, f.repr, f.compare, f.kw_only) for f in dataclasses.fields(cls)],
            dataclasses.asdict(value),
            dataclasses.asdict(copy.deepcopy(value)),
            dataclasses.asdict(dataclasses.replace(value, **dict.fromkeys(arguments, 8))),
            str(refused.value),
            [getattr(cls, n, None) for n in ("x", "y", "z", "kind", "names")],
        ]

    assert seen(values.dataclass) == seen(dataclasses.dataclass)


def test_values_can_be_sent_to_another_process() -> None:
    from anondb.models.transactional import KmAnonymity

    assert pickle.loads(pickle.dumps(KmAnonymity(7, 3))) == KmAnonymity(7, 3)
    with pytest.raises(TypeError, match="unexpected keyword"):
        KmAnonymity(l=3)  # type: ignore[call-arg]
