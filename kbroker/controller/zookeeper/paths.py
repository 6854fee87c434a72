"""Where Kafka keeps what in ZooKeeper. All paths are below the chroot of `zookeeper.connect`.

User names and client ids stand percent-encoded in paths; the default entity is `<default>`.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import (
    CONFIG_BROKER,
    CONFIG_CLIENT_METRICS,
    CONFIG_GROUP,
    CONFIG_TOPIC,
    QuotaEntity,
)

CONSUMERS = "/consumers"
BROKER_IDS = "/brokers/ids"
TOPICS = "/brokers/topics"
BROKER_SEQUENCE = "/brokers/seqid"
CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
CLUSTER_ID = "/cluster/id"
CONFIG = "/config"
CONFIG_CHANGES = "/config/changes"
DELETE_TOPICS = "/admin/delete_topics"
REASSIGN_PARTITIONS = "/admin/reassign_partitions"
PREFERRED_ELECTION = "/admin/preferred_replica_election"
ISR_CHANGES = "/isr_change_notification"
LOG_DIR_EVENTS = "/log_dir_event_notification"
PRODUCER_IDS = "/latest_producer_id_block"
FEATURE = "/feature"
MIGRATION = "/migration"
ACL_LITERAL = "/kafka-acl"
ACL_PREFIXED = "/kafka-acl-extended/prefixed"
ACL_LITERAL_CHANGES = "/kafka-acl-changes"
ACL_PREFIXED_CHANGES = "/kafka-acl-extended-changes"
TOKENS = "/delegation_token/tokens"
TOKEN_CHANGES = "/delegation_token/token_changes"

#: Beginnings of the names in the folders of notifications; ZooKeeper adds ten digits.
CONFIG_CHANGE = f"{CONFIG_CHANGES}/config_change_"
ISR_CHANGE = f"{ISR_CHANGES}/isr_change_"
LOG_DIR_EVENT = f"{LOG_DIR_EVENTS}/log_dir_event_"
ACL_LITERAL_CHANGE = f"{ACL_LITERAL_CHANGES}/acl_changes_"
ACL_PREFIXED_CHANGE = f"{ACL_PREFIXED_CHANGES}/acl_changes_"
TOKEN_CHANGE = f"{TOKEN_CHANGES}/token_change_"

DEFAULT = "<default>"
#: What ZooKeeper takes for a part of a path.
_PART = re.compile(r"(?!\.{1,2}\Z)[^/\x00-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff]+\Z")

#: Folder of the configs of each resource type, below /config.
CONFIG_FOLDERS: dict[int, str] = {
    CONFIG_TOPIC: "topics",
    CONFIG_BROKER: "brokers",
    CONFIG_CLIENT_METRICS: "client-metrics",
    CONFIG_GROUP: "groups",
}
CONFIG_TYPES = {folder: resource_type for resource_type, folder in CONFIG_FOLDERS.items()}

#: What the first broker makes, in Kafka's order (parents come by themselves).
ROOTS = (
    CONSUMERS,
    BROKER_IDS,
    TOPICS,
    CONFIG_CHANGES,
    DELETE_TOPICS,
    BROKER_SEQUENCE,
    ISR_CHANGES,
    PRODUCER_IDS,
    LOG_DIR_EVENTS,
    "/config/topics",
    "/config/clients",
    "/config/users",
    "/config/brokers",
    "/config/ips",
)
#: What the first broker with delegation tokens, and with an authorizer, makes.
TOKEN_ROOTS = (TOKEN_CHANGES, TOKENS)
ACL_TYPES = ("Topic", "User", "Cluster", "TransactionalId", "DelegationToken", "Group")
ACL_ROOTS = (
    *(f"{ACL_LITERAL}/{name}" for name in ACL_TYPES),
    *(f"{ACL_PREFIXED}/{name}" for name in ACL_TYPES),
    ACL_LITERAL_CHANGES,
    ACL_PREFIXED_CHANGES,
)
#: With `zookeeper.set.acl` what lies below is for brokers only; all else may be read by everybody.
_SENSITIVE = ("/config/users", "/config/brokers", TOKENS)


def is_sensitive(path: str) -> bool:
    """Whether only brokers may read it (secrets: SCRAM, passwords in configs, tokens)."""
    return any(path == root or path.startswith(f"{root}/") for root in _SENSITIVE)


def parent(path: str) -> str:
    """The folder of a path, "" for those at the top."""
    return path[: path.rindex("/")]


def name_of(path: str) -> str:
    """The last part of a path."""
    return path[path.rindex("/") + 1 :]


def part(name: str) -> str:
    """A name as a part of a path.

    Raises:
        ApiError: INVALID_REQUEST, ZooKeeper allows no such part.
    """
    if not _PART.match(name):
        raise ApiError(ErrorCode.INVALID_REQUEST, f"ZooKeeper cannot keep anything under the name {name!r}.")
    return name


def sanitized(name: str) -> str:
    """A user name or client id as it stands in a path."""
    return quote(name, safe="-._").replace("~", "%7E")


def desanitized(text: str) -> str:
    """The inverse of `sanitized`."""
    return unquote(text, errors="strict")


def broker(broker_id: int) -> str:
    """A broker's registration."""
    return f"{BROKER_IDS}/{broker_id}"


def topic(name: str) -> str:
    """A topic's assignment."""
    return f"{TOPICS}/{name}"


def partitions(topic_name: str) -> str:
    """The folder of a topic's partitions."""
    return f"{TOPICS}/{topic_name}/partitions"


def state(topic_name: str, index: int) -> str:
    """A partition's leader and ISR."""
    return f"{TOPICS}/{topic_name}/partitions/{index}/state"


def topic_deletion(name: str) -> str:
    """The mark of a topic that is to be deleted."""
    return f"{DELETE_TOPICS}/{name}"


def config_entity(resource_type: int, name: str) -> str:
    """A resource as change notifications name it, `topics/x`. Broker "" is the default of all brokers.

    Raises:
        ApiError: INVALID_REQUEST, it can have no configs in ZooKeeper.
    """
    folder = CONFIG_FOLDERS.get(resource_type)
    if folder is None:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"No configs of resource type {resource_type}.")
    if resource_type == CONFIG_BROKER and not name:
        return f"{folder}/{DEFAULT}"
    return f"{folder}/{part(name)}"


def quota_entity(entity: QuotaEntity) -> str:
    """Whose quotas, as change notifications name it: `users/u/clients/c`, `clients/c`, `ips/a`.

    Raises:
        ApiError: INVALID_REQUEST, it can have no quotas in ZooKeeper.
    """
    parts = dict(entity)
    if set(parts) == {"ip"}:
        return f"ips/{DEFAULT if parts['ip'] is None else part(parts['ip'])}"
    texts = {kind: DEFAULT if name is None else part(sanitized(name)) for kind, name in parts.items()}
    if set(parts) == {"client-id"}:
        return f"clients/{texts['client-id']}"
    if set(parts) == {"user", "client-id"}:
        return f"users/{texts['user']}/clients/{texts['client-id']}"
    if set(parts) == {"user"}:
        return f"users/{texts['user']}"
    raise ApiError(ErrorCode.INVALID_REQUEST, f"No quotas for {' and '.join(sorted(parts))}.")


def acl(type_name: str, resource_name: str, *, prefixed: bool) -> str:
    """The access control list of a resource pattern; `type_name` as in ACL_TYPES.

    Raises:
        ApiError: INVALID_REQUEST, there can be none in ZooKeeper.
    """
    return f"{ACL_PREFIXED if prefixed else ACL_LITERAL}/{type_name}/{part(resource_name)}"


def token(token_id: str) -> str:
    """A delegation token."""
    return f"{TOKENS}/{token_id}"


def sequence_number(path: str) -> int:
    """The number that ZooKeeper gave a notification.

    Raises:
        ValueError: the name does not end with one.
    """
    return int(path[-10:])
