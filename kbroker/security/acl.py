"""Kafka's access control lists: their vocabulary, what may be created, what a filter finds.

Numbers are those of the wire and of `AccessControlEntryRecord`. All of it is pure.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple, Protocol, TypeVar

from kbroker.security.acl_hosts import SLASH, NoNetwork, check_network


class _Number(IntEnum):
    """Hashes like its number: decisions are found by it, and the standard hash costs ten times more."""

    __hash__ = int.__hash__


N = TypeVar("N", bound=_Number)


class ResourceType(_Number):
    """What an ACL is about. ANY is for filters."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(_Number):
    """How an ACL's resource name is meant. ANY and MATCH are for filters (KIP-290)."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Operation(_Number):
    """What somebody wants to do. ANY is for filters, ALL stands for every other one."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class Permission(_Number):
    """Whether an ACL gives or takes. ANY is for filters."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


#: The only name of the CLUSTER resource.
CLUSTER_NAME = "kafka-cluster"
WILDCARD = "*"
WILDCARD_PRINCIPAL = "User:*"

#: What can be done to a kind of resource, as the bit fields of authorized operations list it (KIP-430).
SUPPORTED: dict[ResourceType, tuple[Operation, ...]] = {
    ResourceType.TOPIC: (
        Operation.READ,
        Operation.WRITE,
        Operation.CREATE,
        Operation.DELETE,
        Operation.ALTER,
        Operation.DESCRIBE,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
    ),
    ResourceType.GROUP: (
        Operation.READ,
        Operation.DELETE,
        Operation.DESCRIBE,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
    ),
    ResourceType.CLUSTER: (
        Operation.CREATE,
        Operation.ALTER,
        Operation.DESCRIBE,
        Operation.CLUSTER_ACTION,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
        Operation.IDEMPOTENT_WRITE,
    ),
}

#: Who may do one of these may also do the key; a DENY implies nothing.
IMPLIED_BY: dict[Operation, tuple[Operation, ...]] = {
    Operation.DESCRIBE: (Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER),
    Operation.DESCRIBE_CONFIGS: (Operation.ALTER_CONFIGS,),
}

_ALL = 1 << Operation.ALL
#: The operations of an ALLOW that permit an operation, and those of a DENY that forbid it, as bit fields.
ALLOWING: dict[int, int] = {
    op: _ALL | 1 << op | sum(1 << each for each in IMPLIED_BY.get(op, ())) for op in Operation
}
DENYING: dict[int, int] = {op: _ALL | 1 << op for op in Operation}


class AclFields(Protocol):
    """An `AccessControlEntryRecord`."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


class Acl(NamedTuple):
    """One entry: who (`User:name`) may or may not do what to which resource, from where (address or `*`)."""

    resource_type: int
    name: str
    pattern: int
    principal: str
    host: str
    operation: int
    permission: int

    @classmethod
    def of(cls, record: AclFields) -> Acl:
        """What a record says."""
        return cls(
            record.resource_type,
            record.resource_name,
            record.pattern_type,
            record.principal,
            record.host,
            record.operation,
            record.permission_type,
        )

    def covers(self, resource_type: int, name: str) -> bool:
        """Whether it is about that resource."""
        if self.resource_type != resource_type:
            return False
        if self.pattern == PatternType.PREFIXED:
            return name.startswith(self.name)
        return self.name in (name, WILDCARD)


def _is_one_of(kind: type[IntEnum], number: int) -> bool:
    return number in kind._value2member_map_


class AclFilter(NamedTuple):
    """Which entries are meant; None and ANY fit everything."""

    resource_type: int = ResourceType.ANY
    name: str | None = None
    pattern: int = PatternType.ANY
    principal: str | None = None
    host: str | None = None
    operation: int = Operation.ANY
    permission: int = Permission.ANY

    @property
    def is_unknown(self) -> bool:
        """Whether it has UNKNOWN parts, which no request may have."""
        return 0 in (self.resource_type, self.pattern, self.operation, self.permission)

    @property
    def problem(self) -> str | None:
        """Kafka's words for numbers that nobody knows; None if there are none."""
        if not (_is_one_of(ResourceType, self.resource_type) and _is_one_of(PatternType, self.pattern)):
            return "Unknown patternFilter."
        if not (_is_one_of(Operation, self.operation) and _is_one_of(Permission, self.permission)):
            return "Unknown entryFilter."
        return None

    def fits(self, acl: Acl) -> bool:
        """Whether `acl` is one of those meant."""
        return (
            self.resource_type in (ResourceType.ANY, acl.resource_type)
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.operation in (Operation.ANY, acl.operation)
            and self.permission in (Permission.ANY, acl.permission)
            and self._fits_name(acl)
        )

    def _fits_name(self, acl: Acl) -> bool:
        if self.pattern not in (PatternType.ANY, PatternType.MATCH, acl.pattern):
            return False
        if self.name is None or self.name == acl.name:
            return True
        return self.pattern == PatternType.MATCH and acl.covers(acl.resource_type, self.name)


def is_for_filters(acl: Acl) -> bool:
    """Whether a part is ANY or MATCH, which an entry cannot be but filters can."""
    return (
        acl.resource_type == ResourceType.ANY
        or acl.pattern in (PatternType.ANY, PatternType.MATCH)
        or acl.operation == Operation.ANY
        or acl.permission == Permission.ANY
    )


def creation_problem(acl: Acl) -> str | None:
    """Kafka's words for why an entry cannot be created; None: it can.

    Names of topics and groups, and whether the operation makes sense are not looked at, as in Kafka. Of hosts
    `network_problem` tells more.
    """
    if acl.resource_type == ResourceType.CLUSTER and acl.name != CLUSTER_NAME:
        return f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}"
    if not acl.name:
        return "Invalid empty resource name"
    kind = _member(ResourceType, acl.resource_type)
    if kind in (ResourceType.UNKNOWN, ResourceType.ANY):
        return f"Invalid resourceType {kind.name}"
    pattern = _member(PatternType, acl.pattern)
    if pattern not in (PatternType.LITERAL, PatternType.PREFIXED):
        return f"Invalid patternType {pattern.name}"
    operation = _member(Operation, acl.operation)
    if operation in (Operation.UNKNOWN, Operation.ANY):
        return f"Invalid operation {operation.name}"
    permission = _member(Permission, acl.permission)
    if permission not in (Permission.DENY, Permission.ALLOW):
        return f"Invalid permissionType {permission.name}"
    if ":" not in acl.principal:
        return (
            f"Could not parse principal from `{acl.principal}` (no colon is present separating the principal "
            "type from the principal name)"
        )
    if not acl.host:
        return "Host pattern cannot be null or empty"
    return None


def network_problem(acl: Acl) -> str | None:
    """Kafka's words for a host that should be a network and is none; None: it is one, or need not be."""
    if SLASH not in acl.host:
        return None
    try:
        check_network(acl.host)
    except NoNetwork as error:
        return f"Invalid CIDR notation '{acl.host}': {error}"
    return None


def _member(kind: type[N], number: int) -> N:
    try:
        return kind(number)
    except ValueError:
        return kind(0)
