"""meta.properties: whose log directory this is (KIP-631, KIP-858).

Version 1 (KRaft) names node, cluster and directory; version 0 (ZooKeeper) broker and cluster.
"""

from __future__ import annotations

from collections.abc import Sequence

from kbroker.errors import ConfigError
from kbroker.plain import plain
from kbroker.storage.disk import Disk
from kbroker.storage.file_names import META_PROPERTIES
from kbroker.types import Uuid, uuid_from_string, uuid_to_string


@plain(frozen=True, kw_only=True)
class MetaProperties:
    """The content of the file; None for what an old file does not tell."""

    version: int = 1
    cluster_id: str | None = None
    node_id: int | None = None
    directory_id: Uuid | None = None


def parse_properties(text: str) -> dict[str, str]:
    """Java's properties format, as far as Kafka writes it: comments, `name=value`, backslash escapes."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        line = line.strip()
        if not line or line[0] in "#!":
            continue
        cut = min((i for i in (line.find("="), line.find(":")) if i >= 0), default=-1)
        if cut < 0:
            raise ValueError(f"no name=value: {line!r}")
        found[line[:cut].strip()] = line[cut + 1 :].strip().replace("\\", "")
    return found


def parse_meta_properties(text: str) -> MetaProperties:
    """Read the file's text.

    Raises:
        ValueError: malformed, or of a version we do not know.
    """
    values = parse_properties(text)
    # A broker's file of long ago has none.
    version = int(values.get("version", "0" if "broker.id" in values else "-1"))
    if version not in (0, 1):
        raise ValueError(f"version {values.get('version')} is unknown; a newer broker may have written it")
    node = values.get("node.id" if version == 1 else "broker.id")
    directory = values.get("directory.id")
    return MetaProperties(
        version=version,
        cluster_id=values.get("cluster.id"),
        node_id=int(node) if node is not None else None,
        directory_id=uuid_from_string(directory) if directory is not None else None,
    )


def format_meta_properties(meta: MetaProperties) -> str:
    """The inverse of `parse_meta_properties`."""
    lines = ["#", f"version={meta.version}"]
    if meta.cluster_id is not None:
        lines.append(f"cluster.id={meta.cluster_id}")
    if meta.node_id is not None:
        lines.append(f"{'node.id' if meta.version == 1 else 'broker.id'}={meta.node_id}")
    if meta.directory_id is not None:
        lines.append(f"directory.id={uuid_to_string(meta.directory_id)}")
    return "\n".join(lines) + "\n"


def read_meta_properties(disk: Disk, log_dir: str) -> MetaProperties | None:
    """The directory's file, None if it has none (not formatted yet).

    Raises:
        ConfigError: it cannot be understood.
        OSError: it cannot be read.
    """
    path = f"{log_dir}/{META_PROPERTIES}"
    if not disk.exists(path):
        return None
    try:
        return parse_meta_properties(disk.read_file(path).decode("utf-8"))
    except ValueError as error:
        raise ConfigError(f"{path} cannot be understood: {error}") from None


def write_meta_properties(disk: Disk, log_dir: str, meta: MetaProperties) -> None:
    """Format the directory: write its file durably."""
    disk.make_dir(log_dir)
    disk.write_file(f"{log_dir}/{META_PROPERTIES}", format_meta_properties(meta).encode("utf-8"))


def check_same_node(
    found: Sequence[tuple[str, MetaProperties]],
    node_id: int,
    cluster_id: str | None,
    *,
    zookeeper: bool = False,
) -> None:
    """All directories must belong to this node of this cluster (None: any, but the same) and differ in their
    id.

    Args:
        zookeeper: the cluster is kept there: what is refused is so in Kafka 3.9's words.

    Raises:
        ConfigError: one line that names the directory and what to do.
    """
    directories: dict[Uuid, str] = {}
    for path, meta in found:
        if meta.node_id is not None and meta.node_id != node_id:
            if zookeeper:
                raise ConfigError(
                    f"Stored node id {meta.node_id} doesn't match previous node id {node_id} in "
                    f"{path}/{META_PROPERTIES}. If you moved your data, make sure your configured node id "
                    "matches. If you intend to create a new node, you should remove all data in your data "
                    "directories."
                )
            raise ConfigError(
                f"{path} belongs to node {meta.node_id}, but this is node {node_id}: "
                "set node.id to that number, or choose another directory"
            )
        if meta.cluster_id is not None:
            if cluster_id is not None and meta.cluster_id != cluster_id:
                if zookeeper:
                    raise ConfigError(
                        f"Invalid cluster.id in: {path}/{META_PROPERTIES}. Expected {cluster_id}, but read "
                        f"{meta.cluster_id}"
                    )
                raise ConfigError(
                    f"{path} belongs to cluster {meta.cluster_id}, but this one is {cluster_id}: "
                    "choose another directory"
                )
            cluster_id = meta.cluster_id
        if meta.directory_id is not None:
            other = directories.setdefault(meta.directory_id, path)
            if other != path:
                raise ConfigError(
                    f"{path} and {other} have the same directory.id "
                    f"{uuid_to_string(meta.directory_id)}: one is a copy of the other"
                )
