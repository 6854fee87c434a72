"""Notifications that name nothing that can be read."""

from __future__ import annotations

import pytest

from kbroker.controller.zookeeper.changes import acl_changes, entity_changes, token_changes
from kbroker.controller.zookeeper.security_znodes import AclPath, decode_acl_change
from kbroker.controller.zookeeper.tree import Node, Tree
from kbroker.controller.zookeeper.values import ZnodeError
from kbroker.metadata.image import ClusterImage
from kbroker.security.acl import PatternType, ResourceType


@pytest.mark.parametrize("text", ["", "topics", "topics/", "topics/a/b", "nothing/x", "users//clients"])
def test_what_is_no_entity_is_one_line(text):
    with pytest.raises(ZnodeError) as caught:
        entity_changes(text, Tree(), ClusterImage("c"))
    assert "\n" not in str(caught.value)


def test_what_is_gone_changes_nothing_that_was_not_known():
    image = ClusterImage("c")
    tree = Tree()
    resource = AclPath(ResourceType.GROUP, "g", PatternType.PREFIXED)
    assert entity_changes("users/<default>", tree, image) == []
    assert entity_changes("brokers/<default>", tree, image) == []
    assert acl_changes(resource, tree, image) == []
    assert token_changes("t", tree, image) == []


def test_a_damaged_znode_leaves_the_image_as_it_was():
    tree = Tree()
    tree.put("/config/topics/t", Node(b"{"))
    with pytest.raises(ZnodeError, match="znode /config/topics/t: is no JSON"):
        entity_changes("topics/t", tree, ClusterImage("c"))


@pytest.mark.parametrize("data", [b"", b"TOPIC", b"NOTHING:x", b"\xff:x"])
def test_lists_that_are_none(data):
    with pytest.raises(ZnodeError, match="which is no resource"):
        decode_acl_change("/kafka-acl-changes/acl_changes_0000000001", data)
