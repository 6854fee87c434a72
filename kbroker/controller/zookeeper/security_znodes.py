"""Znodes of access control lists and delegation tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.values import INT64, Fields, ZnodeError, to_json
from kbroker.security.acl import Acl, Operation, PatternType, Permission, ResourceType


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


#: Kafka writes `TransactionalId`, `IdempotentWrite`, `Allow` where its enums say TRANSACTIONAL_ID and so on.
TYPE_NAMES = {kind: _camel(kind.name) for kind in ResourceType if kind > ResourceType.ANY}
_TYPES = {name: kind for kind, name in TYPE_NAMES.items()}
_OPERATION_NAMES = {operation: _camel(operation.name) for operation in Operation if operation > Operation.ANY}
_OPERATIONS = {name.upper(): operation for operation, name in _OPERATION_NAMES.items()}
_PERMISSION_NAMES = {Permission.ALLOW: "Allow", Permission.DENY: "Deny"}
_PERMISSIONS = {name.upper(): permission for permission, name in _PERMISSION_NAMES.items()}
NEWEST_TOKEN = 3


class AclPath(NamedTuple):
    """Which resources a list is about."""

    resource_type: ResourceType
    name: str
    pattern: PatternType

    @property
    def path(self) -> str:
        """Where the list is."""
        prefixed = self.pattern == PatternType.PREFIXED
        return paths.acl(TYPE_NAMES[self.resource_type], self.name, prefixed=prefixed)

    def change(self) -> tuple[str, bytes]:
        """The beginning of the path, and the text, of the notification that the list changed."""
        if self.pattern == PatternType.LITERAL:
            return paths.ACL_LITERAL_CHANGE, f"{self.resource_type.name}:{self.name}".encode()
        value = {
            "version": 1,
            "resourceType": self.resource_type.name,
            "name": self.name,
            "patternType": self.pattern.name,
        }
        return paths.ACL_PREFIXED_CHANGE, to_json(value)


def resource_type(path: str, name: str) -> ResourceType:
    """The kind of resource that a folder is for. Raises ZnodeError."""
    kind = _TYPES.get(name)
    if kind is None:
        raise ZnodeError(path, f"{name!r} is no kind of resource")
    return kind


def decode_acl_change(path: str, data: bytes) -> AclPath:
    """Whose list changed. Raises ZnodeError."""
    if path.startswith(paths.ACL_PREFIXED_CHANGES):
        fields, _ = Fields.parse(path, data, 1)
        kind, name, pattern = fields.text("resourceType"), fields.text("name"), fields.text("patternType")
    else:
        kind, _, name = data.decode(errors="replace").partition(":")
        pattern = "LITERAL"
    try:
        if not name:
            raise KeyError(name)
        return AclPath(ResourceType[kind.upper()], name, PatternType[pattern.upper()])
    except KeyError:
        raise ZnodeError(path, f"names {kind!r} {name!r} {pattern!r}, which is no resource") from None


def encode_acls(acls: Sequence[Acl]) -> bytes:
    """The list of one resource pattern."""
    listed = [
        {
            "principal": acl.principal,
            "permissionType": _PERMISSION_NAMES[Permission(acl.permission)],
            "host": acl.host,
            "operation": _OPERATION_NAMES[Operation(acl.operation)],
        }
        for acl in acls
    ]
    return to_json({"acls": listed, "version": 1})


def decode_acls(resource: AclPath, data: bytes | None) -> list[Acl]:
    """Raises ZnodeError."""
    if not data:
        return []
    path = resource.path
    fields, _ = Fields.parse(path, data, 1)
    return [_acl(resource, path, entry) for entry in fields.objects("acls")]


def _acl(resource: AclPath, path: str, entry: Fields) -> Acl:
    operation = _OPERATIONS.get(entry.text("operation").upper())
    permission = _PERMISSIONS.get(entry.text("permissionType").upper())
    if operation is None or permission is None:
        words = f"{entry.text('permissionType')} {entry.text('operation')}"
        raise ZnodeError(path, f"{words!r} is no permission that we know")
    return Acl(
        resource_type=resource.resource_type,
        name=resource.name,
        pattern=resource.pattern,
        principal=entry.text("principal"),
        host=entry.text("host"),
        operation=operation,
        permission=permission,
    )


class TokenZnode(NamedTuple):
    """/delegation_token/tokens/<id>; times in ms. The HMAC is made anew from the secret of the brokers."""

    token_id: str
    owner: str
    requester: str
    renewers: Sequence[str]
    issued: int
    latest: int
    expires: int

    def encode(self) -> bytes:
        """Version 3, with the requester apart from the owner (KIP-373)."""
        value: dict[str, Any] = {
            "issueTimestamp": self.issued,
            "renewers": [paths.sanitized(renewer) for renewer in self.renewers],
            "tokenRequester": paths.sanitized(self.requester),
            "tokenId": self.token_id,
            "owner": paths.sanitized(self.owner),
            "expiryTimestamp": self.expires,
            "maxTimestamp": self.latest,
            "version": NEWEST_TOKEN,
        }
        return to_json(value)

    @classmethod
    def decode(cls, path: str, data: bytes | None) -> TokenZnode:
        """Who owns it also asked for it before version 3. Raises ZnodeError."""
        fields, _ = Fields.parse(path, data, NEWEST_TOKEN)
        try:
            owner = paths.desanitized(fields.text("owner"))
            requester = paths.desanitized(fields.text("tokenRequester", fields.text("owner")))
            renewers = tuple(paths.desanitized(renewer) for renewer in fields.texts("renewers"))
        except UnicodeDecodeError:
            raise ZnodeError(path, "names somebody in what is not UTF-8") from None
        return cls(
            fields.text("tokenId"),
            owner,
            requester,
            renewers,
            fields.integer("issueTimestamp", largest=INT64),
            fields.integer("maxTimestamp", largest=INT64),
            fields.integer("expiryTimestamp", largest=INT64),
        )
