"""Controllers of one quorum, some of them Apache Kafka's, some kbroker's, as processes."""

from __future__ import annotations

import signal
import socket
import struct
import subprocess
import sys
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from pathlib import Path

from kbroker.errors import ErrorCode
from kbroker.protocol.api_keys import request_header_version, response_class
from kbroker.protocol.generated.request_header import RequestHeader
from kbroker.raft import rpc
from kbroker.raft.voter_set import QuorumEndpoint, QuorumVoter, ReplicaKey
from kbroker.raft.wire import RaftWire
from kbroker.types import uuid_from_string
from tools.bench.brokers import free_port
from tools.kafka_jars import class_path

CLUSTER_ID = urlsafe_b64encode(bytes(range(1, 17))).decode().rstrip("=")
LOG = "__cluster_metadata-0/00000000000000000000.log"
_WIRE = RaftWire(CLUSTER_ID, "CONTROLLER")
_JAVA = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]


class Controller:
    """One controller; `kind` is "kafka" or "kbroker". Its folder is formatted by Kafka's own tool.

    Args:
        settings: besides those that every one needs: which quorum it belongs to.
        format_arguments: for the tool.
    """

    def __init__(
        self,
        folder: Path,
        kind: str,
        node_id: int,
        port: int,
        cache: Path,
        settings: dict[str, str],
        format_arguments: Sequence[str] = (),
    ) -> None:
        self.kind, self.node_id, self.port = kind, node_id, port
        self.data = folder / f"node-{node_id}"
        self._log = folder / f"node-{node_id}.log"
        self._properties = folder / f"node-{node_id}.properties"
        self._class_path = class_path(cache)
        self._process: subprocess.Popen[bytes] | None = None
        values = {
            "process.roles": "controller",
            "node.id": node_id,
            "listeners": f"CONTROLLER://127.0.0.1:{port}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT",
            "log.dirs": self.data,
            **settings,
        }
        self._properties.write_text("".join(f"{name}={value}\n" for name, value in values.items()))
        command = ["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(self._properties)]
        command += format_arguments
        subprocess.run([*_JAVA, "-cp", self._class_path, *command], check=True, capture_output=True)

    def start(self) -> None:
        """Start it; does not wait."""
        if self.kind == "kafka":
            command = [*_JAVA, "-cp", self._class_path, "kafka.Kafka", str(self._properties)]
        else:
            command = [sys.executable, "-m", "kbroker.cli.main", "start", "--profile", "production"]
            command += ["--config", str(self._properties)]
        with self._log.open("ab") as out:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Stop it, or kill it."""
        if self._process is not None:
            self._process.send_signal(number)
            try:
                self._process.wait(30)
            finally:
                self._process.kill()
                self._process.wait()
            self._process = None

    @property
    def is_up(self) -> bool:
        """Whether it was started and did not end."""
        return self._process is not None and self._process.poll() is None

    def told(self) -> str:
        """The end of what it printed."""
        return self._log.read_text(errors="replace")[-3000:]

    @property
    def key(self) -> ReplicaKey:
        """Its id and directory."""
        meta = dict(
            line.split("=", 1) for line in (self.data / "meta.properties").read_text().split() if "=" in line
        )
        return ReplicaKey(self.node_id, uuid_from_string(meta["directory.id"]))

    @property
    def voter(self) -> QuorumVoter:
        """As it is told to a leader that is to add it."""
        return QuorumVoter(*self.key, (QuorumEndpoint("CONTROLLER", "127.0.0.1", self.port),))

    def describe(self) -> rpc.DescribeQuorumResponse | None:
        """What it says of the quorum; None: nothing, or that it does not lead."""
        answer = self.ask(rpc.DescribeQuorumRequest())
        assert answer is None or isinstance(answer, rpc.DescribeQuorumResponse)
        return answer if answer is not None and answer.error is ErrorCode.NONE else None

    def ask(self, request: rpc.Request) -> rpc.Response | None:
        """Its answer, None if there is none."""
        message = _WIRE.request_message(request)
        key, version = message.API_KEY, message.MAX_VERSION
        assert key is not None
        header = RequestHeader(
            request_api_key=key, request_api_version=version, correlation_id=1, client_id="test"
        )
        frame = header.encode(request_header_version(key, version)) + message.encode(version)
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
                connection.sendall(struct.pack(">i", len(frame)) + frame)
                (size,) = struct.unpack(">i", connection.recv(4, socket.MSG_WAITALL))
                body = connection.recv(size, socket.MSG_WAITALL)
        except (OSError, struct.error):
            return None
        # Behind the correlation id and the empty tags of the header.
        return _WIRE.read_response(request, response_class(key).decode(body, version, 5))


def make_quorum(folder: Path, kinds: list[str], cache: Path) -> list[Controller]:
    """Formatted controllers 1, 2, ... of these kinds."""
    ports = [free_port() for _ in kinds]
    voters = ",".join(f"{node_id}@127.0.0.1:{port}" for node_id, port in enumerate(ports, 1))
    settings = {"controller.quorum.voters": voters}
    return [
        Controller(folder, kind, node_id, port, cache, settings)
        for node_id, (kind, port) in enumerate(zip(kinds, ports), 1)
    ]
