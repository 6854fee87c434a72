"""Decisions on CreateAcls and DeleteAcls.

An entry is an `AccessControlEntryRecord` with an id of its own. What exists already is not written again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kbroker.controller.decision import MAX_RECORDS_PER_REQUEST, Decision
from kbroker.controller.metadata_versions import metadata_version_name
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kbroker.protocol.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kbroker.security.acl import Acl, AclFilter, creation_problem, is_for_filters, network_problem
from kbroker.security.acl_hosts import SLASH

if TYPE_CHECKING:
    from kbroker.metadata.image import ClusterImage
    from kbroker.metadata.records import MetadataRecord
    from kbroker.types import Uuid


#: `metadata.version` from which hosts may be networks (4.4-IV1).
NETWORK_LEVEL = 32


def create_acls(
    image: ClusterImage, wanted: Sequence[Acl], new_uuid: Callable[[], Uuid], *, has_networks: bool = True
) -> Decision[list[ApiError | None]]:
    """Records for entries that are new; for each wanted one its refusal or None.

    A word that only filters may use makes all of the request void, as in Kafka.

    Args:
        has_networks: a host with a slash is a network; to older releases it is text as any other.
    """
    for_filters = next((acl for acl in wanted if is_for_filters(acl)), None)
    if for_filters is not None:
        refusal = ApiError(ErrorCode.INVALID_REQUEST, creation_problem(for_filters))
        return Decision([refusal for _ in wanted], [])
    existing = {Acl.of(record) for record in image.acls.values()}
    records: list[MetadataRecord] = []
    results: list[ApiError | None] = []
    for acl in wanted:
        problem = _problem(acl, image, has_networks)
        results.append(problem)
        if problem is not None or acl in existing:
            continue
        existing.add(acl)
        records.append(_record(acl, image, new_uuid))
    _check_count(records, "create")
    return Decision(results, records)


def delete_acls(image: ClusterImage, filters: Sequence[AclFilter]) -> Decision[list[list[Acl] | ApiError]]:
    """Records for what the filters find; for each filter what it found, also if another one found it, too,
    or why it cannot be one (INVALID_REQUEST).
    """
    acls = [(key, Acl.of(record)) for key, record in image.acls.items()]
    gone: dict[Uuid, None] = {}
    results: list[list[Acl] | ApiError] = []
    for each in filters:
        if each.problem is not None:
            results.append(ApiError(ErrorCode.INVALID_REQUEST, each.problem))
            continue
        found = [(key, acl) for key, acl in acls if each.fits(acl)]
        gone.update((key, None) for key, _ in found)
        results.append([acl for _, acl in found])
    records: list[MetadataRecord] = [RemoveAccessControlEntryRecord(id=key) for key in gone]
    _check_count(records, "delete")
    return Decision(results, records)


def _problem(acl: Acl, image: ClusterImage, has_networks: bool) -> ApiError | None:
    problem = creation_problem(acl)
    if problem is None and has_networks and SLASH in acl.host:
        if image.metadata_version < NETWORK_LEVEL:
            needed = metadata_version_name(NETWORK_LEVEL)
            return ApiError(
                ErrorCode.UNSUPPORTED_VERSION,
                f"CIDR-based ACL host patterns require metadata version {needed} or higher.",
            )
        problem = network_problem(acl)
    return None if problem is None else ApiError(ErrorCode.INVALID_REQUEST, problem)


def _check_count(records: Sequence[MetadataRecord], what: str) -> None:
    if len(records) > MAX_RECORDS_PER_REQUEST:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"Cannot {what} {len(records)} ACLs. The maximum number of ACLs in one request is "
            f"{MAX_RECORDS_PER_REQUEST}.",
        )


def _record(acl: Acl, image: ClusterImage, new_uuid: Callable[[], Uuid]) -> AccessControlEntryRecord:
    key = new_uuid()
    while key in image.acls:
        key = new_uuid()
    return AccessControlEntryRecord(
        id=key,
        resource_type=acl.resource_type,
        resource_name=acl.name,
        pattern_type=acl.pattern,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission,
    )
