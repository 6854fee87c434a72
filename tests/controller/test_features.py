"""Texts are those of Apache Kafka 4.4.0."""

from __future__ import annotations

import pytest

from kbroker.controller.features import FeatureUpdate, update_features, wanted_kraft_version
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import CONFIG_BROKER, ControllerImage, FeatureRange
from kbroker.plain import replace
from tests.controller.clusters import cluster

INVALID = "Invalid update version {} for feature {}. {}"


def update(name, level, upgrade_type=1, *, validate_only=False, at=33):
    image = cluster(1, level=at)
    return update_features(image, [FeatureUpdate(name, level, upgrade_type)], validate_only, 1, 2)


@pytest.mark.parametrize(
    ("name", "level", "upgrade_type", "message"),
    [
        ("no.such", 1, 1, INVALID.format(1, "no.such", "Local controller 1 does not support this feature.")),
        ("", 1, 1, INVALID.format(1, "", "Local controller 1 does not support this feature.")),
        ("no.such", 0, 2, INVALID.format(0, "no.such", "Feature no.such not found.")),
        (
            "metadata.version",
            33,
            0,
            INVALID.format(33, "metadata.version", "The controller does not support the given upgrade type."),
        ),
        (
            "metadata.version",
            -1,
            1,
            INVALID.format(-1, "metadata.version", "A feature version cannot be less than 0."),
        ),
        (
            "metadata.version",
            0,
            2,
            INVALID.format(0, "metadata.version", "Local controller 1 only supports versions 7-33"),
        ),
        (
            "metadata.version",
            34,
            1,
            INVALID.format(34, "metadata.version", "Local controller 1 only supports versions 7-33"),
        ),
        (
            "metadata.version",
            31,
            1,
            INVALID.format(
                31,
                "metadata.version",
                "Can't downgrade the version of this feature without setting the upgrade type to either safe "
                "or unsafe downgrade.",
            ),
        ),
        (
            "metadata.version",
            7,
            2,
            "Unsupported metadata.version downgrade from 33 to 7. Refusing to perform the requested "
            "downgrade because it might delete metadata information.",
        ),
        (
            "metadata.version",
            7,
            3,
            "Unsupported metadata.version downgrade from 33 to 7. Unsafe metadata downgrade is not supported "
            "in this version.",
        ),
        (
            "kraft.version",
            9,
            1,
            INVALID.format(9, "kraft.version", "Local controller 1 only supports versions 0-1"),
        ),
        (
            "kraft.version",
            1,
            2,
            INVALID.format(1, "kraft.version", "Can't downgrade to a newer version."),
        ),
    ],
)
def test_refusals(name, level, upgrade_type, message):
    with pytest.raises(ApiError) as caught:
        update(name, level, upgrade_type)
    assert caught.value.code is ErrorCode.INVALID_UPDATE_VERSION
    start = "The update failed for all features since the following feature had an error: "
    assert caught.value.message == start + message


def test_a_newer_level_is_written():
    decision = update("metadata.version", 33, at=31)
    (record,) = decision.records
    assert (record.name, record.feature_level) == ("metadata.version", 33)
    assert list(update("metadata.version", 33, at=31, validate_only=True).records) == []


def test_a_downgrade_that_loses_nothing_is_written():
    assert len(update("metadata.version", 30, 2, at=31).records) == 1


def test_the_level_it_has_is_no_change():
    assert list(update("metadata.version", 33).records) == []
    assert list(update("kraft.version", 0, 2).records) == []


def test_of_two_updates_of_one_feature_the_last_counts():
    updates = [FeatureUpdate("metadata.version", 99, 1), FeatureUpdate("metadata.version", 33, 1)]
    assert list(update_features(cluster(1), updates, False, 1, 2).records) == []


def settled(decision):
    return [
        (record.name, getattr(record, "feature_level", None) or (record.resource_name, record.value))
        for record in decision.records
    ]


def test_kraft_version_only_goes_up():
    image = replace(cluster(1), features={**cluster(1).features, "kraft.version": 1})
    for upgrade_type in (2, 3):
        with pytest.raises(
            ApiError, match=r"kraft\.version\. Can't downgrade the version of this feature\.$"
        ):
            update_features(image, [FeatureUpdate("kraft.version", 0, upgrade_type)], False, 1, 2)


def test_kraft_version_1_is_for_the_quorum_to_write():
    updates = [FeatureUpdate("kraft.version", 1, 1)]
    image = cluster(1)
    assert wanted_kraft_version(image, updates) == 1
    assert wanted_kraft_version(replace(image, kraft_version=1), updates) is None
    assert list(update_features(image, updates, False, 1, 2).records) == []
    with pytest.raises(ApiError, match="controller 3 has not registered, and may not support this feature"):
        update_features(image, updates, False, 1, 2, static_voters=[1, 3])


def test_eligible_leader_replicas_make_min_insync_replicas_one_number_for_all():
    name, feature = "min.insync.replicas", "eligible.leader.replicas.version"
    assert settled(update(feature, 1)) == [(name, ("", "2")), (feature, 1)]
    configs = {(CONFIG_BROKER, ""): {name: "3"}, (CONFIG_BROKER, "1"): {name: "4"}, (2, "t"): {name: "5"}}
    image = replace(cluster(1), configs=configs)
    decision = update_features(image, [FeatureUpdate(feature, 1, 1)], False, 1, 2)
    assert settled(decision) == [(name, ("1", None)), (feature, 1)]


def test_eligible_leader_replicas_need_a_metadata_version():
    with pytest.raises(ApiError, match=r"because it depends on metadata\.version level 23"):
        update("eligible.leader.replicas.version", 1, at=22)
    assert settled(update("eligible.leader.replicas.version", 1, at=23))


def test_every_registered_controller_has_to_know_the_level():
    features = {"metadata.version": FeatureRange(7, 30)}
    image = replace(cluster(1, level=29), controllers={3: ControllerImage(3, bytes(16), (), features)})
    with pytest.raises(ApiError, match="Controller 3 only supports versions 7-30"):
        update_features(image, [FeatureUpdate("metadata.version", 31, 1)], False, 1, 2)
    assert update_features(image, [FeatureUpdate("metadata.version", 30, 1)], False, 1, 2).records
