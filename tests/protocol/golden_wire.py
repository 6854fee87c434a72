"""Reads `tests/data/golden/wire/`: messages made by Apache Kafka's own classes; see the README there."""

from __future__ import annotations

import csv
import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "data" / "golden" / "wire"
KINDS = ("requests", "responses", "records")


@cache
def lines(kind: str) -> list[dict[str, Any]]:
    with gzip.open(FOLDER / f"{kind}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def all_lines() -> list[dict[str, Any]]:
    return [line for kind in KINDS for line in lines(kind)]


def header_versions() -> list[dict[str, str]]:
    with open(FOLDER / "header-versions.tsv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))
