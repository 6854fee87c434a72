"""The port of those who decide what somebody may do, the one that decides by Kafka's ACLs, and their order.

`Chain` is what the rest of the broker asks: super users first, then each authorizer in the configured order
until one has an opinion; who is allowed by nobody is denied. Its decisions are kept, so that asking again
costs a look into a dictionary.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from kbroker.errors import ConfigError
from kbroker.security.acl import WILDCARD, Acl, AclFields
from kbroker.security.acl_index import AclIndex
from kbroker.types import Uuid

#: Decisions kept; then all are forgotten and found anew.
DECISIONS_MAX = 50_000


class Question(NamedTuple):
    """Whether `principal` (`User:name`) may, from an address, do something to a resource (numbers: acl.py).

    The name `*` in `any_name` questions stands for "at least one resource of that type".
    """

    principal: str
    host: str
    operation: int
    resource_type: int
    name: str
    any_name: bool = False


class Undecided(Exception):
    """Somebody outside has to be asked first; then the whole request is begun anew.

    Args:
        questions: what to ask.
    """

    def __init__(self, questions: Sequence[Question]) -> None:
        super().__init__(f"{len(questions)} questions")
        self.questions = questions


class Authorizer(Protocol):
    """Who may decide."""

    def decide(self, question: Question) -> bool | None:
        """Allowed, denied, or None: no opinion.

        Raises:
            Undecided: the answer is not known here yet.
        """
        ...


class AclAuthorizer:
    """Kafka's StandardAuthorizer: denied if one entry denies, allowed if one allows, else denied.

    Args:
        allow_without_acl: `allow.everyone.if.no.acl.found`.
    """

    def __init__(self, *, allow_without_acl: bool = False) -> None:
        self._allow_without_acl = allow_without_acl
        self._known: Mapping[Uuid, AclFields] = {}
        self._index = AclIndex()

    def update(self, acls: Mapping[Uuid, AclFields], changed: Iterable[Uuid]) -> None:
        """The entries are these now.

        Args:
            changed: ids of those that came, changed or went since the last time.
        """
        old, index = self._known, self._index
        for key in changed:
            before, after = old.get(key), acls.get(key)
            if before is not None:
                index.remove(Acl.of(before))
            if after is not None:
                index.add(Acl.of(after))
        self._known = acls

    def decide(self, question: Question) -> bool:
        """See `Authorizer.decide`."""
        principal, host, operation, resource_type, name, any_name = question
        if any_name:
            return self._decide(principal, host, operation, resource_type, "hardcode") or (
                self._index.allows_some(principal, host, operation, resource_type)
            )
        return self._decide(principal, host, operation, resource_type, name)

    def _decide(self, principal: str, host: str, operation: int, resource_type: int, name: str) -> bool:
        decision = self._index.decide(principal, host, operation, resource_type, name)
        return self._allow_without_acl if decision is None else decision


class Chain:
    """Super users, then authorizers in order.

    Args:
        authorizers: who decides.
        super_users: who may do everything, as `User:name`.
    """

    def __init__(self, authorizers: Sequence[Authorizer], super_users: Iterable[str] = ()) -> None:
        self._authorizers = tuple(authorizers)
        self._super_users = frozenset(super_users)
        self._decisions: dict[Question, bool] = {}

    def forget(self) -> None:
        """What decisions rest on has changed."""
        self._decisions.clear()

    def allows(self, question: Question) -> bool:
        """The decision.

        Raises:
            Undecided: somebody has to be asked first.
        """
        decision = self._decisions.get(question)
        if decision is None:
            decision = self._find(question)
            if len(self._decisions) >= DECISIONS_MAX:
                self._decisions.clear()
            self._decisions[question] = decision
        return decision

    def _find(self, question: Question) -> bool:
        if question.principal in self._super_users:
            return True
        for authorizer in self._authorizers:
            decision = authorizer.decide(question)
            if decision is not None:
                return decision
        return False


def parse_super_users(text: str) -> list[str]:
    """`super.users`: `Type:name` separated by semicolons.

    Raises:
        ConfigError: an item has no type or no name.
    """
    users = [each.strip() for each in text.split(";") if each.strip()]
    for user in users:
        kind, colon, name = user.partition(":")
        if not kind or not colon or not name:
            raise ConfigError(f"super.users: {user!r} is no principal; write User:{user.strip(':')}")
    return users


def any_of(principal: str, host: str, operation: int, resource_type: int) -> Question:
    """Whether it is allowed on at least one resource of the type (KIP-679)."""
    return Question(principal, host, operation, resource_type, WILDCARD, any_name=True)
