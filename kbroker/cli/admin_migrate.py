"""`kbroker-admin migrate`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from kbroker.cli.admin_base import AdminCommand, Session, pass_session
from kbroker.client.cluster import Cluster
from kbroker.client.connection import Connection
from kbroker.client.errors import ClientError, Unreachable, check
from kbroker.protocol.api_keys import ApiKey
from kbroker.protocol.generated.kbroker_command_request import KbrokerCommandRequest
from kbroker.protocol.generated.kbroker_command_response import KbrokerCommandResponse

_FLAG = "zookeeper.metadata.migration.enable"
_SETTINGS = f"{_FLAG}=true, controller.quorum.voters and controller.listener.names"
_ZOOKEEPER_FIRST = (
    "bring ZooKeeper back, which the quorum's leader does not reach: until then nothing is copied, and "
    "brokers in ZooKeeper's mode hear of no new topic or leader"
)
_MEANING = {
    "ZOOKEEPER": "ZooKeeper has the metadata, and there is no migration",
    "NONE": "the cluster began in KRaft, there is nothing to migrate",
    "PRE_MIGRATION": "ZooKeeper has the metadata; the quorum waits",
    "MIGRATION": "the quorum has the metadata, and writes them to ZooKeeper, too",
    "POST_MIGRATION": "the quorum has the metadata; ZooKeeper is not needed any more",
}


@click.command(cls=AdminCommand)
@pass_session
def migrate(session: Session) -> None:
    """Show how far the cluster is on its way from ZooKeeper to KRaft (KIP-866), and what to do next.

    Asks all brokers; those of Apache Kafka do not tell. --bootstrap may name a controller of kbroker's.
    """
    found = _gather(session.cluster)
    data = {**found, "meaning": _MEANING.get(found["phase"], ""), "next": next_step(found)}
    if session.json:
        session.say("", data)
        return
    for name, text in summary(found):
        session.say(f"{name:<16}{text}")
    rows: list[Sequence[object]] = [
        (
            each["id"],
            each["address"],
            each["mode"] or "?",
            _yes(each["migrates"]),
            _yes(each["registered"]),
            each["refusal"],
        )
        for each in found["brokers"]
    ]
    session.show(data, ("BROKER", "ADDRESS", "MODE", "MIGRATES", "IN QUORUM", "TROUBLE"), rows)
    session.say(f"next: {data['next']}")


def summary(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The lines above the table."""
    phase, driver = found["phase"], found["driver"] or {}
    lines = [("phase", f"{phase}: {_MEANING.get(phase, 'unknown to this release')}")]
    if found["leader"] >= 0:
        lines.append(("quorum's leader", str(found["leader"])))
    if driver:
        lines.append(("it is at", f"{driver['phase']}: {driver['meaning']}"))
    if driver.get("waits_for"):
        lines.append(("it waits for", driver["waits_for"]))
    if driver.get("copied_records"):
        lines.append(("copied", f"{driver['copied_records']} records"))
    if not driver.get("reaches_zookeeper", True) and phase in ("PRE_MIGRATION", "MIGRATION"):
        lines.append(("ZooKeeper", "is not reached by the quorum's leader"))
    down = _ids(each["id"] for each in found["brokers"] if each["down"])
    if down:
        lines.append(("down", f"broker {down}"))
    if phase == "PRE_MIGRATION":
        count = len(found["in_zookeeper_mode"])
        lines.append(("brokers", f"{count} of {len(found['brokers'])} are registered with the quorum"))
    elif found["offset"] >= 0 and phase != "ZOOKEEPER":
        lines.append(("topics", f"{found['topics']} in the quorum's metadata"))
    if phase == "MIGRATION":
        old, new = len(found["in_zookeeper_mode"]), len(found["in_kraft_mode"])
        lines.append(("brokers", f"{old} in ZooKeeper's mode, {new} in KRaft's"))
        lines.append(("dual writes", _lag(driver)))
    return lines


def next_step(found: Mapping[str, Any]) -> str:
    """What an operator does next: the steps of docs/zookeeper.md."""
    phase, driver = found["phase"], found["driver"] or {}
    if phase == "ZOOKEEPER":
        return (
            f"start a quorum of controllers with this cluster's id, {_FLAG}=true and zookeeper.connect, then "
            f"restart the brokers one by one with {_SETTINGS}"
        )
    if phase == "PRE_MIGRATION":
        if driver.get("phase") == "WAIT_FOR_CONTROLLER_QUORUM":
            return (
                f"have all controllers of the quorum run with {_FLAG}=true and zookeeper.connect: "
                f"{driver['waits_for']}"
            )
        without = _ids(each["id"] for each in found["brokers"] if each["migrates"] is False)
        if not driver.get("reaches_zookeeper", True):
            return _ZOOKEEPER_FIRST
        if without:
            return f"restart broker {without} with {_SETTINGS}"
        absent = _ids(driver.get("absent_brokers", ()))
        if absent:
            return f"start broker {absent}, which has replicas and is down, with {_SETTINGS}"
        missing = _ids(driver.get("missing_brokers", ()))
        if missing:
            return f"restart broker {missing} with {_SETTINGS}; if it was, see why it is not in the quorum"
        return "wait: the quorum copies everything as soon as it has what it waits for"
    down = _ids(each["id"] for each in found["brokers"] if each["down"])
    if phase == "MIGRATION":
        if found["in_zookeeper_mode"] and not driver.get("reaches_zookeeper", True):
            return _ZOOKEEPER_FIRST
        if down:
            return f"start broker {down}, which the quorum does not hear, before anything else"
        if found["in_zookeeper_mode"]:
            return _into_kraft(found)
        return (
            f"restart the controllers one by one without {_FLAG} and zookeeper.connect: that ends the "
            "migration, and there is no way back"
        )
    if phase == "POST_MIGRATION" and found["in_zookeeper_mode"]:
        return f"{_into_kraft(found)}: nobody tells it anything any more"
    return "nothing"


def _into_kraft(found: Mapping[str, Any]) -> str:
    return (
        f"restart broker {_ids(found['in_zookeeper_mode'])}, one by one, with process.roles=broker "
        "and node.id in place of broker.id, without zookeeper.connect"
    )


def _lag(driver: Mapping[str, Any]) -> str:
    written = driver.get("written_offset", -1)
    if written < 0:
        return "not told" if not driver else "nothing is written to ZooKeeper now"
    behind = max(driver["offset"] - written, 0)
    return (
        f"up to offset {written}, {behind} records behind"
        if behind
        else f"up to offset {written}, all there is"
    )


def _gather(cluster: Cluster) -> dict[str, Any]:
    connection = cluster.any()
    if not connection.has(ApiKey.METADATA):
        told = _ask(connection)
        if told is None:
            raise ClientError("this is a controller of Apache Kafka, which does not tell: see its metrics")
        return merged({}, {}, [told])
    addresses = {each.node_id: f"{each.host}:{each.port}" for each in cluster.brokers().values()}
    told_by: dict[int, dict[str, Any]] = {}
    unreached: dict[int, str] = {}
    for node_id in sorted(addresses):
        try:
            told = _ask(cluster.node(node_id))
        except Unreachable as error:
            unreached[node_id] = str(error)
            continue
        if told is not None:
            told_by[node_id] = told
    if not told_by and unreached:
        raise ClientError(f"no broker tells: {next(iter(unreached.values()))}")
    if not told_by:
        raise ClientError(
            "no broker tells: they are Apache Kafka's; --bootstrap may name a controller of kbroker's"
        )
    return merged(addresses, unreached, list(told_by.values()))


def _ask(connection: Connection) -> dict[str, Any] | None:
    """What it tells; None: it is no kbroker, or one of an older release."""
    if not connection.has(ApiKey.KBROKER_COMMAND):
        return None
    request = KbrokerCommandRequest(command="migrate", arguments=b"{}")
    answer = connection.ask(request, KbrokerCommandResponse)
    check(answer.error_code, answer.error_message, "the migration", needs="DESCRIBE")
    found: dict[str, Any] = json.loads(bytes(answer.result or b"null"))
    return found


def merged(
    addresses: Mapping[int, str], unreached: Mapping[int, str], told: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """One picture: the active controller knows best, then who has read most of its log."""
    quorums = [each["quorum"] for each in told if each["quorum"] is not None]
    quorums.sort(key=lambda each: ("driver" in each, each["offset"]))
    quorum: Mapping[str, Any] = quorums[-1] if quorums else {}
    said = {each["broker"]["node"]: each["broker"] for each in told if each["broker"] is not None}
    in_zookeeper, in_kraft = quorum.get("in_zookeeper_mode", []), quorum.get("in_kraft_mode", [])
    driver = quorum.get("driver") or {}
    missing, absent = driver.get("missing_brokers", []), driver.get("absent_brokers", [])
    fenced = quorum.get("fenced", [])
    known = {int(node_id): address for node_id, address in quorum.get("addresses", {}).items()}
    brokers = []
    for node_id in sorted({*addresses, *in_zookeeper, *in_kraft, *missing, *absent}):
        own = said.get(node_id)
        registered = node_id in in_zookeeper or node_id in in_kraft
        mode = (
            own["mode"]
            if own
            else "zookeeper"
            if node_id in in_zookeeper
            else "kraft"
            if registered
            else None
        )
        brokers.append(
            {
                "id": node_id,
                "address": addresses.get(node_id, known.get(node_id)),
                "mode": mode,
                "migrates": own["migrates"] if own else True if node_id in in_zookeeper else None,
                "registered": registered,
                "down": node_id in absent or node_id in fenced or node_id in unreached,
                "refusal": unreached.get(node_id)
                or (own["refusal"] if own else "")
                or ("the quorum does not hear it" if node_id in fenced else "")
                or ("it has replicas, and is not registered in ZooKeeper" if node_id in absent else ""),
            }
        )
    # Before a quorum was heard of there is nothing in its log.
    heard = quorum.get("offset", -1) >= 0
    phase = quorum["phase"] if heard else "ZOOKEEPER"
    if phase == "NONE" and quorum.get("driver"):
        phase = "PRE_MIGRATION"  # what its first records, not there yet, will say
    return {
        "phase": phase,
        "source": quorum.get("source"),
        "leader": quorum.get("leader", -1),
        "driver": quorum.get("driver"),
        "brokers": brokers,
        "in_zookeeper_mode": in_zookeeper,
        "in_kraft_mode": in_kraft,
        "topics": quorum.get("topics", 0),
        "offset": quorum.get("offset", -1),
    }


def _ids(node_ids: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(node_ids)))


def _yes(value: bool | None) -> str | None:
    return None if value is None else "yes" if value else "no"
