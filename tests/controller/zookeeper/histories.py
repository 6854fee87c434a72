"""Images compared, and the records that lead from one to the other."""

from __future__ import annotations

from kbroker.metadata.image import CONFIG_TOPIC
from kbroker.metadata.snapshot import _partition_record
from kbroker.protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from kbroker.protocol.generated.producer_ids_record import ProducerIdsRecord
from kbroker.protocol.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kbroker.protocol.generated.remove_delegation_token_record import RemoveDelegationTokenRecord
from kbroker.protocol.generated.remove_topic_record import RemoveTopicRecord
from kbroker.protocol.generated.remove_user_scram_credential_record import RemoveUserScramCredentialRecord
from kbroker.protocol.generated.topic_record import TopicRecord


def records_between(before, after):
    """Records for everything but brokers and features."""
    old, new = before.image(), after.image()
    broker = next((r.broker_id for r in after.records if r.NAME == "ProducerIdsRecord"), -1)
    records = [*_topics(old, new), *_configs(old, new), *_quotas(old, new)]
    if old.next_producer_id != new.next_producer_id:
        records.append(ProducerIdsRecord(broker_id=broker, next_producer_id=new.next_producer_id))
    for table, removal in (
        ("scram", lambda key: RemoveUserScramCredentialRecord(name=key[0], mechanism=key[1])),
        ("acls", lambda key: RemoveAccessControlEntryRecord(id=key)),
        ("tokens", lambda key: RemoveDelegationTokenRecord(token_id=key)),
    ):
        was, now = getattr(old, table), getattr(new, table)
        records += [removal(key) for key in was if key not in now]
        records += [record for key, record in now.items() if was.get(key) != record]
    return records


def _topics(old, new):
    for topic in old.topics:
        if topic.name not in new.topics:
            yield RemoveTopicRecord(topic_id=topic.id)
    for topic in new.topics:
        known = old.topics.get(topic.name)
        if known is None:
            yield TopicRecord(name=topic.name, topic_id=topic.id)
        partitions = () if known is None else known.partitions
        topic_id = topic.id if known is None else known.id
        for index, partition in enumerate(topic.partitions):
            if index >= len(partitions):
                record = _partition_record(topic, index, partition)
                record.topic_id = topic_id
                yield record
            elif partitions[index] != partition:
                yield _change(topic_id, index, partitions[index], partition)


def _change(topic_id, index, old, new):
    def changed(field):
        return None if getattr(old, field) == getattr(new, field) else list(getattr(new, field))

    recovery = new.leader_recovery_state
    return PartitionChangeRecord(
        partition_id=index,
        topic_id=topic_id,
        isr=changed("isr"),
        leader=-2 if old.leader_epoch == new.leader_epoch else new.leader,
        replicas=changed("replicas"),
        adding_replicas=changed("adding_replicas"),
        removing_replicas=changed("removing_replicas"),
        leader_recovery_state=-1 if recovery == old.leader_recovery_state else recovery,
    )


def _configs(old, new):
    for number, name in {**old.configs, **new.configs}:
        was, now = old.config(number, name), new.config(number, name)
        if was == now or (number == CONFIG_TOPIC and name not in new.topics):
            continue
        for key in {**was, **now}:
            if was.get(key) != now.get(key):
                yield ConfigRecord(resource_type=number, resource_name=name, name=key, value=now.get(key))


def _quotas(old, new):
    for entity in {**old.quotas, **new.quotas}:
        was, now = old.quotas.get(entity, {}), new.quotas.get(entity, {})
        for key in {**was, **now}:
            if was.get(key) != now.get(key):
                yield ClientQuotaRecord(
                    entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
                    key=key,
                    value=now.get(key, 0.0),
                    remove=key not in now,
                )
