"""ACLs on three nodes that log in to each other: forwarded requests, changes on every node, restarts."""

from __future__ import annotations

import pytest

from kbroker.client.acls import create_acls, delete_acls, describe_acls
from kbroker.client.cluster import Cluster as Client
from kbroker.client.topics import create_topic
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.metadata_request import MetadataRequest, MetadataRequestTopic
from kbroker.protocol.generated.metadata_response import MetadataResponse
from kbroker.security.acl import Acl, AclFilter, Operation, PatternType, Permission, ResourceType
from kbroker.testing import Cluster
from tests.security.logins import PLAIN_MODULE, USERS, client_jaas
from tests.security.test_little_allowed import STANDARD

SETTINGS = {
    "listener.security.protocol.map": "PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT",
    "security.inter.broker.protocol": "SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN",
    "sasl.mechanism.inter.broker.protocol": "PLAIN",
    "sasl.mechanism.controller.protocol": "PLAIN",
    "listener.name.plaintext.plain.sasl.jaas.config": USERS,
    "listener.name.controller.plain.sasl.jaas.config": USERS,
    "authorizer.class.name": STANDARD,
    # Who the nodes are to each other; nobody else.
    "super.users": "User:admin",
}


def login(user):
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": client_jaas(PLAIN_MODULE, user, f"{user}-secret"),
    }


@pytest.fixture(scope="module")
def cluster():
    with Cluster(config=SETTINGS, client=login("admin"), links=False, in_process=True) as cluster:
        yield cluster


def topic_code(cluster, node, name, user="bob", create=False):
    with Client(cluster.nodes[node].bootstrap, settings=login(user), timeout_s=60) as asked:
        request = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=create)
        return asked.ask(request, MetadataResponse).topics[0].error_code


def acl(name, operation, permission=Permission.ALLOW):
    return Acl(ResourceType.TOPIC, name, PatternType.LITERAL, "User:bob", "*", operation, permission)


def test_what_is_passed_on_is_asked_for_its_sender(cluster):
    """Through every node, two of which pass it on to the controller."""
    for node in cluster.nodes.values():
        name = f"made-{node.id}"
        with Client(node.bootstrap, settings=login("bob"), timeout_s=60) as bob:
            with pytest.raises(ApiError) as refused:
                create_topic(bob, name, partitions=1, replication_factor=1)
            assert refused.value.code is ErrorCode.TOPIC_AUTHORIZATION_FAILED
            with pytest.raises(ApiError) as refused:
                describe_acls(bob, AclFilter())
            assert refused.value.code is ErrorCode.CLUSTER_AUTHORIZATION_FAILED
            (problem,) = create_acls(bob, [acl(name, Operation.ALL)])
            assert problem.code is ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        with Client(node.bootstrap, settings=login("admin"), timeout_s=60) as admin:
            create_topic(admin, name, partitions=1, replication_factor=3)
    cluster.wait_for(cluster.all_in_sync, 60)


def test_a_change_is_seen_on_every_node_and_after_a_restart(cluster):
    cluster.create_topic("t")
    nodes = list(cluster.nodes)
    controller = cluster.controller()
    away = next(node for node in nodes if node != controller)
    with Client(cluster.nodes[controller].bootstrap, settings=login("admin"), timeout_s=60) as admin:
        assert create_acls(admin, [acl("t", Operation.READ)]) == [None]
        for node in nodes:
            cluster.wait_for(lambda: topic_code(cluster, node, "t") == 0, 60)  # noqa: B023
        cluster.nodes[away].stop()
        assert create_acls(admin, [acl("t", Operation.DESCRIBE, Permission.DENY)]) == [None]
        cluster.restart(away)
        for node in nodes:
            cluster.wait_for(lambda: topic_code(cluster, node, "t") == 29, 60)  # noqa: B023
        gone = delete_acls(admin, AclFilter(permission=Permission.DENY))
        assert gone == [acl("t", Operation.DESCRIBE, Permission.DENY)]
        for node in nodes:
            cluster.wait_for(lambda: topic_code(cluster, node, "t") == 0, 60)  # noqa: B023


def test_topics_that_come_by_themselves(cluster):
    with Client(cluster.bootstrap, settings=login("admin"), timeout_s=60) as admin:
        assert create_acls(admin, [acl("auto", Operation.ALL)]) == [None]
    for node in cluster.nodes:
        assert topic_code(cluster, node, f"other-{node}", create=True) == 29
        cluster.wait_for(lambda: topic_code(cluster, node, "auto", create=True) == 0, 60)  # noqa: B023
