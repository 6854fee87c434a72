"""Reading what is configured: configs, quotas, SCRAM users, access control lists, delegation tokens.

Each function takes one entity, so that a driver can read again what a notification names. All but the
listing ones raise ZnodeError where the znode makes no sense.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import TYPE_CHECKING

from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.config_znodes import (
    QUOTA_KEYS,
    SCRAM_MECHANISMS,
    decode_configs,
    quota_value,
    scram_fields,
)
from kbroker.controller.zookeeper.security_znodes import AclPath, TokenZnode, decode_acls, resource_type
from kbroker.controller.zookeeper.values import ZnodeError
from kbroker.metadata.image import CONFIG_BROKER, QuotaEntity
from kbroker.protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kbroker.protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.protocol.generated.delegation_token_record import DelegationTokenRecord
from kbroker.protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kbroker.security.acl import Acl, PatternType
from kbroker.types import Uuid

if TYPE_CHECKING:
    from kbroker.controller.zookeeper.tree import Tree


def made_id(*parts: str) -> Uuid:
    """An id for what has none in ZooKeeper: the same for the same parts."""
    return sha256("\0".join(parts).encode()).digest()[:16]


def config_resources(tree: Tree) -> Iterator[tuple[int, str]]:
    """Type and name of everything that has configs; broker "" is the default of all brokers."""
    for number, folder in paths.CONFIG_FOLDERS.items():
        for name in tree.children(f"{paths.CONFIG}/{folder}"):
            yield number, "" if name == paths.DEFAULT and number == CONFIG_BROKER else name


def config_records(tree: Tree, number: int, name: str) -> Iterable[ConfigRecord]:
    """All configs of a resource."""
    path = f"{paths.CONFIG}/{paths.config_entity(number, name)}"
    for key, value in decode_configs(path, tree.data(path)).items():
        yield ConfigRecord(resource_type=number, resource_name=name, name=key, value=value)


def users(tree: Tree) -> Iterator[str]:
    """Path names of the users that have a znode of their own."""
    yield from tree.children(f"{paths.CONFIG}/users")


def quota_entities(tree: Tree) -> Iterator[str]:
    """Whatever may have quotas, as notifications name it."""
    for user in users(tree):
        yield f"users/{user}"
        for client in tree.children(f"{paths.CONFIG}/users/{user}/clients"):
            yield f"users/{user}/clients/{client}"
    for folder in ("clients", "ips"):
        for name in tree.children(f"{paths.CONFIG}/{folder}"):
            yield f"{folder}/{name}"


def quota_entity(text: str) -> QuotaEntity:
    """Whom a notification names: the inverse of `paths.quota_entity`. Raises ZnodeError."""
    parts = text.split("/")
    if len(parts) == 2 and parts[0] == "ips":
        return (("ip", None if parts[1] == paths.DEFAULT else parts[1]),)
    kinds = {"users": "user", "clients": "client-id"}
    if len(parts) not in (2, 4) or any(kind not in kinds for kind in parts[::2]) or parts[2:3] == ["users"]:
        raise ZnodeError(f"{paths.CONFIG}/{text}", "is no entity with quotas")
    try:
        entity = [
            (kinds[kind], None if name == paths.DEFAULT else paths.desanitized(name))
            for kind, name in zip(parts[::2], parts[1::2])
        ]
    except UnicodeDecodeError:
        raise ZnodeError(f"{paths.CONFIG}/{text}", "is not the code of a name") from None
    return tuple(sorted(entity))


def quota_records(tree: Tree, text: str) -> Iterable[ClientQuotaRecord]:
    """All quotas of one entity, as notifications name it. Keys that are none are skipped."""
    path = f"{paths.CONFIG}/{text}"
    entity = quota_entity(text)
    for key, value in decode_configs(path, tree.data(path)).items():
        if key in QUOTA_KEYS:
            yield ClientQuotaRecord(
                entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
                key=key,
                value=quota_value(path, key, value),
                remove=False,
            )


def scram_records(tree: Tree, user: str) -> Iterable[UserScramCredentialRecord]:
    """The credentials of a user, by its name in paths."""
    path = f"{paths.CONFIG}/users/{user}"
    for key, value in decode_configs(path, tree.data(path)).items():
        mechanism = SCRAM_MECHANISMS.get(key)
        if mechanism is not None and user != paths.DEFAULT:
            name = dict(quota_entity(f"users/{user}"))["user"]
            yield UserScramCredentialRecord(
                name=name or "", mechanism=mechanism, **scram_fields(path, key, value)
            )


def acl_folders(tree: Tree) -> Iterator[tuple[str, str, PatternType]]:
    """The folders of access control lists, with the kind of resource and of pattern."""
    for root, pattern in (
        (paths.ACL_LITERAL, PatternType.LITERAL),
        (paths.ACL_PREFIXED, PatternType.PREFIXED),
    ):
        for type_name in tree.children(root):
            yield f"{root}/{type_name}", type_name, pattern


def acl_records(
    tree: Tree, type_name: str, name: str, pattern: PatternType
) -> Iterable[AccessControlEntryRecord]:
    """The list of one resource pattern."""
    resource = AclPath(resource_type(f"{paths.ACL_LITERAL}/{type_name}", type_name), name, pattern)
    for acl in decode_acls(resource, tree.data(resource.path)):
        yield AccessControlEntryRecord(
            id=acl_id(acl),
            resource_type=int(acl.resource_type),
            resource_name=acl.name,
            pattern_type=int(acl.pattern),
            principal=acl.principal,
            host=acl.host,
            operation=int(acl.operation),
            permission_type=int(acl.permission),
        )


def acl_id(acl: Acl) -> Uuid:
    """ZooKeeper knows an entry by what it says."""
    return made_id("acl", *(part if isinstance(part, str) else str(int(part)) for part in acl))


def token_records(tree: Tree, token_id: str) -> Iterable[DelegationTokenRecord]:
    """One delegation token."""
    path = paths.token(token_id)
    data = tree.data(path)
    if data is None:
        return
    token = TokenZnode.decode(path, data)
    yield DelegationTokenRecord(
        owner=token.owner,
        requester=token.requester,
        renewers=list(token.renewers),
        issue_timestamp=token.issued,
        max_timestamp=token.latest,
        expiration_timestamp=token.expires,
        token_id=token.token_id,
    )
