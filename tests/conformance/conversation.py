"""Holds a transcript's conversation with a broker and tells the steps in which the answers differ."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from tests.conformance import paths
from tests.conformance.comparison import compare
from tests.conformance.messages import API_KEYS, API_VERSIONS, parse_answer, request_bytes
from tests.conformance.mutation import mutated
from tests.conformance.normal import Normaliser
from tests.conformance.peer import Closed, Peer, Timeout
from tests.conformance.transcript import Step, Transcript
from tests.conformance.variables import Unbound, Variables
from tools.frame_headers import request_header_bytes

_CLIENT = "conform"
_DEADLINE_MS = 10_000
#: After an `until` that was not reached the next ones of the transcript get no more than this.
_LATE_MS = 2_000
#: The same for steps that are known to differ.
_KNOWN_MS = 300
_PAUSES_S = (0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.2)
#: Answers in a row that did not come, before the rest of a transcript is given up.
_TIMEOUTS_MAX = 3
_CLUSTER_ID_LENGTH_MIN = 16
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Outcome:
    """One step with an answer; `differences` is empty if it is as recorded."""

    line: int
    label: str
    differences: list[str]


@dataclass(slots=True)
class _Sent:
    """A request on its way. `silent`: Produce with acks=0, followed by an ApiVersions that shows its end."""

    peer: Peer
    correlation_id: int
    api: str
    version: int
    silent: bool


class _Cannot(Exception):
    """A step cannot be done, usually because of one before."""


class Conversation:
    """One run of a transcript. Steps that were not reached count as different.

    Args:
        bootstrap: the broker, as host:port.
        max_differences: of each step, in its outcome.
        known: lines of steps that are expected to differ; what they wait for gets little time.
    """

    def __init__(
        self,
        transcript: Transcript,
        bootstrap: str,
        *,
        max_differences: int = 5,
        known: Collection[int] = (),
    ) -> None:
        host, _, port = bootstrap.rpartition(":")
        self._address = (host.strip("[]"), int(port))
        self._transcript = transcript
        self._max_differences = max_differences
        self._known = known
        cluster = _cluster_id(*self._address)
        given = {"cluster": cluster, "host": self._address[0], "port": self._address[1]}
        self._variables = Variables(given)
        self._normaliser = Normaliser(self._variables, cluster)
        self._peers: dict[str, Peer] = {}
        self._sent: dict[str, _Sent] = {}
        self._timeouts = 0
        self._late = False

    def run(self) -> Iterator[Outcome]:
        """The outcome of every step that has an answer.

        Raises:
            OSError: the broker does not listen any more.
        """
        try:
            for step in self._transcript.steps:
                if self._timeouts >= _TIMEOUTS_MAX:
                    if "ans" in step.json:
                        yield Outcome(step.line, step.label, ["left out: too many answers did not come"])
                    continue
                outcome = self._step(step)
                if outcome is not None:
                    yield outcome
        finally:
            self._close()

    def _close(self) -> None:
        for peer in [*self._peers.values(), *(sent.peer for sent in self._sent.values())]:
            peer.close()

    def _step(self, step: Step) -> Outcome | None:
        found, wrong = self.answer(step)
        if "ans" not in step.json:
            return Outcome(step.line, step.label, wrong) if wrong else None
        if found is not None:
            wrong += self._compare(step, found)
        return Outcome(step.line, step.label, wrong)

    def answer(self, step: Step) -> tuple[Any, list[str]]:
        """Do a step: its normalised answer (None if it has none), and what went wrong on the way."""
        wrong: list[str] = []
        found: Any = None
        try:
            if step.kind == "wait":
                time.sleep(step.json["wait"] / 1000)
            elif step.kind == "close":
                peer = self._peers.pop(step.json["close"], None)
                if peer is not None:
                    peer.close()
            elif step.kind == "async":
                self._sent[step.json["id"]] = self._launch(step)
            elif step.kind == "await":
                found = self._await(step, wrong)
            elif step.kind == "send":
                found = self._send(step, wrong)
            elif step.kind == "raw":
                found = self._raw(step)
        except (_Cannot, Unbound, ValueError) as error:
            wrong.append(f"cannot be sent: {error}")
        return found, wrong

    def shown(self, step: Step, found: Any) -> Any:
        """A normalised answer as a recording has it: shaped, bound values by name."""
        return paths.shaped(self._variables.show(found, ""), step.json, self._variables.show)

    def body(self, step: Step) -> bytes:
        """The bytes of a `send` step's request, damaged as it says.

        Raises:
            Unbound, ValueError: it cannot be built.
        """
        version = step.json.get("as", step.json["v"])
        request = self._variables.resolve(step.json.get("req", {}), request=True)
        _, body = request_bytes(step.json[step.kind], version, request)
        return mutated(body, step.json.get("mutate", ()))

    def close(self) -> None:
        """End all connections; for who calls `answer` and not `run`."""
        self._close()

    # --- the kinds of steps ---

    def _launch(self, step: Step) -> _Sent:
        api = step.json[step.kind]
        number = step.json["v"]
        version = step.json.get("as", number)
        request = self._variables.resolve(step.json.get("req", {}), request=True)
        message, body = request_bytes(api, version, request)
        peer = self._peer(step)
        correlation_id = peer.next_id()
        client = step.json.get("client", _CLIENT)
        head = bytearray(request_header_bytes(API_KEYS[api], version, correlation_id, client))
        head[2:4] = number.to_bytes(2, "big", signed=True)
        silent = api == "Produce" and getattr(message, "acks", None) == 0
        if not silent:
            peer.expect(correlation_id)
        if "mutate" in step.json:
            body = mutated(body, step.json["mutate"])
        peer.send(bytes(head) + body)
        if silent:
            correlation_id = peer.next_id()
            peer.expect(correlation_id)
            peer.send(request_header_bytes(API_VERSIONS, 0, correlation_id, _CLIENT))
        return _Sent(peer, correlation_id, api, version, silent)

    def _peer(self, step: Step) -> Peer:
        name = step.json.get("conn", "main")
        peer = self._peers.get(name)
        if peer is None or peer.is_closed:
            peer = self._peers[name] = Peer(*self._address)
        return peer

    def _take(self, sent: _Sent, deadline_ms: float, *, drop: bool) -> Any:
        """The answer as JSON, or the word that says why there is none."""
        try:
            frame = sent.peer.take(sent.correlation_id, deadline_ms)
        except Closed:
            return "closed"
        except Timeout:
            if drop:
                sent.peer.close()
            return "timeout"
        if sent.silent:
            return "none"
        answer, sent.version = parse_answer(sent.api, sent.version, frame)
        return answer

    def _await(self, step: Step, wrong: list[str]) -> Any:
        name = step.json["await"]
        sent = self._sent.pop(name, None)
        if sent is None:
            raise _Cannot(f"nothing was sent with the id {name}")
        answer = self._take(sent, step.json.get("deadline", _DEADLINE_MS), drop=False)
        if answer == "timeout":
            self._sent[name] = sent  # it may be awaited again
        wrong += self._bind(step, answer)
        return self._normaliser.answer(sent.api, answer)

    def _send(self, step: Step, wrong: list[str]) -> Any:
        until = step.json.get("until")
        limit = 0 if until is None else until.get("ms", _DEADLINE_MS)
        if step.line in self._known:
            limit = min(limit, _KNOWN_MS)
        elif self._late:
            limit = min(limit, _LATE_MS)
        end = time.monotonic() + limit / 1000
        attempt = 0
        while True:
            sent = self._launch(step)
            answer = self._take(sent, step.json.get("deadline", _DEADLINE_MS), drop=True)
            if until is None or self._reached(until, answer):
                break
            if time.monotonic() >= end:
                self._late = step.line not in self._known
                seen = paths.get(answer, until["path"]) if isinstance(answer, dict) else answer
                wrong.append(f"until: not reached in {limit} ms: {until['path']} is {_cut(str(seen))}")
                break
            time.sleep(_PAUSES_S[min(attempt, len(_PAUSES_S) - 1)])
            attempt += 1
        wrong += self._bind(step, answer)
        return self._normaliser.answer(sent.api, answer)

    def _reached(self, until: dict[str, Any], answer: Any) -> bool:
        wanted = self._variables.resolve(until["is"] if "is" in until else until["unlike"], request=True)
        if isinstance(answer, dict):
            seen = paths.get(answer, until["path"])
        else:
            seen = None if until["path"] else answer
        return ("is" in until) == (not compare(wanted, seen))

    def _raw(self, step: Step) -> Any:
        peer = self._peer(step)
        peer.forget_others()
        peer.send(bytes.fromhex(step.json["raw"]), step.json.get("len"))
        try:
            frame = peer.take(None, step.json.get("deadline", _DEADLINE_MS))
        except Closed:
            return "closed"
        except Timeout:
            peer.close()
            return "timeout"
        mode = step.json.get("compare", "")
        if mode == "kind":
            return "answered"
        if not mode:
            return frame.hex()
        start = int(mode.removeprefix("error@"))
        if start + 2 > len(frame):
            return f"answered, {len(frame)} bytes"
        return {"error": int.from_bytes(frame[start : start + 2], "big", signed=True)}

    def _bind(self, step: Step, answer: Any) -> list[str]:
        missing = []
        for name, path in step.json.get("bind", {}).items():
            value = paths.get(answer, path) if isinstance(answer, dict) else None
            if value is None:
                missing.append(f"bind {name}: the answer has no {path}")
                self._variables.forget(name)
                continue
            fields = [part for part in paths.parts(path) if not paths.is_index(part) and "=" not in part]
            self._variables.bind(name, value, fields[-1] if fields else "")
        return missing

    def _compare(self, step: Step, found: Any) -> list[str]:
        wanted = self._variables.resolve(step.json["ans"], request=False)
        if found == "timeout" and step.json["ans"] != found:
            self._timeouts += 1
        else:
            self._timeouts = 0
        differences = compare(
            paths.shaped(wanted, step.json, self._variables.show),
            paths.shaped(found, step.json, self._variables.show),
        )
        told = []
        for path, expected, got in differences[: self._max_differences]:
            expected, got = (_cut(self._variables.named(text)) for text in (expected, got))
            told.append(f"{path + ': ' if path else ''}expected {expected}, got {got}")
        if len(differences) > self._max_differences:
            told.append(f"... and {len(differences) - self._max_differences} more differences")
        return told


def _cluster_id(host: str, port: int) -> str | None:
    """What a Metadata request for no topics tells."""
    peer = Peer(host, port)
    try:
        _, body = request_bytes("Metadata", 2, {"topics": []})
        peer.expect(1)
        peer.send(request_header_bytes(API_KEYS["Metadata"], 2, 1, _CLIENT) + body)
        answer, _ = parse_answer("Metadata", 2, peer.take(1, _DEADLINE_MS))
    except (Closed, Timeout):
        return None
    finally:
        peer.close()
    cluster = answer.get("clusterId")
    return cluster if isinstance(cluster, str) and len(cluster) >= _CLUSTER_ID_LENGTH_MIN else None


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
