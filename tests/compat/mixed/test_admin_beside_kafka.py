"""`kbroker-admin`'s commands about security with Apache Kafka 4.4; tests/cli has them with kbroker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kbroker.testing import Broker
from tests.compat import admin_session
from tests.compat.admin_session import SETTINGS, Admin
from tests.compat.kafka_process import kafka_on
from tests.needs import cache_folder, need_java
from tools.bench.brokers import free_port

pytestmark = pytest.mark.jvm


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    need_java()
    folder = tmp_path_factory.mktemp("kafka")
    data, port = folder / "data", free_port()
    with Broker(data=str(data)):
        pass  # a folder that is formatted
    more = f",SASL_PLAINTEXT://127.0.0.1:{port}"
    protocols = "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT"
    settings = {**SETTINGS, "listener.security.protocol.map": protocols}
    with kafka_on(data, cache_folder(), more_listeners=more, **settings):
        yield port


@pytest.fixture
def admin(port: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Admin:
    return Admin(port, tmp_path, capsys)


def test_acls(admin: Admin) -> None:
    admin_session.acls(admin)


def test_users(admin: Admin, tmp_path: Path) -> None:
    admin_session.users(admin, tmp_path)


def test_tokens(admin: Admin) -> None:
    admin_session.tokens(admin)


def test_quotas(admin: Admin) -> None:
    admin_session.quotas(admin, is_kafka=True)


def test_what_only_kbroker_has(admin: Admin) -> None:
    admin_session.what_only_kbroker_has(admin)
