"""Operations on znodes, and a tree of them: what a controller knows of ZooKeeper, or a ZooKeeper of tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from kbroker.controller.zookeeper import paths
from kbroker.plain import plain

#: As `version`: whichever it is.
ANY_VERSION = -1


class Node(NamedTuple):
    """A znode. `czxid` is the transaction that created it (a broker's epoch), `version` counts its sets."""

    data: bytes = b""
    version: int = 0
    czxid: int = 0
    ephemeral: bool = False


@plain(frozen=True)
class Create:
    """A new znode. `sequence`: ZooKeeper appends ten digits to the path. `sensitive`: for brokers only."""

    path: str
    data: bytes = b""
    ephemeral: bool = False
    sequence: bool = False

    @property
    def sensitive(self) -> bool:
        """With `zookeeper.set.acl`: whether only brokers may read it."""
        return paths.is_sensitive(self.path)


@plain(frozen=True)
class SetData:
    """Other data, if the znode is still at `version`."""

    path: str
    data: bytes
    version: int = ANY_VERSION


@plain(frozen=True)
class Delete:
    """Away with it, if it is still at `version`, and has no children."""

    path: str
    version: int = ANY_VERSION


@plain(frozen=True)
class Check:
    """Nothing but the test that the znode is still at `version`."""

    path: str
    version: int


ZkOp: TypeAlias = Create | SetData | Delete | Check


class OpFailed(Exception):
    """A transaction that changed nothing, because of one of its operations.

    Attributes:
        index: of that operation.
        reason: "no node", "node exists", "bad version", "not empty", "no parent".
    """

    def __init__(self, index: int, op: ZkOp, reason: str) -> None:
        super().__init__(f"{type(op).__name__} of {op.path}: {reason}")
        self.index = index
        self.reason = reason


class Tree:
    """Paths and znodes. Parents need not be known: a controller knows but a part of the tree.

    Attributes:
        zxid: the last transaction applied.
    """

    def __init__(self, *, whole: bool = False) -> None:
        """`whole`: it is all there is; parents must exist, and only what has no children is deleted."""
        self.zxid = 0
        self._whole = whole
        self._nodes: dict[str, Node] = {}
        self._children: dict[str, dict[str, None]] = {}
        self._sequences: dict[str, int] = {}

    def get(self, path: str) -> Node | None:
        """The znode, None if it is not known."""
        return self._nodes.get(path)

    def data(self, path: str) -> bytes | None:
        """The znode's data, None if it is not known."""
        node = self._nodes.get(path)
        return None if node is None else node.data

    def children(self, path: str) -> list[str]:
        """The names of the children, sorted."""
        return sorted(self._children.get(path, ()))

    def paths(self) -> Iterator[str]:
        """All paths, parents first."""
        return iter(sorted(self._nodes))

    def __contains__(self, path: str) -> bool:
        return path in self._nodes

    def __len__(self) -> int:
        return len(self._nodes)

    def put(self, path: str, node: Node) -> None:
        """Take a znode as it was read."""
        self._nodes[path] = node
        folder, name = paths.parent(path), paths.name_of(path)
        self._children.setdefault(folder, {})[name] = None
        if "_" in name and name[-10:].isdigit():
            self._sequences[folder] = max(self._sequences.get(folder, 0), paths.sequence_number(path) + 1)

    def copy(self) -> Tree:
        """The same tree; what happens to one does not happen to the other."""
        other = Tree(whole=self._whole)
        other.zxid = self.zxid
        other._nodes = self._nodes.copy()
        other._children = {path: names.copy() for path, names in self._children.items()}
        other._sequences = self._sequences.copy()
        return other

    def remove(self, path: str) -> None:
        """Forget a znode, and all below."""
        for name in self.children(path):
            self.remove(f"{path}/{name}")
        self._nodes.pop(path, None)
        self._children.pop(path, None)
        siblings = self._children.get(paths.parent(path))
        if siblings is not None:
            siblings.pop(paths.name_of(path), None)

    def apply(self, ops: Sequence[ZkOp], created: Sequence[str | None] | None = None) -> list[str | None]:
        """One transaction, whole or not at all. Answers the path that each Create made.

        Args:
            created: what ZooKeeper answered to it (the names of sequential znodes), where it was asked.

        Raises:
            OpFailed: the first operation that cannot be; nothing is changed.
        """
        undo: list[tuple[str, Node | None]] = []
        made: list[str | None] = []
        self.zxid += 1
        try:
            for index, op in enumerate(ops):
                known = None if created is None else created[index]
                made.append(self._one(index, op, known, undo))
        except OpFailed:
            for path, node in reversed(undo):
                if node is None:
                    self._forget(path)
                else:
                    self.put(path, node)
            raise
        return made

    def _one(
        self, index: int, op: ZkOp, known: str | None, undo: list[tuple[str, Node | None]]
    ) -> str | None:
        if isinstance(op, Create):
            return self._create(index, op, known, undo)
        node = self._nodes.get(op.path)
        if node is None:
            raise OpFailed(index, op, "no node")
        if op.version not in (ANY_VERSION, node.version):
            raise OpFailed(index, op, "bad version")
        if isinstance(op, SetData):
            undo.append((op.path, node))
            self._nodes[op.path] = node._replace(data=op.data, version=node.version + 1)
        elif isinstance(op, Delete):
            if self._whole and self._children.get(op.path):
                raise OpFailed(index, op, "not empty")
            undo.append((op.path, node))
            self._forget(op.path)
        return None

    def _create(self, index: int, op: Create, known: str | None, undo: list[tuple[str, Node | None]]) -> str:
        folder, path = paths.parent(op.path), op.path
        if op.sequence:
            path = f"{op.path}{self._sequences.get(folder, 0):010d}"
        path = known or path
        if path in self._nodes:
            raise OpFailed(index, op, "node exists")
        if self._whole and folder and folder not in self._nodes:
            raise OpFailed(index, op, "no parent")
        if self._whole or not op.sequence:  # else a notification, for others
            undo.append((path, None))
            self.put(path, Node(op.data, 0, self.zxid, op.ephemeral))
        return path

    def _forget(self, path: str) -> None:
        del self._nodes[path]
        del self._children[paths.parent(path)][paths.name_of(path)]


#: ZooKeeper refuses requests of 1 MiB (jute.maxbuffer), length and ACLs included.
MAX_TRANSACTION_BYTES = 900_000
_OP_OVERHEAD = 80


def transactions(ops: Sequence[ZkOp], max_bytes: int = MAX_TRANSACTION_BYTES) -> list[list[ZkOp]]:
    """Operations cut into transactions that ZooKeeper accepts: one, unless they are too large for it.

    Each begins with the checks that `ops` begin with. Cut anywhere, a new controller can go on from what is
    there: a partition without a state is new, a topic half deleted still has its mark.
    """
    checks = []
    for op in ops:
        if not isinstance(op, Check):
            break
        checks.append(op)
    found: list[list[ZkOp]] = []
    size = max_bytes
    for op in ops[len(checks) :]:
        cost = _OP_OVERHEAD + len(op.path) + len(getattr(op, "data", b""))
        if size + cost > max_bytes:
            found.append([*checks])
            size = _OP_OVERHEAD * len(checks)
        found[-1].append(op)
        size += cost
    return found
