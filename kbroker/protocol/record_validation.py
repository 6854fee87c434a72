"""What a leader checks in the header of a client's batch, before it looks at any record."""

from __future__ import annotations

from kbroker.protocol.record_batch import BatchHeader, InvalidRecord
from kbroker.protocol.sealed_batch import is_sealed


def validate_client_header(header: BatchHeader, topic_partition: object) -> None:
    """Offsets and count agree, no control batch, a sequence where there is a producer id.

    Args:
        topic_partition: for the error's text.

    Raises:
        InvalidRecord: in Kafka's words.
    """
    count = header.record_count
    by_offsets = header.last_offset_delta + 1
    where = f"in topic partition {topic_partition}"
    span = f"[{header.base_offset}, {header.last_offset}]"
    if by_offsets <= 0:
        raise InvalidRecord(f"Batch has an invalid offset range: {span} {where}")
    if count <= 0:
        raise InvalidRecord(f"Invalid reported count for record batch: {count} {where}")
    if by_offsets != count:
        raise InvalidRecord(f"Inconsistent batch offset range {span} and count of records {count} {where}")
    if header.is_control:
        raise InvalidRecord(f"Clients are not allowed to write control records {where}")
    if is_sealed(header):
        raise InvalidRecord(f"Clients are not allowed to write encrypted batches {where}")
    if header.has_producer_id and header.base_sequence < 0:
        raise InvalidRecord(
            f"Invalid sequence number {header.base_sequence} in record batch with producerId "
            f"{header.producer_id} {where}"
        )
