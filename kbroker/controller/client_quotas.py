"""Decisions on AlterClientQuotas (KIP-546): what may be set for whom, in Kafka's words.

Each entry stands alone. Removing what is not there is no error, whatever it is called.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from math import isfinite
from typing import NamedTuple

from kbroker.controller.decision import Decision
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import ClusterImage, QuotaEntity
from kbroker.protocol.generated.client_quota_record import ClientQuotaRecord, EntityData

_USER, _CLIENT_ID, _IP = "user", "client-id", "ip"
_LONG_MAX, _INT_MAX = 2**63 - 1, 2**31 - 1
#: Largest whole number of a key; None: any number.
_CLIENT_KEYS: Mapping[str, int | None] = {
    "producer_byte_rate": _LONG_MAX,
    "consumer_byte_rate": _LONG_MAX,
    "request_percentage": None,
    "controller_mutation_rate": None,
}
_IP_KEYS: Mapping[str, int | None] = {"connection_creation_rate": _INT_MAX}
_TYPE_NAMES = {_LONG_MAX: "a LONG", _INT_MAX: "an INT"}
_EPSILON = 1e-6
#: In which order answers name the parts of an entity.
_ORDER = {_CLIENT_ID: 0, _USER: 1, _IP: 2}
_SHORT_ADDRESS = re.compile(r"\d{1,10}(\.\d{1,8}){0,3}\Z")


class QuotaChange(NamedTuple):
    """What is wanted for one entity: (key, value) pairs in order; the value is None for what goes."""

    entity: tuple[tuple[str, str | None], ...]
    values: Sequence[tuple[str, float | None]]


def alter_client_quotas(
    image: ClusterImage, changes: Sequence[QuotaChange], *, validate_only: bool = False
) -> Decision[list[tuple[QuotaEntity, ApiError | None]]]:
    """The records, and for each entity what is wrong with it, in the order of the request.

    Of an entity that is named again only the first change is done, and yet it is refused, as Kafka has it.
    """
    results: dict[frozenset[tuple[str, str | None]], ApiError | None] = {}
    entities: dict[frozenset[tuple[str, str | None]], QuotaEntity] = {}
    records: dict[frozenset[tuple[str, str | None]], list[ClientQuotaRecord]] = {}
    for entity, values in changes:
        parts = dict(entity)  # of two components of one type the last one counts
        key = frozenset(parts.items())
        entities.setdefault(key, tuple(sorted(parts.items(), key=_place)))
        if key in results or len(dict(values)) < len(values):
            results[key] = _invalid(f"Ignoring duplicate entity {_entity_text(parts)}")
            continue
        try:
            records[key] = _alter(image, parts, values)
            results[key] = None
        except ApiError as error:
            results[key] = error.with_traceback(None)
    wanted = [] if validate_only else [record for each in records.values() for record in each]
    return Decision([(entities[key], error) for key, error in results.items()], wanted, atomic=False)


def _alter(
    image: ClusterImage, parts: Mapping[str, str | None], values: Sequence[tuple[str, float | None]]
) -> list[ClientQuotaRecord]:
    known = _keys_of(parts)
    current = image.quotas.get(tuple(sorted(parts.items(), key=lambda part: part[0])), {})
    records = []
    for key, value in values:
        if value is None:
            if key in current:
                records.append(_record(parts, key, 0.0, remove=True))
            continue
        _check_value(known, key, value)
        if current.get(key) != value:
            records.append(_record(parts, key, value))
    return records


def _record(
    parts: Mapping[str, str | None], key: str, value: float, *, remove: bool = False
) -> ClientQuotaRecord:
    entity = [EntityData(entity_type=kind, entity_name=name) for kind, name in parts.items()]
    return ClientQuotaRecord(entity=entity, key=key, value=value, remove=remove)


def _keys_of(parts: Mapping[str, str | None]) -> Mapping[str, int | None]:
    """The keys that such an entity may have.

    Raises:
        ApiError: INVALID_REQUEST, there is no such entity.
    """
    if not parts:
        raise _invalid("Invalid empty client quota entity")
    for kind, name in parts.items():
        if kind not in (_USER, _CLIENT_ID, _IP):
            raise _invalid(f"Unhandled client quota entity type: {kind}")
        if name == "":
            raise _invalid(f"Empty {kind} not supported")
    if _IP not in parts:
        return _CLIENT_KEYS
    if len(parts) > 1:
        raise _invalid(
            "Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId"
        )
    address = parts[_IP]
    if address is not None and not is_address(address):
        raise _invalid(f"{address} is not a valid IP or resolvable host.")
    return _IP_KEYS


def is_address(text: str) -> bool:
    """Whether it is an IP address, short forms as `127.1` included. Host names are not looked up."""
    try:
        ip_address(text)
    except ValueError:
        if not _SHORT_ADDRESS.match(text):
            return text == "localhost"
        *first, last = (int(part) for part in text.split("."))
        return all(part < 256 for part in first) and last < 256 ** (4 - len(first))
    return True


def _check_value(known: Mapping[str, int | None], key: str, value: float) -> None:
    if key not in known:
        raise _invalid(f"Invalid configuration key {key}")
    if not isfinite(value):
        raise _invalid(f"Quota {key} must be a finite number")
    if value <= 0:
        raise _invalid(f"Quota {key} must be greater than 0")
    largest = known[key]
    if largest is None:
        return
    if value > float(largest):
        raise _invalid(f"Proposed value for {key} is too large for {_TYPE_NAMES[largest]}.")
    if abs(int(value) - value) > _EPSILON:  # a little less than a whole number is none, to Kafka
        raise _invalid(f"{key} cannot be a fractional value.")


def _place(part: tuple[str, str | None]) -> int:
    return _ORDER.get(part[0], len(_ORDER))


def _entity_text(parts: Mapping[str, str | None]) -> str:
    inside = ", ".join(f"{kind}={'null' if name is None else name}" for kind, name in parts.items())
    return f"ClientQuotaEntity(entries={{{inside}}})"


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
