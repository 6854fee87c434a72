"""All ACLs of a cluster, arranged so that a decision looks at few of them.

Entries are found by resource, then by principal: ten thousand ACLs on one topic cost a decision no more than
ten. Prefixes are tried by the lengths that there are. Adding and removing an entry touches that entry alone
(CVE-2024-27309: removing one must not hide another).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kbroker.security.acl import (
    ALLOWING,
    DENYING,
    WILDCARD,
    WILDCARD_PRINCIPAL,
    Acl,
    Operation,
    PatternType,
    Permission,
)
from kbroker.security.acl_hosts import SLASH, address_of, network_of

#: Entries of one principal on one resource: host -> (operations allowed, operations denied), each operation
#: with the number of entries that say so, as the same may be said twice.
_Hosts = dict[str, tuple[dict[int, int], dict[int, int]]]


class _Resource:
    """What is said of one pattern: principal -> host -> operations."""

    __slots__ = ("count", "networks", "principals")

    def __init__(self) -> None:
        self.count = 0
        #: How many entries have a network for host.
        self.networks = 0
        self.principals: dict[str, _Hosts] = {}

    def add(self, acl: Acl) -> None:
        hosts = self.principals.setdefault(acl.principal, {})
        both = hosts.get(acl.host)
        if both is None:
            both = hosts[acl.host] = ({}, {})
        counts = both[acl.permission == Permission.DENY]
        counts[acl.operation] = counts.get(acl.operation, 0) + 1
        self.count += 1
        self.networks += SLASH in acl.host

    def remove(self, acl: Acl) -> None:
        hosts = self.principals[acl.principal]
        both = hosts[acl.host]
        counts = both[acl.permission == Permission.DENY]
        counts[acl.operation] -= 1
        if not counts[acl.operation]:
            del counts[acl.operation]
        if not both[0] and not both[1]:
            del hosts[acl.host]
            if not hosts:
                del self.principals[acl.principal]
        self.count -= 1
        self.networks -= SLASH in acl.host

    def said(self, principal: str, host: str) -> tuple[int, int]:
        """Bit fields of the operations allowed and denied to that principal from that host."""
        allowed = denied = 0
        for each in (principal, WILDCARD_PRINCIPAL) if principal != WILDCARD_PRINCIPAL else (principal,):
            hosts = self.principals.get(each)
            if hosts is None:
                continue
            places = (host, WILDCARD) if host != WILDCARD else (host,)
            for where in (*places, *_networks(hosts, host)) if self.networks else places:
                both = hosts.get(where)
                if both is not None:
                    for operation in both[0]:
                        allowed |= 1 << operation
                    for operation in both[1]:
                        denied |= 1 << operation
        return allowed, denied


def _networks(hosts: _Hosts, host: str) -> Iterator[str]:
    """Those of the hosts that are networks with that address in them."""
    address = address_of(host)
    if address is not None:
        for each in hosts:
            network = network_of(each) if SLASH in each else None
            if network is not None and address in network:
                yield each


class AclIndex:
    """The entries in force.

    Args:
        acls: to begin with.
    """

    def __init__(self, acls: Iterable[Acl] = ()) -> None:
        self._literal: dict[tuple[int, str], _Resource] = {}
        self._prefixed: dict[tuple[int, str], _Resource] = {}
        #: By resource type: how many prefixes of each length there are.
        self._lengths: dict[int, dict[int, int]] = {}
        for acl in acls:
            self.add(acl)

    def add(self, acl: Acl) -> None:
        """One more; the same may come twice, and goes away as often."""
        key = acl.resource_type, acl.name
        table = self._prefixed if acl.pattern == PatternType.PREFIXED else self._literal
        resource = table.get(key)
        if resource is None:
            resource = table[key] = _Resource()
            if table is self._prefixed:
                lengths = self._lengths.setdefault(acl.resource_type, {})
                lengths[len(acl.name)] = lengths.get(len(acl.name), 0) + 1
        resource.add(acl)

    def remove(self, acl: Acl) -> None:
        """One less. It must be there."""
        key = acl.resource_type, acl.name
        table = self._prefixed if acl.pattern == PatternType.PREFIXED else self._literal
        resource = table[key]
        resource.remove(acl)
        if resource.count:
            return
        del table[key]
        if table is self._prefixed:
            lengths = self._lengths[acl.resource_type]
            lengths[len(acl.name)] -= 1
            if not lengths[len(acl.name)]:
                del lengths[len(acl.name)]

    def decide(self, principal: str, host: str, operation: int, resource_type: int, name: str) -> bool | None:
        """Whether it is allowed; None: there is no ACL on the resource at all, for nobody."""
        found = allowed = denied = False
        for resource in self._covering(resource_type, name):
            found = True
            may, may_not = resource.said(principal, host)
            denied = denied or bool(may_not & DENYING[operation])
            allowed = allowed or bool(may & ALLOWING[operation])
        return (allowed and not denied) if found else None

    def allows_some(self, principal: str, host: str, operation: int, resource_type: int) -> bool:
        """Whether an ACL allows it on at least one name that no ACL denies altogether.

        Implied operations do not count here, as in Kafka.
        """
        wanted = 1 << operation | 1 << Operation.ALL
        allowed: list[tuple[bool, str]] = []
        literals: set[str] = set()
        prefixes: set[str] = set()
        for table, names in ((self._literal, literals), (self._prefixed, prefixes)):
            for (kind, name), resource in table.items():
                if kind != resource_type:
                    continue
                may, may_not = resource.said(principal, host)
                if may_not & wanted:
                    names.add(name)
                if may & wanted:
                    allowed.append((table is self._prefixed, name))
        if WILDCARD in literals:
            return False
        return any(
            (is_prefix or name == WILDCARD or name not in literals)
            and ((name == WILDCARD and not is_prefix) or not _has_prefix(name, prefixes))
            for is_prefix, name in allowed
        )

    def _covering(self, resource_type: int, name: str) -> Iterator[_Resource]:
        resource = self._literal.get((resource_type, name))
        if resource is not None:
            yield resource
        if name != WILDCARD:
            resource = self._literal.get((resource_type, WILDCARD))
            if resource is not None:
                yield resource
        for length in self._lengths.get(resource_type, ()):
            if length <= len(name):
                resource = self._prefixed.get((resource_type, name[:length]))
                if resource is not None:
                    yield resource


def _has_prefix(name: str, prefixes: set[str]) -> bool:
    return bool(prefixes) and any(name[:end] in prefixes for end in range(1, len(name) + 1))
