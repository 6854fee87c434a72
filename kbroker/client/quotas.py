"""Quotas of users, client ids and addresses (KIP-546)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kbroker.client.cluster import Cluster
from kbroker.client.errors import check
from kbroker.protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kbroker.protocol.generated.alter_client_quotas_response import AlterClientQuotasResponse
from kbroker.protocol.generated.describe_client_quotas_request import DescribeClientQuotasRequest
from kbroker.protocol.generated.describe_client_quotas_response import DescribeClientQuotasResponse

#: (type, name) pairs; the name is None for the default.
Entity = tuple[tuple[str, str | None], ...]


class EntityQuotas(NamedTuple):
    """What is set for one entity."""

    entity: Entity
    values: dict[str, float]


def list_quotas(cluster: Cluster) -> list[EntityQuotas]:
    """All quotas, users first.

    Raises:
        ApiError: the broker refuses.
    """
    answer = cluster.ask(
        DescribeClientQuotasRequest(components=[], strict=False), DescribeClientQuotasResponse
    )
    check(answer.error_code, answer.error_message, "quotas", needs="DESCRIBE_CONFIGS")
    found = [
        EntityQuotas(
            tuple((part.entity_type, part.entity_name) for part in entry.entity),
            {value.key: value.value for value in sorted(entry.values, key=lambda each: each.key)},
        )
        for entry in answer.entries or ()
    ]
    return sorted(found, key=lambda each: [(kind != "user", kind, name or "") for kind, name in each.entity])


def alter_quotas(cluster: Cluster, entity: Entity, values: Mapping[str, float | None]) -> None:
    """Set these, and remove those whose value is None.

    Raises:
        ApiError: the cluster refuses.
    """
    entry = EntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
        ops=[
            OpData(key=key, value=0.0 if value is None else value, remove=value is None)
            for key, value in values.items()
        ],
    )
    answer = cluster.ask(AlterClientQuotasRequest(entries=[entry]), AlterClientQuotasResponse)
    for result in answer.entries:
        check(result.error_code, result.error_message, "quotas", needs="ALTER_CONFIGS")
