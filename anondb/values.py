"""Frozen dataclasses as those of Python, of which a class takes a fifth of the time to make.

Python writes and compiles six methods for each of them, which took a seventh of the time of a command: it makes a hundred or
two. Here all share five, and ``__init__`` is written when it is asked for: most classes of a command make no value.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import KW_ONLY, MISSING, asdict, field, fields, replace
from inspect import get_annotations
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, NoReturn

# the others are those of Python
__all__ = ["KW_ONLY", "MISSING", "asdict", "dataclass", "field", "fields", "replace"]

_FROZEN: Any = dataclasses.make_dataclass("_FROZEN", (), frozen=True)


def _made(*, frozen: bool = False, eq: bool = True, repr: bool = True, kw_only: bool = False) -> Callable[[Any], Any]:
    if not frozen:
        return dataclasses.dataclass(eq=eq, repr=repr, kw_only=kw_only)

    def make(cls: Any) -> Any:
        _set_fields(cls, kw_only)
        shared: dict[str, Any] = {"__init__": _Init(cls), "__setattr__": _refuse, "__delattr__": _refuse}
        shared["__match_args__"] = tuple(f.name for f in fields(cls) if f.init and not f.kw_only)
        if repr:
            cls.__fields_shown__ = tuple(f.name for f in fields(cls) if f.repr)
            shared["__repr__"] = _repr
        if eq:
            names = [f.name for f in fields(cls) if f.compare]
            several = len(names) > 1  # of which attrgetter makes a tuple
            cls.__fields_compared__ = staticmethod(
                attrgetter(*names) if several else lambda one: [getattr(one, n) for n in names]
            )
            shared |= {"__eq__": _eq, "__hash__": _hash}
        for name, method in shared.items():
            if vars(cls).get(name) is None:
                setattr(cls, name, method)
        return cls

    return make


def _set_fields(cls: Any, kw_only: bool) -> None:
    """Find the fields of a class, as Python does in one without bases, and give it their defaults."""
    types, known = get_annotations(cls), dict[str, Any]()
    body = {name: vars(cls)[name] for name in types if name in vars(cls)}
    body |= {"__annotations__": types, "__module__": cls.__module__, "__doc__": "The fields."}
    alone: Any = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(type(cls.__name__, (), body))
    for parent in cls.__mro__[:0:-1]:
        known |= getattr(parent, "__dataclass_fields__", {})
    cls.__dataclass_fields__ = known | alone.__dataclass_fields__
    cls.__dataclass_params__ = _FROZEN.__dataclass_params__  # asked by those that inherit
    for name, own in alone.__dataclass_fields__.items():
        if isinstance(vars(cls).get(name), dataclasses.Field):
            if own.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, own.default)


class _Init:
    """The method ``__init__`` of a class, which the function takes the place of."""

    def __init__(self, cls: Any) -> None:
        self._cls = cls

    def __get__(self, value: Any, owner: type) -> Any:
        self._cls.__init__ = _init(self._cls)
        return self._cls.__init__.__get__(value, owner)


def _init(cls: Any) -> Callable[..., None]:
    """The function ``__init__`` of a class."""
    arguments: dict[bool, list[str]] = {False: ["self"], True: ["*"]}
    lines, given = ["pass"], {"_set": object.__setattr__, "_missing": MISSING}
    all_fields = fields(cls)
    for f in all_fields:
        name, value = f.name, f.name
        made = f.default_factory is not MISSING
        if made:
            given[f"_make_{name}"] = f.default_factory
            value = f"_make_{name}() if {name} is _missing else {name}" if f.init else f"_make_{name}()"
        if f.init:
            given[f"_default_{name}"] = f.default
            default = "" if f.default is MISSING and not made else f"=_default_{name}"
            arguments[bool(f.kw_only)].append(name + default)
        if f.init or made:
            lines.append(f"_set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    taken = ", ".join([*arguments[False], *(arguments[True] if len(arguments[True]) > 1 else ())])
    exec(f"def __init__({taken}):\n " + "\n ".join(lines), given)
    init: Any = given["__init__"]
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    init.__annotations__ = {f.name: f.type for f in all_fields if f.init} | {"return": None}
    return init  # type: ignore[no-any-return]


@recursive_repr()
def _repr(self: Any) -> str:
    values = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__fields_shown__)
    return f"{type(self).__qualname__}({values})"


def _eq(self: Any, other: Any) -> Any:
    return (
        self.__fields_compared__(self) == self.__fields_compared__(other)
        if other.__class__ is self.__class__
        else NotImplemented
    )


def _hash(self: Any) -> int:
    return hash(tuple(self.__fields_compared__(self)))


def _refuse(self: Any, name: str, value: Any = None) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: Any = None, /, **how: bool) -> Any:
        """Make a dataclass, as the function of this name in Python does: ``frozen``, ``eq``, ``repr`` and ``kw_only``."""
        return _made(**how) if cls is None else _made(**how)(cls)
