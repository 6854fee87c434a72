"""Decisions on CreateAcls and DeleteAcls."""

from __future__ import annotations

import itertools

import pytest

from kbroker.controller.acls import NETWORK_LEVEL, create_acls, delete_acls
from kbroker.errors import ApiError
from kbroker.metadata.image import ClusterImage
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord
from kbroker.security.acl import Acl, AclFilter, Operation, PatternType, Permission, ResourceType


def acl(name="t", principal="User:a", operation=Operation.READ, **more):
    fields = {"resource_type": ResourceType.TOPIC, "pattern": PatternType.LITERAL, "host": "*", **more}
    return Acl(
        name=name,
        principal=principal,
        operation=operation,
        permission=fields.pop("permission", Permission.ALLOW),
        **fields,
    )


@pytest.fixture
def uuids():
    numbers = itertools.count(1)
    return lambda: next(numbers).to_bytes(16, "big")


def test_what_is_there_is_not_written_again(uuids):
    decision = create_acls(ClusterImage("c"), [acl(), acl(), acl("u")], uuids)
    assert decision.response == [None, None, None]
    assert len(decision.records) == 2
    image = ClusterImage("c").apply(decision.records)
    assert not create_acls(image, [acl("u")], uuids).records


def test_one_that_is_refused_does_not_keep_the_others_from_being_written(uuids):
    decision = create_acls(ClusterImage("c"), [acl(""), acl(principal="a"), acl()], uuids)
    refused = [None if error is None else error.text for error in decision.response]
    assert refused[0] == "Invalid empty resource name"
    assert "no colon is present" in refused[1]
    assert refused[2] is None
    assert len(decision.records) == 1


def test_a_network_as_host_by_release(uuids):
    """From 4.4-IV1 it must be one; before Kafka 4.4, and in ZooKeeper, it is text."""
    old = ClusterImage("c")
    new = old.apply([FeatureLevelRecord(name="metadata.version", feature_level=NETWORK_LEVEL)])
    wanted = [acl(host="10.0.0.0/8"), acl(host="/x"), acl(host="10.0.0.1")]

    def codes(image, **more):
        return [
            error and (error.code, error.text) for error in create_acls(image, wanted, uuids, **more).response
        ]

    invalid = (42, "Invalid CIDR notation '/x': Could not parse [/x]")
    too_old = (35, "CIDR-based ACL host patterns require metadata version 4.4-IV1 or higher.")
    assert codes(new) == [None, invalid, None]
    assert codes(old) == [too_old, too_old, None]
    assert codes(old, has_networks=False) == [None] * 3


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"resource_type": ResourceType.ANY}, "Invalid resourceType ANY"),
        ({"pattern": PatternType.ANY}, "Invalid patternType ANY"),
        ({"pattern": PatternType.MATCH}, "Invalid patternType MATCH"),
        ({"operation": Operation.ANY}, "Invalid operation ANY"),
        ({"permission": Permission.ANY}, "Invalid permissionType ANY"),
    ],
)
def test_what_only_filters_may_say_keeps_all_from_being_written(uuids, part, text):
    decision = create_acls(ClusterImage("c"), [acl("u"), acl(**part), acl("")], uuids)
    assert [(error.code, error.text) for error in decision.response] == [(42, text)] * 3
    assert not decision.records


def test_filters_find_and_each_entry_goes_once(uuids):
    created = create_acls(
        ClusterImage("c"),
        [acl(), acl("t", "User:b"), acl("te", pattern=PatternType.PREFIXED), acl("*")],
        uuids,
    )
    image = ClusterImage("c").apply(created.records)
    match = AclFilter(ResourceType.TOPIC, "test", PatternType.MATCH)
    decision = delete_acls(image, [match, AclFilter(principal="User:a"), AclFilter(name="none")])
    assert [len(found) for found in decision.response] == [2, 3, 0]
    assert len(decision.records) == 3
    assert [each.principal for each in image.apply(decision.records).acls.values()] == ["User:b"]


def test_too_many_at_once_are_refused(uuids):
    wanted = [acl(f"t{number}") for number in range(10_001)]
    with pytest.raises(ApiError):
        create_acls(ClusterImage("c"), wanted, uuids)
    image = ClusterImage("c").apply(create_acls(ClusterImage("c"), wanted[1:], uuids).records)
    image = image.apply(create_acls(image, wanted[:1], uuids).records)
    with pytest.raises(ApiError):
        delete_acls(image, [AclFilter()])


def test_an_id_is_never_used_twice():
    numbers = iter([b"\1" * 16, b"\1" * 16, b"\2" * 16])
    image = ClusterImage("c").apply(create_acls(ClusterImage("c"), [acl()], lambda: next(numbers)).records)
    image = image.apply(create_acls(image, [acl("u")], lambda: next(numbers)).records)
    assert list(image.acls) == [b"\1" * 16, b"\2" * 16]


def test_filters_with_numbers_that_nobody_knows_are_refused_one_by_one():
    """With Kafka's words."""
    filters = [
        AclFilter(resource_type=8),
        AclFilter(pattern=5, operation=16),
        AclFilter(operation=16),
        AclFilter(permission=-1),
        AclFilter(name="none"),
    ]
    told = delete_acls(ClusterImage("c"), filters).response
    assert [str(each) if isinstance(each, ApiError) else each for each in told] == [
        "Unknown patternFilter.",
        "Unknown patternFilter.",
        "Unknown entryFilter.",
        "Unknown entryFilter.",
        [],
    ]
