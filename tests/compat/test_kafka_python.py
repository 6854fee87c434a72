"""kafka-python, today's, 2.0.2 of 2020, which most old applications still have, and 1.4.7 of 2019.

The first two do the same work; the oldest one also takes the broker for one of 0.8 to 0.11.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.compat.environments import interpreter_with, run
from tests.needs import need_old_python

_EVERYDAY = Path(__file__).with_name("kafka_python_everyday.py")
_OLDEST = Path(__file__).with_name("kafka_python_oldest.py")
_CODECS = ["python-snappy>=0.7", "lz4>=4"]


def test_todays_kafka_python(bootstrap: str, name: str) -> None:
    assert run(sys.executable, _EVERYDAY, bootstrap, name).startswith("ok ")


def test_kafka_python_2_0_2(bootstrap: str, name: str) -> None:
    python = interpreter_with(need_old_python(), ["kafka-python==2.0.2", *_CODECS, "zstandard>=0.22"])
    assert run(python, _EVERYDAY, bootstrap, name) == "ok 2.0.2"


def test_kafka_python_1_4_7_as_a_client_of_every_broker_of_its_time(bootstrap: str, name: str) -> None:
    python = interpreter_with(need_old_python(), ["kafka-python==1.4.7", *_CODECS, "xxhash>=3"])
    assert run(python, _OLDEST, bootstrap, name, "0.8.2", "0.9", "0.10", "0.11", "auto") == "ok"
