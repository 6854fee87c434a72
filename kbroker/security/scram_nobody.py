"""SCRAM credentials of users who do not exist: nobody should see that they do not.

A login begins with the user's salt and iterations, before any password. Who is unknown gets some, too, that
stay the same and look like those of the others: as long, of the same letters, with as many iterations.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Collection
from functools import lru_cache
from hashlib import pbkdf2_hmac, shake_256
from typing import NamedTuple

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_LETTERS = frozenset(_DIGITS.encode())
#: Kafka's tools take a number of so many bits, in base 36, for a salt.
_TEXT_BITS = 130
_STRETCH = 100_000


class Shape(NamedTuple):
    """What can be seen of a credential.

    Attributes:
        salt_bytes: 0 stands for a salt as Kafka's tools make them.
    """

    salt_bytes: int
    iterations: int


#: As `kbroker-admin users set` makes them.
USUAL = Shape(24, 4096)


def shape_of(salt: bytes, iterations: int) -> Shape:
    """That of a credential."""
    is_text = len(salt) >= 20 and _LETTERS.issuperset(salt)
    return Shape(0 if is_text else len(salt), iterations)


class Nobodies:
    """Makes them.

    Args:
        secret: who does not know it sees no difference to random salts.
        shapes: of the users of a mechanism.
    """

    def __init__(self, secret: bytes, shapes: Callable[[str], Collection[Shape]]) -> None:
        self._secret = secret
        self._shapes = shapes

    def salt(self, mechanism: str, user: str, shape: Shape = USUAL) -> bytes:
        """The salt of a user, of this shape."""
        seed = hmac.digest(self._secret, f"{mechanism}\0{user}".encode(), "sha256")
        if shape.salt_bytes:
            return shake_256(seed).digest(shape.salt_bytes)
        number = int.from_bytes(seed, "big") % (1 << _TEXT_BITS)
        text = ""
        while number:
            number, digit = divmod(number, 36)
            text = _DIGITS[digit] + text
        return text.encode()

    def shape(self, mechanism: str, user: str) -> Shape:
        """One of those that there are: the same for this user as long as it is there."""

        def weight(shape: Shape) -> bytes:
            return hmac.digest(self._secret, f"{mechanism}\0{user}\0{shape}".encode(), "sha256")

        return max(self._shapes(mechanism) or (USUAL,), key=weight)


@lru_cache(maxsize=4)
def shared_secret(text: str) -> bytes:
    """The same on all nodes that know `text`; guessing it by trial takes long."""
    return pbkdf2_hmac("sha256", text.encode(), b"kbroker: users who do not exist", _STRETCH)
