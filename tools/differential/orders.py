"""Arrays whose order is that of a hash table in Kafka: they are sorted before answers are compared."""

from __future__ import annotations

ORDERS: dict[str, list[str]] = {
    "Produce": ["responses", "responses.*.partitionResponses"],
    "Fetch": ["responses", "responses.*.partitions"],
    "ListOffsets": ["topics", "topics.*.partitions"],
    "Metadata": ["topics"],
    "CreateTopics": ["topics"],
    "DeleteRecords": ["topics", "topics.*.partitions"],
    "DescribeProducers": ["topics.*.partitions.*.activeProducers"],
    "DescribeLogDirs": ["results", "results.*.topics", "results.*.topics.*.partitions"],
    "AlterReplicaLogDirs": ["results", "results.*.partitions"],
    "DescribeConfigs": ["results.*.configs"],
    "CreatePartitions": ["results"],
    "DeleteTopics": ["responses"],
    "OffsetDelete": ["topics", "topics.*.partitions"],
    "ListConfigResources": ["configResources"],
    "DescribeGroups": ["groups", "groups.*.members"],
    "DeleteGroups": ["results"],
    "OffsetFetch": ["topics", "topics.*.partitions", "groups.*.topics", "groups.*.topics.*.partitions"],
    "ListGroups": ["groups"],
}
