"""Access control entries of a cluster: which there are, more of them, fewer of them (KIP-140)."""

from __future__ import annotations

from collections.abc import Sequence

from kbroker.client.cluster import Cluster
from kbroker.client.errors import check, failure
from kbroker.errors import ApiError
from kbroker.protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kbroker.protocol.generated.create_acls_response import CreateAclsResponse
from kbroker.protocol.generated.delete_acls_request import DeleteAclsFilter, DeleteAclsRequest
from kbroker.protocol.generated.delete_acls_response import DeleteAclsResponse
from kbroker.protocol.generated.describe_acls_request import DescribeAclsRequest
from kbroker.protocol.generated.describe_acls_response import DescribeAclsResponse
from kbroker.security.acl import Acl, AclFilter


def describe_acls(cluster: Cluster, wanted: AclFilter) -> list[Acl]:
    """The entries that a filter finds, by resource.

    Raises:
        ApiError: SECURITY_DISABLED, there is no authorizer; CLUSTER_AUTHORIZATION_FAILED.
    """
    request = DescribeAclsRequest(
        resource_type_filter=wanted.resource_type,
        resource_name_filter=wanted.name,
        pattern_type_filter=wanted.pattern,
        principal_filter=wanted.principal,
        host_filter=wanted.host,
        operation=wanted.operation,
        permission_type=wanted.permission,
    )
    answer = cluster.ask(request, DescribeAclsResponse)
    check(answer.error_code, answer.error_message, "ACLs", needs="DESCRIBE")
    return sorted(
        Acl(
            resource.resource_type,
            resource.resource_name,
            resource.pattern_type,
            acl.principal,
            acl.host,
            acl.operation,
            acl.permission_type,
        )
        for resource in answer.resources
        for acl in resource.acls
    )


def create_acls(cluster: Cluster, acls: Sequence[Acl]) -> list[ApiError | None]:
    """Add entries; for each why not, or None. What is there already counts as added."""
    request = CreateAclsRequest(
        creations=[
            AclCreation(
                resource_type=acl.resource_type,
                resource_name=acl.name,
                resource_pattern_type=acl.pattern,
                principal=acl.principal,
                host=acl.host,
                operation=acl.operation,
                permission_type=acl.permission,
            )
            for acl in acls
        ]
    )
    answer = cluster.ask_controller(
        request, CreateAclsResponse, lambda response: [each.error_code for each in response.results]
    )
    return [failure(each.error_code, each.error_message, "ACL", needs="ALTER") for each in answer.results]


def delete_acls(cluster: Cluster, wanted: AclFilter) -> list[Acl]:
    """Remove what a filter finds; that is given back.

    Raises:
        ApiError: as `describe_acls`.
    """
    request = DeleteAclsRequest(
        filters=[
            DeleteAclsFilter(
                resource_type_filter=wanted.resource_type,
                resource_name_filter=wanted.name,
                pattern_type_filter=wanted.pattern,
                principal_filter=wanted.principal,
                host_filter=wanted.host,
                operation=wanted.operation,
                permission_type=wanted.permission,
            )
        ]
    )
    answer = cluster.ask_controller(
        request, DeleteAclsResponse, lambda response: [each.error_code for each in response.filter_results]
    )
    (result,) = answer.filter_results
    check(result.error_code, result.error_message, "ACLs", needs="ALTER")
    for acl in result.matching_acls:
        check(acl.error_code, acl.error_message, f"ACL of {acl.principal}")
    return sorted(
        Acl(
            acl.resource_type,
            acl.resource_name,
            acl.pattern_type,
            acl.principal,
            acl.host,
            acl.operation,
            acl.permission_type,
        )
        for acl in result.matching_acls
    )
