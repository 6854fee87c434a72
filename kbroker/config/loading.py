"""From files, environment and command line to one checked set of broker settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kbroker.config.broker_config import BrokerConfig
from kbroker.config.definitions import broker_definition, nearest_name
from kbroker.config.profiles import PROFILES
from kbroker.config.sources import environment_settings
from kbroker.errors import ConfigError
from kbroker.plain import made, plain

#: Names that Kafka takes although they are in no table: they belong to its plug-ins, or to Kafka before 4.0.
ELSEWHERE_KNOWN = frozenset(
    {
        "allow.everyone.if.no.acl.found",
        "auto.include.jmx.reporter",
        "broker.id.generation.enable",
        "control.plane.listener.name",
        "controlled.shutdown.max.retries",
        "controlled.shutdown.retry.backoff.ms",
        "delegation.token.master.key",
        "eligible.leader.replicas.enable",
        "group.coordinator.new.enable",
        "inter.broker.protocol.version",
        "leader.imbalance.per.broker.percentage",
        "log.message.downconversion.enable",
        "log.message.format.version",
        "log.message.timestamp.difference.max.ms",
        "metadata.log.segment.min.bytes",
        "offsets.commit.required.acks",
        "reserved.broker.max.id",
        "super.users",
    }
)
#: Those of them that kbroker acts on.
ELSEWHERE_OBEYED = frozenset(
    {
        "allow.everyone.if.no.acl.found",
        "broker.id.generation.enable",
        "reserved.broker.max.id",
        "super.users",
        "zookeeper.connect",
        "zookeeper.connection.timeout.ms",
        "zookeeper.max.in.flight.requests",
        "zookeeper.metadata.migration.enable",
        "zookeeper.session.timeout.ms",
        "zookeeper.set.acl",
        "zookeeper.ssl.client.enable",
        "zookeeper.ssl.endpoint.identification.algorithm",
        "zookeeper.ssl.keystore.location",
        "zookeeper.ssl.keystore.password",
        "zookeeper.ssl.keystore.type",
        "zookeeper.ssl.truststore.location",
        "zookeeper.ssl.truststore.type",
    }
)
ELSEWHERE_KNOWN_PREFIXES = (
    "zookeeper.",
    "password.encoder.",
    "config.providers.",
    "rlmm.config.",
    "rsm.config.",
)


@plain()
class Loaded:
    """The settings of a node, and what there is to warn of (whole sentences)."""

    config: BrokerConfig
    warnings: list[str] = made(default_factory=list)


def load_config(
    *,
    profile: str = "dev",
    files: Sequence[tuple[str, Mapping[str, str]]] = (),
    environment: Mapping[str, str] | None = None,
    assignments: Iterable[tuple[str, str]] = (),
    fallbacks: Mapping[str, str] | None = None,
) -> Loaded:
    """Settings in the order in which they win: profile, files, environment, assignments.

    Args:
        profile: `dev` or `production`.
        files: each file's name and its settings.
        environment: `os.environ` or a piece of it.
        assignments: from the command line.
        fallbacks: for settings that nobody made, log.dir counting as log.dirs.

    Raises:
        ConfigError: an unknown name (with the nearest known one), a refused value, a contradiction. Unknown
            names from the environment only warn: other programs have `KAFKA_…` variables too.
    """
    if profile not in PROFILES:
        raise ConfigError(f"--profile must be one of {', '.join(PROFILES)}, not {profile}")
    static = dict(PROFILES[profile])
    warnings: list[str] = []
    for source, settings in files:
        for name in settings:
            _require_known(name, source)
        _adopt(static, settings)
    from_environment = environment_settings(environment or {})
    for name in [name for name in from_environment if not _is_known(name)]:
        del from_environment[name]
        near = nearest_name(name)
        hint = f" (did you mean {near}?)" if near else ""
        warnings.append(f"the environment sets {name}, which is no setting{hint}")
    _adopt(static, from_environment)
    given = dict(assignments)
    for name in given:
        _require_known(name, "command line")
    _adopt(static, given)
    for name, text in (fallbacks or {}).items():
        if name not in static and not (name == "log.dirs" and "log.dir" in static):
            static[name] = text
    chosen = {*from_environment, *given, *(name for _, settings in files for name in settings)}
    if static.get("zookeeper.connect") and "process.roles" not in chosen:
        # The profile's roles are those of a KRaft node, and so is its id.
        static["process.roles"] = ""
        if all(static[name].strip() == "-1" for name in ("broker.id", "node.id") if name in chosen):
            static.pop("broker.id", None)
            static.pop("node.id", None)
    config = BrokerConfig(static)
    ignored = sorted(
        {*config.not_obeyed(chosen), *(n for n in static if broker_definition(n) is None)} - ELSEWHERE_OBEYED
    )
    if ignored:
        warnings.append(f"these settings are known but have no effect in kbroker yet: {', '.join(ignored)}")
    return Loaded(config, warnings)


def _adopt(static: dict[str, str], settings: Mapping[str, str]) -> None:
    """Lay `settings` over `static`; broker.id and node.id are one thing, so a later one replaces both."""
    if settings.get("broker.id", "-1").strip() != "-1" and "node.id" not in settings:
        static["node.id"] = settings["broker.id"]
    elif "node.id" in settings and "broker.id" not in settings:
        static.pop("broker.id", None)
    if "log.dir" in settings and "log.dirs" not in settings:
        static.pop("log.dirs", None)
    static.update(settings)


def _is_known(name: str) -> bool:
    return (
        broker_definition(name) is not None
        or name in ELSEWHERE_KNOWN
        or name.startswith(ELSEWHERE_KNOWN_PREFIXES)
    )


def _require_known(name: str, source: str) -> None:
    if _is_known(name):
        return
    near = nearest_name(name)
    hint = f"; did you mean {near}?" if near else ""
    raise ConfigError(f"{source}: unknown setting {name}{hint}")
