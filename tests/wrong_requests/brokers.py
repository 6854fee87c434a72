"""The fresh kbroker that is asked: broker and controller in this process."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

from kbroker.testing import Broker
from kbroker.testing.ports import free_ports
from tests.conformance.transcript import DEFAULT_PROPS
from tests.wrong_requests.asking import Addresses
from tools.differential.brokers import CLUSTER_ID


@contextlib.contextmanager
def fresh_broker(props: Mapping[str, str], release: str) -> Iterator[Addresses]:
    """With the settings of the recorded conversations and `props` on top, as that release of Kafka."""
    controller = f"127.0.0.1:{free_ports(1)[0]}"
    config = {
        **DEFAULT_PROPS,
        **props,
        "listeners": f"PLAINTEXT://127.0.0.1:0,CONTROLLER://{controller}",
        "controller.quorum.voters": f"1@{controller}",
        "kbroker.cluster.id": CLUSTER_ID,
        "kbroker.compatibility": release,
    }
    with Broker(config=config, profile="production") as broker:
        yield Addresses(broker.bootstrap, controller)
