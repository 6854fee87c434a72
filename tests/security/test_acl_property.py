"""correctness.md 4, CVE-2024-27309 and scenario 130: the index against a model that looks at every entry."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from kbroker.metadata.delta import ClusterDelta, full_delta
from kbroker.metadata.difference import difference
from kbroker.metadata.image import ClusterImage
from kbroker.metadata.snapshot import image_records
from kbroker.protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kbroker.protocol.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kbroker.security.acl import IMPLIED_BY, Acl, Operation, PatternType, Permission, ResourceType
from kbroker.security.authorizer import AclAuthorizer, Question, any_of

PRINCIPALS = ["User:a", "User:b", "User:*", "Group:a"]
HOSTS = ["*", "1.1.1.1", "2.2.2.2", "1.1.0.0/16", "3.3.3.2/31", "::/0"]
COVERED = {
    "1.1.1.1": {"*", "1.1.1.1", "1.1.0.0/16"},
    "3.3.3.3": {"*", "3.3.3.2/31"},
    "fd00:0:0:0:0:0:0:1": {"*", "::/0"},
}
NAMES = ["*", "a", "ab", "abc", "b", "*x", "hardcode"]
OPERATIONS = [Operation.ALL, Operation.READ, Operation.ALTER, Operation.DESCRIBE, Operation.ALTER_CONFIGS]
ASKED = [*OPERATIONS[1:], Operation.DESCRIBE_CONFIGS, Operation.CREATE]
TYPES = [ResourceType.TOPIC, ResourceType.GROUP]

acls = st.builds(
    Acl,
    st.sampled_from(TYPES),
    st.sampled_from(NAMES),
    st.sampled_from([PatternType.LITERAL, PatternType.PREFIXED]),
    st.sampled_from(PRINCIPALS),
    st.sampled_from(HOSTS),
    st.sampled_from(OPERATIONS),
    st.sampled_from([Permission.ALLOW, Permission.DENY]),
)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), acls),
        st.tuples(st.just("remove"), st.integers(0, 1000)),
        st.tuples(st.just("restart"), st.booleans()),
    ),
    max_size=30,
)


def allowed(entries, principal, host, operation, kind, name, default):
    """As the algorithm is told, one entry after the other."""
    found = allows = False
    for acl in entries:
        if not acl.covers(kind, name):
            continue
        found = True
        if acl.principal not in (principal, "User:*") or acl.host not in COVERED[host]:
            continue
        if acl.permission == Permission.DENY:
            if acl.operation in (Operation.ALL, operation):
                return False
        elif acl.operation in (Operation.ALL, operation, *IMPLIED_BY.get(operation, ())):
            allows = True
    return allows if found else default


def allowed_some(entries, principal, host, operation, kind, default):
    """By Kafka's rule: a name that is allowed, and neither it nor a prefix of it is denied."""
    if allowed(entries, principal, host, operation, kind, "hardcode", default):
        return True
    mine = [
        acl
        for acl in entries
        if acl.resource_type == kind
        and acl.principal in (principal, "User:*")
        and acl.host in COVERED[host]
        and acl.operation in (Operation.ALL, operation)
    ]
    denied = [acl for acl in mine if acl.permission == Permission.DENY]
    if any(acl.name == "*" and acl.pattern == PatternType.LITERAL for acl in denied):
        return False
    for acl in mine:
        if acl.permission == Permission.DENY:
            continue
        if acl.pattern == PatternType.LITERAL and acl.name == "*":
            return True
        dominated = any(
            each.pattern == PatternType.PREFIXED and acl.name.startswith(each.name) for each in denied
        ) or any(each.pattern == acl.pattern and each.name == acl.name for each in denied)
        if not dominated:
            return True
    return False


def check(authorizer, entries, default):
    for principal in ("User:a", "User:c", "Group:a"):
        for host in COVERED:
            for operation in ASKED:
                for kind in TYPES:
                    for name in ("a", "abcd", "b", "*x1", "zz"):
                        asked = Question(principal, host, operation, kind, name)
                        model = allowed(entries, *asked[:5], default)
                        assert authorizer.decide(asked) == model, (asked, entries)
                    some = any_of(principal, host, operation, kind)
                    assert authorizer.decide(some) == allowed_some(entries, *some[:4], default)


@settings(max_examples=60, deadline=None)
@given(steps, st.booleans())
def test_index_agrees_with_a_naive_model(history, default):
    image = ClusterImage("c")
    authorizer = AclAuthorizer(allow_without_acl=default)

    def replay(*records):
        delta = ClusterDelta(image)
        for each in records:
            delta.replay(each)
        after = delta.image(image.offset + len(records), 1)
        authorizer.update(after.acls, delta.acls)
        return after

    number = 0
    for action, argument in history:
        if action == "add":
            number += 1
            record = AccessControlEntryRecord(
                id=number.to_bytes(16, "big"),
                resource_type=argument.resource_type,
                resource_name=argument.name,
                pattern_type=argument.pattern,
                principal=argument.principal,
                host=argument.host,
                operation=argument.operation,
                permission_type=argument.permission,
            )
            image = replay(record)
        elif action == "remove":
            if not image.acls:
                continue
            gone = list(image.acls)[argument % len(image.acls)]
            image = replay(RemoveAccessControlEntryRecord(id=gone))
        else:
            # A snapshot, written and read again, and an authorizer that knows nothing else.
            records = [
                type(each).decode(each.encode(each.MAX_VERSION), each.MAX_VERSION)
                for each in image_records(image)
            ]
            again = ClusterImage("c").apply(records)
            assert again.acls == image.acls
            if argument:
                # A standby that gets a snapshot knows the difference only.
                authorizer.update(again.acls, difference(image, again).acls)
            else:
                authorizer = AclAuthorizer(allow_without_acl=default)
                authorizer.update(again.acls, full_delta(again).acls)
            image = again
    check(authorizer, [Acl.of(each) for each in image.acls.values()], default)
