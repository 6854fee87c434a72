"""kafka-features: what Apache Kafka 4.4 prints, word for word, for the features that are built.

With KBROKER_TEST_BOOTSTRAP the same is asked of that broker: the texts here are Kafka's own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest

from kbroker.testing import Broker
from tests.compat.javatools import JavaTools

pytestmark = pytest.mark.jvm

ELR = "eligible.leader.replicas.version"
FAILED = "The update failed for all features since the following feature had an error: "
ONE_OF_ONE = "\n1 out of 1 operation(s) failed."


@pytest.fixture(scope="module")
def own_bootstrap() -> Iterator[str]:
    """Of a broker whose features may change."""
    given = os.environ.get("KBROKER_TEST_BOOTSTRAP")
    if given:
        yield given
        return
    with Broker() as broker:
        yield broker.bootstrap


@pytest.fixture
def features(java: JavaTools, own_bootstrap: str):
    """Runs the tool; its exit code and what it printed."""

    def run(*arguments: str) -> tuple[int, str]:
        result = java.run("kafka-features", "--bootstrap-server", own_bootstrap, *arguments)
        printed = [text for text in (result.out.strip(), result.err.strip()) if text]
        return result.code, "\n".join(printed)

    return run


def test_describe(features) -> None:
    code, text = features("describe")
    assert code == 0
    lines = [re.sub(r"\s+", " ", line).rpartition(" Epoch:")[0] for line in text.splitlines()]
    assert lines == sorted(lines)
    for name, low, high, level in (
        (ELR, "0", "1", "1"),
        ("metadata.version", "3.3-IV3", "4.4-IV2", "4.4-IV2"),
        ("transaction.version", "0", "2", "2"),
    ):
        supported = f"SupportedMinVersion: {low} SupportedMaxVersion: {high}"
        assert f"Feature: {name} {supported} FinalizedVersionLevel: {level}" in lines


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["upgrade", "--feature", f"{ELR}=1"], 0, f"{ELR} was upgraded to 1."),
        (["upgrade", "--feature", f"{ELR}=1", "--dry-run"], 0, f"{ELR} can be upgraded to 1."),
        (["downgrade", "--feature", f"{ELR}=0", "--dry-run"], 0, f"{ELR} can be downgraded to 0."),
        (["downgrade", "--feature", f"{ELR}=0"], 0, f"{ELR} was downgraded to 0."),
        (["disable", "--feature", ELR, "--dry-run"], 0, f"{ELR} can be disabled."),
        (
            ["upgrade", "--feature", f"{ELR}=1", "--feature", "transaction.version=2"],
            0,
            f"{ELR} was upgraded to 1.\ntransaction.version was upgraded to 2.",
        ),
        (
            ["downgrade", "--feature", "transaction.version=1", "--dry-run"],
            0,
            "transaction.version can be downgraded to 1.",
        ),
        (["upgrade"], 1, "You must specify at least one feature to upgrade"),
        (["upgrade", "--feature", "kraft.version=1"], 0, "kraft.version was upgraded to 1."),
    ],
)
def test_what_succeeds(features, arguments, code, text) -> None:
    assert features(*arguments) == (code, text)


@pytest.mark.parametrize(
    ("arguments", "what", "level", "feature", "why"),
    [
        (
            ["upgrade", "--feature", "nosuch=1"],
            "upgrade",
            "1",
            "nosuch",
            "Local controller 1 does not support this feature.",
        ),
        (
            ["upgrade", "--feature", "kraft.version=2"],
            "upgrade",
            "2",
            "kraft.version",
            "Local controller 1 only supports versions 0-1",
        ),
        (
            ["downgrade", "--feature", "kraft.version=0"],
            "downgrade",
            "0",
            "kraft.version",
            "Can't downgrade the version of this feature.",
        ),
        (
            ["upgrade", "--feature", "transaction.version=3"],
            "upgrade",
            "3",
            "transaction.version",
            "Local controller 1 only supports versions 0-2",
        ),
    ],
)
def test_what_is_refused(features, arguments, what, level, feature, why) -> None:
    invalid = f"Invalid update version {level} for feature {feature}."
    text = f"Could not {what} {feature} to {level}. {FAILED}{invalid}"
    assert features(*arguments) == (1, f"{text} {why}{ONE_OF_ONE}")


@pytest.mark.parametrize(
    ("feature", "why"),
    [
        ("nosuch", "Feature nosuch not found."),
        ("metadata.version", "Local controller 1 only supports versions 7-33"),
        ("kraft.version", "Can't downgrade the version of this feature."),
    ],
)
def test_what_cannot_be_disabled(features, feature, why) -> None:
    text = f"Could not disable {feature}. {FAILED}Invalid update version 0 for feature {feature}."
    assert features("disable", "--feature", feature) == (1, f"{text} {why}{ONE_OF_ONE}")


@pytest.mark.parametrize(
    ("arguments", "level", "why"),
    [
        (
            ["--feature", "metadata.version=32"],
            32,
            "Refusing to perform the requested downgrade because it might delete metadata information.",
        ),
        (
            ["--feature", "metadata.version=7", "--unsafe"],
            7,
            "Unsafe metadata downgrade is not supported in this version.",
        ),
    ],
)
def test_metadata_version_does_not_go_down(features, arguments, level, why) -> None:
    told = f"Unsupported metadata.version downgrade from 33 to {level}. {why}"
    text = f"Could not downgrade metadata.version to {level}. {FAILED}{told}{ONE_OF_ONE}"
    assert features("downgrade", *arguments) == (1, text)


def test_a_release_is_a_set_of_levels(features) -> None:
    code, text = features("upgrade", "--release-version", "4.0-IV0", "--dry-run")
    assert code == 1
    assert "Can not upgrade metadata.version to 22. " in text
    code, text = features("upgrade", "--release-version", "5.0")
    assert code == 1
    assert text.startswith("Unknown metadata.version '5.0'. Supported metadata.version are: 3.3-IV3, ")
