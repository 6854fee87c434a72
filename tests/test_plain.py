"""Plain classes (kbroker/plain.py)."""

from __future__ import annotations

import pytest

from kbroker.plain import as_dict, made, plain, replace


@plain()
class _Point:
    """A point."""

    x: int
    y: int = 2
    names: list[str] = made(default_factory=list)
    seen: int = made(init=False)

    def __post_init__(self) -> None:
        self.seen = self.x


@plain(frozen=True, kw_only=True)
class _Key:
    name: str = "a"
    number: int


@plain(eq=False)
class _Thing:
    size: int = 0


def test_fields_take_values_defaults_and_what_is_made_for_them():
    point, other = _Point(1), _Point(1, y=5, names=["n"])
    assert (point.x, point.y, point.names, point.seen) == (1, 2, [], 1)
    assert (other.y, other.names) == (5, ["n"])
    assert _Point(1).names is not point.names
    assert _Point.__doc__ == "A point."


def test_wrong_arguments_are_refused_before_and_after_the_first_instance():
    for _ in range(2):
        with pytest.raises(TypeError, match="__init__"):
            _Thing(1, 2)
        with pytest.raises(TypeError):
            _Key("a", 1)
    with pytest.raises(AttributeError):
        _Thing().weight = 1


def test_equal_by_fields_or_by_identity():
    assert _Point(1) == _Point(1) != _Point(2)
    assert _Key(number=1) == _Key(number=1)
    assert len({_Key(number=1), _Key(number=1), _Key(number=2)}) == 2
    assert _Thing() != _Thing()
    with pytest.raises(TypeError):
        hash(_Point(1))


def test_shown_by_fields():
    assert repr(_Key(number=3)) == "_Key(name='a', number=3)"
    assert repr(_Thing(4)) == "_Thing(size=4)"


def test_copied_with_changes():
    assert replace(_Key(number=1), name="b") == _Key(name="b", number=1)
    assert as_dict(_Key(number=1)) == {"name": "a", "number": 1}


def test_a_class_body_may_have_more_than_fields():
    @plain()
    class Half:
        size: int = 4

        @property
        def half(self) -> int:
            return self.size // 2

    assert Half().half == 2
    assert Half(2).__match_args__ == ("size",)
