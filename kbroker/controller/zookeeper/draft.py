"""Operations being written on top of a tree: what they leave is seen by those after them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.tree import Create, Delete, Node, SetData, ZkOp

if TYPE_CHECKING:
    from kbroker.controller.zookeeper.tree import Tree


class Draft:
    """Operations, and what they leave.

    Attributes:
        ops: the operations so far.
    """

    def __init__(self, tree: Tree) -> None:
        self.ops: list[ZkOp] = []
        self._tree = tree
        self._changed: dict[str, Node | None] = {}
        self._children: dict[str, dict[str, bool]] = {}

    def get(self, path: str) -> Node | None:
        """The znode as the operations leave it."""
        return self._changed[path] if path in self._changed else self._tree.get(path)

    def data(self, path: str) -> bytes | None:
        """Its data, None if there is none."""
        node = self.get(path)
        return None if node is None else node.data

    def children(self, path: str) -> list[str]:
        """The names of the children that the operations leave."""
        names = dict.fromkeys(self._tree.children(path), True)
        names.update(self._children.get(path, ()))
        return sorted(name for name, there in names.items() if there)

    def put(self, path: str, data: bytes) -> None:
        """Create it, with its folders, or set it."""
        node = self.get(path)
        if node is None:
            self.create(path, data)
        else:
            self.set(path, data, node.version)

    def create(self, path: str, data: bytes = b"") -> None:
        """A new znode, and the folders that it needs."""
        self.folder(paths.parent(path))
        self.ops.append(Create(path, data))
        self._changed[path] = Node(data)
        self._children.setdefault(paths.parent(path), {})[paths.name_of(path)] = True

    def folder(self, path: str) -> None:
        """Make sure that it is there, with what it lies in."""
        if path and self.get(path) is None:
            self.create(path)

    def set(self, path: str, data: bytes, version: int) -> None:
        """Other data for what is at `version`."""
        self.ops.append(SetData(path, data, version))
        self._changed[path] = Node(data, version + 1)

    def notify(self, beginning: str, data: bytes) -> None:
        """A notification: a sequential znode."""
        self.folder(paths.parent(beginning))
        self.ops.append(Create(beginning, data, sequence=True))

    def delete(self, path: str) -> None:
        """Away with it, if it is there. Whoever may do that at all need not know what it says."""
        if self.get(path) is not None:
            self.ops.append(Delete(path))
            self._changed[path] = None
            self._children.setdefault(paths.parent(path), {})[paths.name_of(path)] = False

    def delete_all(self, path: str) -> None:
        """Away with it and all below, leaves first."""
        for name in self.children(path):
            self.delete_all(f"{path}/{name}")
        self.delete(path)
