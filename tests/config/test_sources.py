"""Properties files, TOML, the environment, name=value."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, strategies as st

from kbroker.config.sources import (
    environment_settings,
    parse_assignment,
    parse_properties,
    parse_toml,
)
from kbroker.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("a=1", {"a": "1"}),
        ("a : 1", {"a": "1"}),
        ("a 1", {"a": "1"}),
        ("a\t=  1 ", {"a": "1 "}),
        ("a", {"a": ""}),
        ("a=", {"a": ""}),
        ("# a=1\n! b=2\n\n  c=3", {"c": "3"}),
        ("a=1\\\n   ,2\\\n ,3\nb=4", {"a": "1,2,3", "b": "4"}),
        ("a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
        ("a\\=b=c\\:d", {"a=b": "c:d"}),
        ("a=\\u00e4\\t\\n\\q", {"a": "ä\t\nq"}),
        ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=b=c", {"a": "b=c"}),
        ("a=1\\", {"a": "1"}),
        ("a=x\\\n# no comment here", {"a": "x# no comment here"}),
    ],
)
def test_properties_as_java_reads_them(text, settings):
    assert parse_properties(text, "f") == settings


def test_a_broken_escape_names_file_and_line():
    with pytest.raises(ConfigError, match=r"server\.properties, line 2: "):
        parse_properties("a=1\nb=\\u12x4", "server.properties")


@given(st.text())
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(ConfigError):
        parse_properties(text, "f")


def test_toml_tables_and_dotted_keys_are_names():
    text = """
    "log.dir" = "/data"
    num.partitions = 3
    [log]
    retention.ms = 1000
    cleanup.policy = ["delete", "compact"]
    [auto.create.topics]
    enable = false
    """
    assert parse_toml(text, "f") == {
        "log.dir": "/data",
        "num.partitions": "3",
        "log.retention.ms": "1000",
        "log.cleanup.policy": "delete,compact",
        "auto.create.topics.enable": "false",
    }


@pytest.mark.parametrize("text", ["a = ", "a = 1979-05-27", "a = [[1]]", "a = [{b = 1}]"])
def test_toml_that_is_none_or_holds_what_no_setting_is(text):
    with pytest.raises(ConfigError, match=r"^kbroker\.toml"):
        parse_toml(text, "kbroker.toml")


def test_the_environment_is_named_as_kafkas_images_name_it():
    settings = environment_settings(
        {
            "KAFKA_LOG_RETENTION_MS": "5",
            "KAFKA_LISTENER_NAME_CLIENTS_SCRAM___SHA___256_SASL_JAAS_CONFIG": "x",
            "KAFKA_LISTENER_NAME_MY__OWN_MAX_CONNECTIONS": "7",
            "KAFKA_HEAP_OPTS": "-Xmx1g",
            "KBROKER_EVENT_LOOP": "asyncio",
            "CLUSTER_ID": "abc",
            "PATH": "/bin",
        }
    )
    assert settings == {
        "log.retention.ms": "5",
        "listener.name.clients.scram-sha-256.sasl.jaas.config": "x",
        "listener.name.my_own.max.connections": "7",
        "kbroker.event.loop": "asyncio",
        "kbroker.cluster.id": "abc",
    }


def test_an_assignment_needs_a_name_and_a_value():
    assert parse_assignment("a = b=c ") == ("a", "b=c")
    for text in ("a", "=b", ""):
        with pytest.raises(ConfigError, match="--set needs name=value"):
            parse_assignment(text)
