"""Apache Kafka itself as a process on a given data folder."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from kbroker.client.cluster import Cluster
from kbroker.client.errors import ClientError
from kbroker.errors import ApiError
from tools.bench.brokers import free_port
from tools.kafka_jars import class_path

START_SECONDS = 60


@contextlib.contextmanager
def kafka_on(
    data: Path, cache: Path, node_id: int = 1, more_listeners: str = "", **settings: str
) -> Iterator[str]:
    """Apache Kafka 4.4 on the folder until the end of the block, then stopped cleanly; its bootstrap address.

    `more_listeners` go behind its own two (",SASL_PLAINTEXT://…").
    AssertionError with the end of its log if it does not come to serve.
    """
    port, controller = free_port(), free_port()
    values = {
        "process.roles": "broker,controller",
        "node.id": node_id,
        "controller.quorum.bootstrap.servers": f"127.0.0.1:{controller}",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}{more_listeners}",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": data,
        "offsets.topic.replication.factor": 1,
        **settings,
    }
    properties = data.parent / "kafka.properties"
    properties.write_text("".join(f"{name}={value}\n" for name, value in values.items()))
    log = data.parent / "kafka.log"
    options = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
    with log.open("ab") as out:
        process = subprocess.Popen(
            ["java", *options, "-cp", class_path(cache), "kafka.Kafka", str(properties)],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
    try:
        _wait_until_it_serves(f"127.0.0.1:{port}", node_id, process, log)
        yield f"127.0.0.1:{port}"
        process.terminate()
        assert process.wait(START_SECONDS) in (0, 143), log.read_text(errors="replace")[-3000:]
    finally:
        process.kill()
        process.wait()


def _wait_until_it_serves(bootstrap: str, node_id: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        reason = ""
        try:
            with Cluster(bootstrap, timeout_s=5) as cluster:
                topics = cluster.metadata().topics
                partitions = [part for topic in topics for part in topic.partitions]
                if node_id in cluster.brokers() and all(part.leader_id == node_id for part in partitions):
                    return
        except (ApiError, ClientError, OSError) as error:
            reason = str(error)
        text = log.read_text(errors="replace")[-3000:]
        assert process.poll() is None, f"Kafka ended with code {process.returncode}:\n{text}"
        assert time.monotonic() < deadline, f"Kafka does not serve: {reason}\n{text}"
        time.sleep(0.1)
