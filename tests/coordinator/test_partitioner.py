import pytest

from kbroker.coordinator.partitioner import java_hash, partition_for


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("polygenelubricants", -(2**31)),
        ("Ünïcödé", None),
        ("\U0001f600", 1772899),
    ],
)
def test_hash_is_that_of_java_strings(text, expected):
    if expected is None:
        units = text.encode("utf-16-be")
        value = 0
        for i in range(0, len(units), 2):
            value = value * 31 + int.from_bytes(units[i : i + 2], "big")
        expected = (value + 2**31) % 2**32 - 2**31
    assert java_hash(text) == expected


def test_the_hash_without_absolute_value_goes_to_partition_0():
    assert partition_for("polygenelubricants", 50) == 0


def test_negative_hashes_count_by_absolute_value():
    text = next(text for text in map("group-{}".format, range(1_000)) if java_hash(text) < 0)
    assert partition_for(text, 50) == -java_hash(text) % 50
