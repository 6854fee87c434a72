"""Plain classes of named fields, as `dataclasses` makes them, made in a twentieth of the time.

The standard library writes and compiles `__init__` and more for every class while modules are imported: half
a millisecond each, and a broker has a hundred of them before it listens. Here the methods that compare and
show are common to all, and `__init__` is compiled when the first instance is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform

_T = TypeVar("_T")

#: What a class body leaves to its metaclass.
_OF_THE_OLD_CLASS = ("__dict__", "__weakref__")
_NOTHING = object()


class _Made:
    """Stands in a class body for a field whose value is made anew for each instance."""

    __slots__ = ("factory", "init")

    def __init__(self, factory: Callable[[], Any] | None, init: bool) -> None:
        self.factory = factory
        self.init = init


def made(*, default_factory: Callable[[], _T] | None = None, init: bool = True) -> Any:
    """A field with a value of its own in each instance; without `init` nobody gives it one.

    With neither, `__post_init__` has to set it.
    """
    return _Made(default_factory, init)


@dataclass_transform(field_specifiers=(made,))
def plain(*, eq: bool = True, frozen: bool = False, kw_only: bool = False) -> Callable[[type[_T]], type[_T]]:
    """A class with slots and an `__init__` for its annotated fields; those of base classes do not count.

    Args:
        eq: equal when all fields are; otherwise an instance equals only itself.
        frozen: nobody changes one (mypy minds that, not the interpreter), so that it has a hash.
        kw_only: `__init__` takes the fields by name only.
    """

    def make(old: type[_T]) -> type[_T]:
        names = tuple(old.__annotations__)
        body = {name: value for name, value in vars(old).items() if name not in _OF_THE_OLD_CLASS}
        defaults = {name: body.pop(name) for name in names if name in body}
        body["__slots__"] = body["__match_args__"] = names
        if eq:
            body.setdefault("__eq__", _equal)
            body["__hash__"] = _hash if frozen else None
        if old.__repr__ is object.__repr__:
            body["__repr__"] = _show

        def first_init(self: _T, *values: Any, **named: Any) -> None:
            init = _initializer(cls, names, defaults, kw_only)
            cls.__init__ = init  # type: ignore[method-assign]
            init(self, *values, **named)

        body["__init__"] = first_init
        metaclass: Any = type(old)
        cls: type[_T] = metaclass(old.__name__, old.__bases__, body)
        return cls

    return make


def _initializer(
    cls: type, names: tuple[str, ...], defaults: dict[str, Any], kw_only: bool
) -> Callable[..., None]:
    """`__init__` of a class."""
    arguments, lines = ["self", "*"] if kw_only else ["self"], []
    known: dict[str, Any] = {"_nothing": _NOTHING}
    for name in names:
        default = defaults.get(name, _NOTHING)
        value = name
        if isinstance(default, _Made):
            known[f"_make_{name}"] = default.factory
            if default.init:
                arguments.append(f"{name}=_nothing")
                value = f"_make_{name}() if {name} is _nothing else {name}"
            elif default.factory is not None:
                value = f"_make_{name}()"
            else:
                continue
        elif default is not _NOTHING:
            known[f"_default_{name}"] = default
            arguments.append(f"{name}=_default_{name}")
        else:
            arguments.append(name)
        lines.append(f" self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    exec(f"def __init__({', '.join(arguments)}):\n" + ("\n".join(lines) or " pass"), known)
    init: Callable[..., None] = known["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _fields(value: Any) -> tuple[Any, ...]:
    return tuple([getattr(value, name) for name in value.__match_args__])


def _equal(self: Any, other: object) -> bool:
    return _fields(self) == _fields(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_fields(self))


def _show(self: Any) -> str:
    fields = ", ".join(f"{name}={value!r}" for name, value in zip(self.__match_args__, _fields(self)))
    return f"{type(self).__qualname__}({fields})"


def as_dict(value: object) -> dict[str, Any]:
    """The fields of an instance of a plain class by name; what they hold is not copied."""
    return dict(zip(value.__match_args__, _fields(value)))  # type: ignore[attr-defined]


def replace(value: _T, **changes: Any) -> _T:
    """Another instance with other values for some of its fields."""
    return type(value)(**{**as_dict(value), **changes})
