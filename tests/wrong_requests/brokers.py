"""The fresh kbroker that is asked: broker and controller in this process."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from unittest.mock import patch

from kbroker.broker.shard_driver import ShardDriver
from kbroker.broker.shard_loader import ShardLoader
from kbroker.testing import Broker
from kbroker.testing.ports import free_ports
from tests.conformance.transcript import DEFAULT_PROPS
from tests.wrong_requests.asking import Addresses
from tests.wrong_requests.table import Table
from tools.differential.brokers import CLUSTER_ID


@contextlib.contextmanager
def fresh_broker(table: Table, release: str) -> Iterator[Addresses]:
    """As that release of Kafka, with the settings of the recorded conversations and the table's on top."""
    controller = f"127.0.0.1:{free_ports(1)[0]}"
    config = {
        **DEFAULT_PROPS,
        **table.props,
        "listeners": f"PLAINTEXT://127.0.0.1:0,CONTROLLER://{controller}",
        "controller.quorum.voters": f"1@{controller}",
        "kbroker.cluster.id": CLUSTER_ID,
        "kbroker.compatibility": release,
    }
    with contextlib.ExitStack() as stack:
        if table.loading:
            stack.enter_context(patch.object(ShardDriver, "load_some", lambda driver: False))
            # Nor in the background: it would be tried again and again, with all of the processor.
            stack.enter_context(patch.object(ShardLoader, "add", lambda loader, driver: None))
        broker = stack.enter_context(Broker(config=config, profile="production"))
        yield Addresses(broker.bootstrap, controller)
