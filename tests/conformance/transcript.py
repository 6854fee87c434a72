"""Transcripts: conversations with a broker, one JSON object a line (tests/data/conformance/README.md)."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "data" / "conformance"
KINDS = ("send", "async", "await", "raw", "wait", "close", "note")

#: The settings of every broker that a transcript was recorded from; a transcript's own `props` come on top.
DEFAULT_PROPS = {
    "listeners": "PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "1@127.0.0.1:9093",
    "node.id": "1",
    "process.roles": "broker,controller",
    "inter.broker.listener.name": "PLAINTEXT",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "num.partitions": "1",
    "auto.create.topics.enable": "true",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "100",
    "offsets.topic.num.partitions": "4",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "log.retention.check.interval.ms": "100000000",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One line: a request with its answer, a wait, a closed connection."""

    line: int
    kind: str
    json: dict[str, Any]

    @property
    def label(self) -> str:
        """A name for reports."""
        if self.kind in ("send", "async"):
            return f"{self.json[self.kind]} v{self.json['v']}"
        if self.kind == "await":
            return f"await {self.json['await']}"
        if self.kind == "raw":
            return f"raw {self.json['raw'][:24]}"
        return self.kind


@dataclass(slots=True)
class Transcript:
    """A parsed file; `name` is AREA/NAME."""

    name: str
    about: str
    props: dict[str, str]
    steps: list[Step] = field(default_factory=list)


def load(path: Path) -> Transcript:
    """Read a transcript, also a gzipped one.

    Raises:
        ValueError: a line is no step.
    """
    found: Transcript | None = None
    raw = path.read_bytes()
    content = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        value = json.loads(line)
        if found is None:
            props = {key: _text(item) for key, item in value.get("props", {}).items()}
            found = Transcript(f"{path.parent.name}/{path.stem}", value["about"], props)
            continue
        kind = next((kind for kind in KINDS if kind in value), None)
        if kind is None:
            raise ValueError(f"{path}:{number}: no step")
        found.steps.append(Step(number, kind, value))
    if found is None:
        raise ValueError(f"{path}: empty")
    return found


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
