"""A log folder of Apache Kafka's that the commands for log files work on."""

from __future__ import annotations

from pathlib import Path

SINGLE = "kafka-4.4.0-single"


def segment(data: Path, number: int, suffix: str = ".log", partition: str = "plain-0") -> Path:
    """A file of the partition by its place among those that are not empty."""
    return sorted(file for file in (data / partition).glob("*" + suffix) if file.stat().st_size)[number]
