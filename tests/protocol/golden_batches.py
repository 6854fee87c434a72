"""Reads `tests/data/golden/batches.jsonl.gz`.

Those lines were made by running Apache Kafka's own classes (4.4.0; magic 0 and 1 by 3.9.2): batches of every
magic and codec with what Kafka reads from them, and damaged ones with Kafka's verdicts.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64decode
from functools import cache
from pathlib import Path
from typing import Any

from kbroker.protocol.record_batch import Record

PATH = Path(__file__).parents[1] / "data" / "golden" / "batches.jsonl.gz"


@cache
def lines() -> dict[str, dict[str, Any]]:
    with gzip.open(PATH, "rt", encoding="utf-8") as file:
        return {line["name"]: line for line in map(json.loads, file)}


def names(valid: bool) -> list[str]:
    return [name for name, line in lines().items() if line["valid"] is valid]


def buffer(name: str) -> bytes:
    return bytes.fromhex(lines()[name]["hex"])


def expected_records(batch: dict[str, Any]) -> list[Record]:
    return [
        Record(
            record["offset"],
            record["timestamp"],
            _bytes(record["key"]),
            _bytes(record["value"]),
            [(key, _bytes(value)) for key, value in record["headers"]],
        )
        for record in batch["records"]
    ]


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)
