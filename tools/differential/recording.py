"""Agreed answers as a transcript that tests/differential replays: `send` steps in gzipped JSON lines."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from tests.conformance.paths import get
from tools.differential.brokers import CLUSTER_ID
from tools.differential.session import Exchange


class Recording:
    """Of one seed's history."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._steps: list[dict[str, Any]] = []

    def add(self, exchange: Exchange) -> None:
        """A step; its answer only where both brokers gave the same one."""
        step = dict(exchange.step)
        if "bind" in step:
            found = exchange.theirs if isinstance(exchange.theirs, dict) else {}
            step["bind"] = {name: path for name, path in step["bind"].items() if get(found, path) is not None}
        if not exchange.differences and exchange.theirs is not None:
            step["ans"] = exchange.theirs
        self._steps.append(step)

    def write(self, folder: Path) -> Path:
        """The file, the same bytes for the same steps."""
        folder.mkdir(parents=True, exist_ok=True)
        head = {
            "transcript": f"seed-{self._seed:03d}",
            "about": "answers on which Apache Kafka 4.4.0 and kbroker agree",
            "classes": "4.4.0",
        }
        lines = [json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in (head, *self._steps)]
        path = folder / f"seed-{self._seed:03d}.jsonl.gz"
        path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), 9, mtime=0))
        return path
