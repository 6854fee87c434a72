"""The fresh broker that each transcript gets, as Kafka was fresh when it was recorded."""

from __future__ import annotations

from kbroker.testing import Broker
from tests.conformance.transcript import DEFAULT_PROPS, Transcript


def fresh_broker(transcript: Transcript) -> Broker:
    """A broker of this process with Kafka's default settings and those that the transcript asks for."""
    return Broker(config={**DEFAULT_PROPS, **transcript.props}, profile="production")
