"""What Apache Kafka 3.9.2 wrote into ZooKeeper, as operations and trees (tests/data/zookeeper)."""

from __future__ import annotations

import gzip
import json
from functools import cache
from itertools import groupby
from pathlib import Path

from kbroker.controller.zookeeper.tree import Create, Delete, Node, SetData, Tree

DATA = Path(__file__).parents[2] / "data" / "zookeeper"


@cache
def load(name):
    with gzip.open(DATA / f"kafka-3.9.2.{name}.json.gz", "rt", encoding="utf-8") as file:
        return json.load(file)


def tree(name):
    """`running`, `stopped` or `stopped-2.6`."""
    found = Tree(whole=True)
    for path, node in load("trees")[name].items():
        if path != "/":
            data = (node["data"] or "").encode()
            found.put(path, Node(data, node["version"], int(node["czxid"], 16), node["ephemeral"]))
    return found


def steps():
    """(title, transactions) in order; a transaction is (zxid, its operations)."""
    walk = load("walk")
    for number, writes in groupby(walk["writes"], lambda write: write["step"]):
        grouped = groupby(writes, lambda write: write["zxid"])
        yield (
            walk["steps"][number],
            [(int(zxid, 16), [op for each in group for op in _ops(each)]) for zxid, group in grouped],
        )


def _ops(write):
    data = (write.get("data") or "").encode()
    if write["op"] == "create":
        return [Create(write["path"], data, ephemeral=write["ephemeral"])]
    if write["op"] == "set":
        return [SetData(write["path"], data, write["version"] - 1)]
    if write["op"] == "delete":
        return [Delete(write["path"])]
    if write["op"] == "closeSession":
        return [Delete(path) for path in write["deletes"]]
    return []


def before(step):
    """The tree before the first step whose title begins so, and the transactions of that step."""
    found = Tree(whole=True)
    for title, transactions in steps():
        if title.startswith(step):
            return found, transactions
        play(found, transactions)
    raise AssertionError(step)


def play(tree, transactions):
    for zxid, ops in transactions:
        tree.zxid = zxid - 1
        tree.apply(ops)
