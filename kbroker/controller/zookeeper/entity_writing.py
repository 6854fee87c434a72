"""Writing what is configured: configs, quotas with SCRAM users, access control lists, delegation tokens.

Each write is followed by the notification by which brokers hear of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.config_znodes import (
    QUOTA_KEYS,
    SCRAM_KEYS,
    SCRAM_MECHANISMS,
    decode_configs,
    encode_change,
    encode_configs,
    quota_text,
    scram_text,
)
from kbroker.controller.zookeeper.entities import acl_id
from kbroker.controller.zookeeper.security_znodes import AclPath, TokenZnode, decode_acls, encode_acls
from kbroker.metadata.image import CONFIG_BROKER, CONFIG_TOPIC, ClusterImage, QuotaEntity
from kbroker.security.acl import Acl, PatternType, ResourceType

if TYPE_CHECKING:
    from kbroker.controller.zookeeper.draft import Draft
    from kbroker.types import Uuid

_USER_KEYS = QUOTA_KEYS | SCRAM_MECHANISMS.keys()


def write_configs(draft: Draft, image: ClusterImage, number: int, name: str, *, notify: bool = True) -> None:
    """All configs of a resource. Those of topics and brokers stay when they are empty, as in Kafka."""
    entity = paths.config_entity(number, name)
    path = f"{paths.CONFIG}/{entity}"
    configs = image.config(number, name)
    if configs or number in (CONFIG_TOPIC, CONFIG_BROKER):
        draft.put(path, encode_configs(_merged(decode_configs(path, draft.data(path)), configs)))
    else:
        draft.delete(path)
    if notify:
        draft.notify(paths.CONFIG_CHANGE, encode_change(entity))


def _merged(
    old: Mapping[str, str], new: Mapping[str, str], owned: Collection[str] | None = None
) -> dict[str, str]:
    """`new`, in the order of `old`. Keys of `old` stay where they are not `owned` (None: all are)."""
    merged = {}
    for key, value in old.items():
        if key in new:
            merged[key] = new[key]
        elif owned is not None and key not in owned:
            merged[key] = value
    return merged | dict(new)


def write_quotas(draft: Draft, image: ClusterImage, entity: QuotaEntity) -> None:
    """All quotas of an entity; those of a user stand beside its SCRAM credentials.

    Who has none goes, with the folders that held nothing else.
    """
    text = paths.quota_entity(entity)
    path = f"{paths.CONFIG}/{text}"
    wanted = {key: quota_text(key, value) for key, value in image.quotas.get(entity, {}).items()}
    parts = dict(entity)
    user = parts.get("user")
    owned: Collection[str] = QUOTA_KEYS
    if user is not None and "client-id" not in parts:
        owned = _USER_KEYS
        for mechanism, key in SCRAM_KEYS.items():
            record = image.scram.get((user, mechanism))
            if record is not None:
                wanted[key] = scram_text(
                    bytes(record.salt), bytes(record.stored_key), bytes(record.server_key), record.iterations
                )
    merged = _merged(decode_configs(path, draft.data(path)), wanted, owned)
    if merged or draft.children(path):
        draft.put(path, encode_configs(merged))
    else:
        _delete_with_folders(draft, path)
    draft.notify(paths.CONFIG_CHANGE, encode_change(text))


def _delete_with_folders(draft: Draft, path: str) -> None:
    """A client of a user takes the folder of the user's clients along, and a user without configs."""
    draft.delete(path)
    folder = paths.parent(path)
    if paths.name_of(folder) != "clients" or folder == f"{paths.CONFIG}/clients" or draft.children(folder):
        return
    draft.delete(folder)
    user = paths.parent(folder)
    if not decode_configs(user, draft.data(user)):
        draft.delete(user)


def write_acls(draft: Draft, after: ClusterImage, touched: Mapping[Uuid, Any]) -> None:
    """The whole list of each resource pattern that an entry came to or went from."""
    lists: dict[AclPath, list[Acl]] = {_resource(Acl.of(record)): [] for record in touched.values()}
    if not lists:
        return
    for record in after.acls.values():
        acl = Acl.of(record)
        entries = lists.get(_resource(acl))
        if entries is not None:
            entries.append(acl)
    for resource, acls in lists.items():
        path = resource.path
        if acls:
            places = {acl_id(acl): place for place, acl in enumerate(decode_acls(resource, draft.data(path)))}
            acls.sort(key=lambda acl: places.get(acl_id(acl), len(places)))
            draft.put(path, encode_acls(acls))
        else:
            draft.delete(path)
        draft.notify(*resource.change())


def _resource(acl: Acl) -> AclPath:
    return AclPath(ResourceType(acl.resource_type), acl.name, PatternType(acl.pattern))


def write_token(draft: Draft, image: ClusterImage, token_id: str) -> None:
    """A delegation token that is new, renewed or gone."""
    record = image.tokens.get(token_id)
    path = paths.token(token_id)
    if record is None:
        draft.delete(path)
    else:
        token = TokenZnode(
            token_id,
            record.owner,
            record.requester,
            record.renewers,
            record.issue_timestamp,
            record.max_timestamp,
            record.expiration_timestamp,
        )
        draft.put(path, token.encode())
    draft.notify(paths.TOKEN_CHANGE, token_id.encode())
