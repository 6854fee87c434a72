"""Files of keys."""

from base64 import b64encode

import pytest

from kbroker.protocol.sealed_batch import CannotOpen
from kbroker.security.data_keys import BadKeys, KeyRing, parse_key, parse_keys

KEY, OTHER = bytes(range(32)), b"x" * 32


def test_a_file_of_keys():
    text = f"# of 2026\n\nspring {b64encode(KEY).decode()}\n  autumn   {OTHER.hex()}  \n"
    assert parse_keys(text) == {"spring": KEY, "autumn": OTHER}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("lonely", "line 1 is not an id and a key"),
        ("a b c", "line 1 is not"),
        ("\na ????", "line 2: a key is neither"),
        (f"a {b64encode(KEY[:16]).decode()}", "16 bytes in place of 32"),
        (f"a {KEY.hex()}\na {OTHER.hex()}", "line 2: there is a key a already"),
        (f"a {'g' * 64}", "line 1: a key"),
    ],
)
def test_mistakes_are_told_without_what_is_secret(text, told):
    with pytest.raises(BadKeys, match=told) as problem:
        parse_keys(text)
    assert KEY.hex() not in str(problem.value)
    assert problem.value.__suppress_context__ or problem.value.__context__ is None


def test_a_key_as_a_command_prints_it():
    assert parse_key(f"{KEY.hex()}\n") == parse_key(b64encode(KEY).decode()) == KEY


def test_a_ring_keeps_what_it_has():
    ring = KeyRing({"a": KEY}, lambda key: key)
    ring.add("a", KEY)
    ring.add("b", OTHER)
    assert ring.ids == ["a", "b"]
    with pytest.raises(BadKeys, match="two keys of the id a"):
        ring.add("a", OTHER)
    assert ring.derived(b"a", b"1" * 16) != KEY
    for bad, key in (("", KEY), ("x" * 65, KEY), ("a b", KEY), ("c", KEY[:31])):
        with pytest.raises(BadKeys):
            ring.add(bad, key)
    with pytest.raises(CannotOpen):
        ring.check(b"c")
    assert KEY.hex() not in repr(ring)
    assert str(KEY) not in repr(ring)


def test_derived_keys_differ_by_key_and_salt_and_are_remembered():
    made = []
    ring = KeyRing({"a": KEY, "b": OTHER}, lambda key: made.append(key) or key)
    for _ in range(2):
        for key_id in (b"a", b"b"):
            for salt in (b"1" * 16, b"2" * 16):
                ring.derived(key_id, salt)
    assert len(made) == len(set(made)) == 4
    for at in range(3000):
        ring.derived(b"a", at.to_bytes(16, "big"))
    assert len(ring._derived) <= 1024


def test_hkdf_as_rfc_5869_has_it():
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    made = KeyRing({"a": KEY}, lambda key: key).derived(b"a", b"s" * 16)
    assert made == HKDF(SHA256(), 32, b"s" * 16, b"kbroker key of one sealer").derive(KEY)
