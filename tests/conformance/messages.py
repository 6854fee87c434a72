"""Requests from a transcript's JSON and answers into it, through kbroker's own codecs."""

from __future__ import annotations

import base64
from typing import Any

from kbroker.errors import ProtocolError
from kbroker.protocol.api_keys import FACTS, response_class
from kbroker.protocol.json_converter import from_json, to_json
from kbroker.protocol.primitives import Message
from kbroker.protocol.schemas.parser import Field, Struct, load_message
from tests.conformance.record_sets import record_set, shown_record_set
from tools.frame_headers import parse_response_header

API_KEYS = {facts.name: key for key, facts in FACTS.items()}
API_VERSIONS = API_KEYS["ApiVersions"]
_UNSUPPORTED_VERSION = 35


def request_bytes(api: str, version: int, request: dict[str, Any]) -> tuple[Message, bytes]:
    """The request and its bytes; fields that are left out take their defaults.

    Raises:
        ValueError: it cannot be built.
    """
    name = f"{api}Request"
    plain = _with_plain_values(request, load_message(name).root)
    message = from_json(name, plain, version, fill_defaults=True)
    return message, message.encode(version)


def _with_plain_values(value: Any, struct: Struct) -> Any:
    """Record sets from their notation to base64, numbers that a variable brought in as text to numbers."""
    if not isinstance(value, dict):
        return value
    fields = {field.name: field for field in struct.fields}
    return {name: _plain(item, fields.get(name)) for name, item in value.items()}


def _plain(value: Any, field: Field | None) -> Any:
    if field is None or value is None:
        return value
    if isinstance(value, list):
        return [_plain(element, field) for element in value]
    if field.struct is not None:
        return _with_plain_values(value, field.struct)
    if field.type == "records":
        return base64.b64encode(record_set(value)).decode()
    if isinstance(value, str) and field.type.startswith(("int", "uint")):
        return int(value, 0)
    return value


def parse_answer(api: str, version: int, frame: bytes) -> tuple[Any, int]:
    """The answer as JSON and the version it has (ApiVersions answers one it does not know in version 0)."""
    key = API_KEYS[api]
    if key == API_VERSIONS and int.from_bytes(frame[4:6], "big") == _UNSUPPORTED_VERSION:
        version = 0
    try:
        _, start = parse_response_header(frame, key, version)
        message, end = response_class(key).decode_from(frame, version, start)
    except ProtocolError as error:
        return {"unreadable": str(error), "hex": frame.hex()}, version
    answer = to_json(message, version)
    _show_record_sets(answer, message, load_message(f"{api}Response").root, version)
    if end < len(frame):
        answer["bytesAfterTheAnswer"] = frame[end:].hex()
    return answer, version


def _show_record_sets(answer: Any, message: Any, struct: Struct, version: int) -> None:
    for field in struct.fields:
        if version not in field.versions or field.name not in answer:
            continue
        value = getattr(message, field.attr)
        if field.type == "records":
            answer[field.name] = shown_record_set(value)
        elif field.struct is not None and value is not None:
            shown = answer[field.name]
            pairs = zip(shown, value) if field.is_array else [(shown, value)]
            for part, item in pairs:
                _show_record_sets(part, item, field.struct, version)
