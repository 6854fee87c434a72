"""One history held with both brokers at once, and where their answers differ."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from kbroker.errors import ProtocolError
from kbroker.protocol.api_keys import request_class
from tests.conformance.comparison import Difference, compare
from tests.conformance.conversation import Conversation
from tests.conformance.messages import API_KEYS
from tests.conformance.transcript import Step, Transcript
from tests.conformance.variables import Unbound
from tools.differential.orders import ORDERS
from tools.differential.recompression import Recompressed

#: Requests that change nothing: where Kafka's own threads lag behind, they may be asked again.
REPEATABLE = frozenset(
    (
        "ApiVersions", "DescribeAcls", "DescribeClientQuotas", "DescribeUserScramCredentials",
        "DescribeCluster", "DescribeConfigs", "DescribeGroups", "DescribeLogDirs",
        "DescribeProducers", "DescribeQuorum", "DescribeTopicPartitions", "FindCoordinator",
        "ListConfigResources", "ListGroups", "ListOffsets", "Metadata", "OffsetFetch", "OffsetForLeaderEpoch",
    )
)  # fmt: skip
#: A busy Kafka takes its time until a new topic has leaders.
_UNTIL_MS = 60_000
_PAUSES_S = (0.05, 0.15, 0.3, 0.6)
#: Kafka answers these before what they changed is in force everywhere.
_SETTLE_S = {
    "CreateTopics": 0.03,
    "DeleteTopics": 0.05,
    "CreatePartitions": 0.03,
    "AlterConfigs": 0.1,
    "IncrementalAlterConfigs": 0.1,
    "UpdateFeatures": 0.1,
    "DeleteRecords": 0.02,
    "CreateAcls": 0.1,
    "DeleteAcls": 0.1,
    "AlterUserScramCredentials": 0.1,
    "AlterClientQuotas": 0.1,
}


@dataclass(slots=True)
class Exchange:
    """A step, the answers as a recording would have them, and how they differ."""

    step: dict[str, Any]
    theirs: Any
    ours: Any
    differences: list[Difference]
    #: Why our codec does not read the damaged request, if that is so.
    unreadable: str = ""
    recompressed: Recompressed = field(default_factory=Recompressed)

    @property
    def api(self) -> str:
        """The API; of an `await` the id."""
        return str(self.step.get("send") or self.step.get("async") or self.step.get("await") or "")


class Session:
    """`kafka`, `kbroker`: host:port of two brokers with equal histories; `recompressed`: of their topics."""

    def __init__(self, kafka: str, kbroker: str, recompressed: Recompressed | None = None) -> None:
        self._sides = [
            Conversation(Transcript("differential", "", {}), bootstrap) for bootstrap in (kafka, kbroker)
        ]
        self._pool = ThreadPoolExecutor(2)
        self._recompressed = recompressed or Recompressed()

    def close(self) -> None:
        """End all connections."""
        for side in self._sides:
            side.close()
        self._pool.shutdown()

    def exchange(self, request: dict[str, Any]) -> Exchange:
        """Do one step on both brokers."""
        api = request.get("send", "")
        if api in ORDERS and "sort" not in request:
            request = {**request, "sort": ORDERS[api]}
        if "until" in request:
            request = {**request, "until": {"ms": _UNTIL_MS, **request["until"]}}
        step = Step(0, kind_of(request), request)
        found = self._both(step)
        if "configs" in str(request.get("req")):
            self._note(step)
        if api in REPEATABLE:
            for pause in _PAUSES_S:
                if not found.differences:
                    break
                time.sleep(pause)
                found = self._both(step)
        elif api in _SETTLE_S:
            time.sleep(_SETTLE_S[api])
        if found.differences and "mutate" in request:
            found.unreadable = _unreadable(self._sides[1].body(step), api, request["v"])
        return found

    def _both(self, step: Step) -> Exchange:
        theirs, ours = self._pool.map(lambda side: _answer(side, step), self._sides)
        return Exchange(step.json, theirs, ours, compare(theirs, ours), recompressed=self._recompressed)

    def _note(self, step: Step) -> None:
        try:
            body = self._sides[1].body(step)
        except (Unbound, ValueError):
            return  # it was not sent
        self._recompressed.note(step.json.get("send", ""), step.json["v"], body)


def kind_of(step: dict[str, Any]) -> str:
    """What a step does, see tests/data/conformance/README.md."""
    return next(kind for kind in ("send", "async", "await", "close") if kind in step)


def _answer(side: Conversation, step: Step) -> Any:
    found, wrong = side.answer(step)
    if any(text.startswith("cannot be sent") for text in wrong):
        return {"cannotBeSent": wrong}
    return side.shown(step, found)


def _unreadable(body: bytes, api: str, version: int) -> str:
    try:
        request_class(API_KEYS[api]).decode(body, version)
    except ProtocolError as error:
        return str(error)
    return ""
