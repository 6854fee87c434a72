"""Three nodes that speak SASL_SSL to each other, brokers and controllers, each with its own mechanism."""

import re

import pytest

from kbroker.client.cluster import Cluster as Client
from kbroker.client.users import list_users, set_user
from kbroker.testing import Cluster
from tests.security.certificates import Authority, pem_settings
from tests.security.logins import PLAIN_MODULE, SCRAM_MODULE, USERS, client_jaas


@pytest.fixture(scope="module")
def authority():
    return Authority()


def settings(authority, **more):
    return {
        "listener.security.protocol.map": "PLAINTEXT:SASL_SSL,CONTROLLER:SASL_SSL",
        "security.inter.broker.protocol": "SASL_SSL",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "sasl.mechanism.controller.protocol": "PLAIN",
        "listener.name.plaintext.plain.sasl.jaas.config": USERS,
        "listener.name.controller.plain.sasl.jaas.config": USERS,
        # Nodes log in again after 0.9 of each session.
        "listener.name.plaintext.plain.connections.max.reauth.ms": "1500",
        "listener.name.controller.plain.connections.max.reauth.ms": "1500",
        **pem_settings(authority, authority.sign("node")),
        **more,
    }


def client(authority, password="alice-secret", module=PLAIN_MODULE, mechanism="PLAIN"):
    return {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": client_jaas(module, "alice", password),
        **pem_settings(authority, None),
    }


def test_three_nodes(authority):
    """Replication, requests passed on to the controller, renewed sessions, a node that comes back."""
    with Cluster(
        config=settings(authority), client=client(authority), links=False, in_process=True
    ) as cluster:
        cluster.create_topic("t", partitions=3)
        cluster.wait_for(cluster.all_in_sync, 60)
        for node in cluster.nodes.values():
            with Client(node.bootstrap, settings=cluster.client, timeout_s=60) as asked:
                set_user(asked, f"user-{node.id}", "secret", "SCRAM-SHA-512")
                # What the controller has committed comes to other nodes a moment later.
                cluster.wait_for(lambda: list_users(asked, [f"user-{node.id}"]), 60)  # noqa: B023
        cluster.nodes[2].stop()
        cluster.restart(2)
        cluster.wait_for(cluster.all_in_sync, 60)
        scram = client(authority, "secret", SCRAM_MODULE, "SCRAM-SHA-512")
        scram["sasl.jaas.config"] = client_jaas(SCRAM_MODULE, "user-1", "secret")
        with Client(cluster.nodes[2].bootstrap, settings=scram, timeout_s=60) as asked:
            assert len(asked.brokers()) == 3


def test_a_node_that_the_others_do_not_trust_says_why(authority):
    """A wrong password, and another authority: in the log, without the password."""
    other = Authority("another")
    prefix = "listener.name.controller."
    wrong = {f"{prefix}plain.sasl.jaas.config": USERS.replace('password="admin-', 'password="wrong-')}
    strange = pem_settings(other, other.sign("node"), prefix)
    for more, says in ((wrong, "Invalid username or password"), (strange, "certificate")):
        cluster = Cluster(config=settings(authority), client=client(authority), links=False)
        cluster._plan()
        node = cluster.nodes[1]
        node.settings |= more
        node.spawn()
        cluster.nodes[2].spawn()
        try:
            cluster.wait_for(lambda: re.search(f"do not trust each other: .*{says}", node.log), 60)  # noqa: B023
            assert "wrong-secret" not in node.log
        finally:
            cluster.kill(1)
            cluster.kill(2)
            cluster.stop()
