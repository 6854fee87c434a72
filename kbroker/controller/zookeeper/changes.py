"""What a notification means for a node that knows an image: the records that lead to what the tree says now.

Brokers that are not the controller hear of configs, quotas, SCRAM users, lists and tokens in this way only.
A notification says where something changed, not what: reading is repeated, and may find nothing new.
All raise ZnodeError where the znode makes no sense; the image then stays as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.zookeeper import entities, paths
from kbroker.controller.zookeeper.reading import feature_records
from kbroker.controller.zookeeper.security_znodes import TYPE_NAMES, AclPath
from kbroker.controller.zookeeper.values import ZnodeError
from kbroker.metadata.image import CONFIG_BROKER, ClusterImage
from kbroker.protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord
from kbroker.protocol.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kbroker.protocol.generated.remove_delegation_token_record import RemoveDelegationTokenRecord
from kbroker.protocol.generated.remove_user_scram_credential_record import RemoveUserScramCredentialRecord
from kbroker.security.acl import Acl

if TYPE_CHECKING:
    from kbroker.controller.zookeeper.tree import Tree
    from kbroker.metadata.records import MetadataRecord


def entity_changes(text: str, tree: Tree, image: ClusterImage) -> list[MetadataRecord]:
    """After a notification in /config/changes; `text` is what it names, `topics/x` or `users/u/clients/c`."""
    folder, _, name = text.partition("/")
    number = paths.CONFIG_TYPES.get(folder)
    if number is not None:
        if not name or "/" in name:
            raise ZnodeError(f"{paths.CONFIG}/{text}", "is nothing with configs")
        default = number == CONFIG_BROKER and name == paths.DEFAULT
        return _config_changes(number, "" if default else name, tree, image)
    records = _quota_changes(text, tree, image)
    if folder == "users" and "/" not in name:
        records += _scram_changes(name, tree, image)
    return records


def _config_changes(number: int, name: str, tree: Tree, image: ClusterImage) -> list[MetadataRecord]:
    old = image.config(number, name)
    new = {record.name: record for record in entities.config_records(tree, number, name)}
    records: list[MetadataRecord] = [
        ConfigRecord(resource_type=number, resource_name=name, name=key, value=None)
        for key in old
        if key not in new
    ]
    return [*records, *(record for key, record in new.items() if old.get(key) != record.value)]


def _quota_changes(text: str, tree: Tree, image: ClusterImage) -> list[MetadataRecord]:
    entity = entities.quota_entity(text)
    old = image.quotas.get(entity, {})
    new = {record.key: record for record in entities.quota_records(tree, text)}
    records: list[MetadataRecord] = [
        ClientQuotaRecord(
            entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
            key=key,
            value=0.0,
            remove=True,
        )
        for key in old
        if key not in new
    ]
    return [*records, *(record for key, record in new.items() if old.get(key) != record.value)]


def _scram_changes(user: str, tree: Tree, image: ClusterImage) -> list[MetadataRecord]:
    name = dict(entities.quota_entity(f"users/{user}"))["user"]
    old = {key: record for key, record in image.scram.items() if key[0] == name}
    new = {(record.name, record.mechanism): record for record in entities.scram_records(tree, user)}
    records: list[MetadataRecord] = [
        RemoveUserScramCredentialRecord(name=key[0], mechanism=key[1]) for key in old if key not in new
    ]
    return [*records, *(record for key, record in new.items() if old.get(key) != record)]


def acl_changes(resource: AclPath, tree: Tree, image: ClusterImage) -> list[MetadataRecord]:
    """After a notification that the list of a resource pattern changed."""
    old = {
        acl: key
        for key, record in image.acls.items()
        if (acl := Acl.of(record))[:3] == (resource.resource_type, resource.name, resource.pattern)
    }
    type_name = TYPE_NAMES[resource.resource_type]
    found = entities.acl_records(tree, type_name, resource.name, resource.pattern)
    new = {Acl.of(record): record for record in found}
    records: list[MetadataRecord] = [
        RemoveAccessControlEntryRecord(id=key) for acl, key in old.items() if acl not in new
    ]
    return [*records, *(record for acl, record in new.items() if acl not in old)]


def feature_changes(tree: Tree, image: ClusterImage) -> list[MetadataRecord]:
    """After /feature changed. Raises ZnodeError."""
    new = {
        record.name: record.feature_level
        for record in feature_records(tree)
        if isinstance(record, FeatureLevelRecord)
    }
    old = {name: level for name, level in image.features.items() if name != "metadata.version"}
    return [
        FeatureLevelRecord(name=name, feature_level=new.get(name, 0))
        for name in sorted(old.keys() | new.keys())
        if old.get(name, 0) != new.get(name, 0)
    ]


def token_changes(token_id: str, tree: Tree, image: ClusterImage) -> list[MetadataRecord]:
    """After a notification that names a delegation token."""
    new = list(entities.token_records(tree, token_id))
    old = image.tokens.get(token_id)
    if not new:
        return [] if old is None else [RemoveDelegationTokenRecord(token_id=token_id)]
    return [record for record in new if record != old]
