"""The tables: complete, documented, consistent with what Kafka 4.4 reports of itself."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from kbroker.config.definition import Scope, parse_table
from kbroker.config.definitions import (
    base_name,
    broker_definition,
    broker_definitions,
    broker_synonyms,
    client_metrics_definitions,
    group_definitions,
    group_fallback,
    nearest_name,
    topic_definitions,
    topic_fallback,
)
from kbroker.config.values import InvalidValue, to_text

DATA = Path(__file__).parent / "data"
FAMILIES = {"broker": broker_definitions, "topic": topic_definitions, "group": group_definitions}


def kafka_rows(family):
    with open(DATA / f"kafka-4.4.0-{family}.tsv") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.mark.parametrize("family", FAMILIES)
def test_every_config_of_kafka_is_there_with_type_and_default(family):
    known = FAMILIES[family]()
    for row in kafka_rows(family):
        definition = known[row["name"]]
        assert definition.type.name == row["type"], row["name"]
        assert not definition.hidden, row["name"]
        assert definition.sensitive == (row["sensitive"] == "true"), row["name"]
        if family == "broker":
            assert (definition.scope is Scope.READ_ONLY) == (row["read_only"] == "true"), row["name"]
        if row["source"] == "DEFAULT_CONFIG" and row["name"] != "streams.assignor.name":
            assert (to_text(definition.default) or "") == row["value"], row["name"]


@pytest.mark.parametrize("family", ["topic", "group"])
def test_fallbacks_are_those_of_kafka(family):
    fallback = {"topic": topic_fallback, "group": group_fallback}[family]
    for row in kafka_rows(family):
        if row["synonyms"]:
            shown = row["synonyms"].split(",")[-1].partition(":")[2]
            assert (fallback(row["name"]) or row["name"]) == shown


@pytest.mark.parametrize("definitions", [*FAMILIES.values(), client_metrics_definitions])
def test_every_config_is_documented_and_its_default_passes_its_own_check(definitions):
    for name, definition in definitions().items():
        assert definition.doc.endswith("."), name
        assert len(definition.doc) > 15, name
        if definition.default_text is not None:
            definition.parse(definition.default_text)


def test_what_is_called_obeyed_is_read_somewhere():
    package = Path(__file__).parents[2] / "kbroker"
    code = "\n".join(
        path.read_text()
        for path in package.rglob("*.py")
        if "tables" not in path.parts and "generated" not in path.parts
    )
    for definitions in FAMILIES.values():
        for name, definition in definitions().items():
            if definition.obeyed:
                dots = [i for i, char in enumerate(name) if char == "."]
                assert f'"{name}"' in code or any(
                    (f'"{name[:dot]}"' in code and f'}}{name[dot:]}"' in code)
                    or (f'"{name[:dot]}.{{' in code and f'"{name[dot + 1 :]}"' in code)
                    for dot in dots
                ), name


#: Read, yet without the effect that Kafka's documentation promises.
READ_ONLY_TO_CHECK = {
    "remote.log.storage.system.enable",  # topics with tiered storage are refused by it
}


#: Names what clients know, which have settings of the same names.
CLIENTS_NAMES = Path("cli", "command_config.py")


def test_what_is_read_is_called_obeyed():
    """Outside of `config/`, which looks at settings to check and to show them."""
    package = Path(__file__).parents[2] / "kbroker"
    code = "\n".join(
        path.read_text()
        for path in package.rglob("*.py")
        if path.relative_to(package).parts[0] != "config"
        and "generated" not in path.parts
        and path.relative_to(package) != CLIENTS_NAMES
    )
    read = {
        name
        for definitions in FAMILIES.values()
        for name, definition in definitions().items()
        if not definition.obeyed and f'"{name}"' in code
    }
    assert read == READ_ONLY_TO_CHECK


def test_a_listener_prefix_is_looked_through():
    assert base_name("listener.name.internal.ssl.keystore.location") == "ssl.keystore.location"
    assert base_name("listener.name.internal.scram-sha-256.sasl.jaas.config") == "sasl.jaas.config"
    assert base_name("max.connections") == "max.connections"
    assert broker_definition("listener.name.x.max.connections").name == "max.connections"
    assert broker_definition("listener.name.x.no.such") is None
    assert broker_synonyms("listener.name.x.max.connections") == (
        "listener.name.x.max.connections",
        "max.connections",
    )


def test_units_are_synonyms_finest_first():
    assert broker_synonyms("log.retention.hours")[0] == "log.retention.ms"
    assert broker_synonyms("log.roll.ms") == ("log.roll.ms", "log.roll.hours")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("log.retension.ms", "log.retention.ms"),
        ("num.partition", "num.partitions"),
        ("listener.name.tls.ssl.keystor.location", "listener.name.tls.ssl.keystore.location"),
        ("xyzzy", None),
    ],
)
def test_the_nearest_name(wrong, right):
    assert nearest_name(wrong) == right


@pytest.mark.parametrize(
    ("family", "name", "text", "message"),
    [
        ("broker", "num.io.threads", "0", "Value must be at least 1"),
        ("topic", "min.cleanable.dirty.ratio", "2", "Invalid value 2.0 .*: Value must be no more than 1"),
        (
            "topic",
            "cleanup.policy",
            "shred",
            "Invalid value shred .*: String must be one of: compact, delete",
        ),
        ("topic", "cleanup.policy", "a,,b", "Configuration 'cleanup.policy' values must not be empty."),
        ("topic", "compression.gzip.level", "0", "Value must be between 1 and 9 or equal to -1"),
        ("topic", "compression.lz4.level", "99", "Value must be no more than 17"),
        ("topic", "leader.replication.throttled.replicas", "zero", re.escape("Invalid value [zero] for")),
        ("group", "share.auto.offset.reset", "none", "Invalid value `none` for configuration"),
        ("group", "share.auto.offset.reset", "by_duration:P", "by_duration:P"),
    ],
)
def test_limits_are_kept(family, name, text, message):
    with pytest.raises(InvalidValue, match=message):
        FAMILIES[family]()[name].parse(text)


@pytest.mark.parametrize(
    ("family", "name", "text"),
    [
        ("topic", "cleanup.policy", ""),
        ("topic", "cleanup.policy", "delete,compact"),
        ("topic", "leader.replication.throttled.replicas", "*"),
        ("topic", "leader.replication.throttled.replicas", "0:1,1:1"),
        ("group", "share.auto.offset.reset", "by_duration:P1DT2H3M4.5S"),
        ("broker", "group.consumer.migration.policy", "Upgrade"),
    ],
)
def test_what_kafka_takes_is_taken(family, name, text):
    FAMILIES[family]()[name].parse(text)


def test_a_broken_table_is_found():
    with pytest.raises(ValueError, match="no such check"):
        parse_table("a | int | 1 | roughly 3 | ro |")
