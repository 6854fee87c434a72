"""Asks a broker a table's requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from kbroker.handlers.context import BROKER
from kbroker.protocol.schemas.parser import Field, Struct, load_message
from tests.conformance.conversation import Conversation
from tests.conformance.transcript import Step, Transcript
from tests.wrong_requests.table import Refusals, Row, Table, refusals, served
from tools.differential.orders import ORDERS

_DEADLINE_MS = 10_000


class Addresses(NamedTuple):
    """Of a broker and controller in one process, as host:port."""

    broker: str
    controller: str


def asked(table: Table, node: Addresses, release: str) -> Iterator[tuple[Row, int, Refusals, Any]]:
    """Each row in each version that the release serves: what was refused, and the whole answer.

    A version in which the request cannot be said is left out.

    Raises:
        AssertionError: a step between the rows failed.
    """
    address = node.broker if table.role == BROKER else node.controller
    conversation = Conversation(Transcript(table.name, "", {}), address)
    try:
        for line in table.lines:
            if isinstance(line, Row):
                for version in line.versions(release):
                    answer = _answer(conversation, line, version)
                    if answer is not None:
                        yield line, version, refusals(answer), answer
            else:
                _prepare(conversation, line, release)
    finally:
        conversation.close()


def _answer(conversation: Conversation, row: Row, version: int) -> Any:
    request = _fitting(row.step["req"], load_message(f"{row.api}Request").root, version)
    json = {
        "deadline": _DEADLINE_MS,
        "sort": ORDERS.get(row.api, ()),
        **row.step,
        "req": request,
        "send": row.api,
        "v": version,
    }
    step = Step(0, "send", json)
    found, wrong = conversation.answer(step)
    if wrong:
        assert "is not bound" not in wrong[0], (row.api, row.wrong, wrong)
        return None
    return conversation.shown(step, found)


def _fitting(value: Any, struct: Struct, version: int) -> Any:
    """Without the fields that the version lacks and that may be left out then."""
    found = {}
    for name, item in value.items():
        field = next((field for field in struct.fields if field.name == name), None)
        if field is not None and version not in field.versions and _may_be_left_out(field, item):
            continue
        if field is not None and field.struct is not None:
            inner = field.struct
            if isinstance(item, list):
                item = [_fitting(element, inner, version) for element in item]
            elif isinstance(item, dict):
                item = _fitting(item, inner, version)
        found[name] = item
    return found


def _may_be_left_out(field: Field, value: Any) -> bool:
    return field.ignorable or (value == field.default if field.has_default else not value)


def _prepare(conversation: Conversation, json: dict[str, Any], release: str) -> None:
    json = dict(json)
    if release not in json.pop("in", (release,)):
        return
    kind = next(kind for kind in ("send", "async", "await", "wait", "close") if kind in json)
    if kind in ("send", "async"):
        low, high = served(release, json[kind])
        if high < low:
            return  # nothing in this release
        version = max(low, min(json["v"], high))
        request = _fitting(json["req"], load_message(f"{json[kind]}Request").root, version)
        json = {**json, "v": version, "req": request}
    found, wrong = conversation.answer(Step(0, kind, json))
    assert not wrong, (json, found, wrong)
