"""What AlterConfigs and IncrementalAlterConfigs have in common: refusals that need only this broker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from kbroker.broker.deferred import Deferred
from kbroker.broker.restrictions import check_limits
from kbroker.config.definitions import broker_definition
from kbroker.config.resource_checks import check_broker
from kbroker.config.values import ConfigType
from kbroker.controller.configs import ConfigChange, ConfigOperation, ConfigResource
from kbroker.errors import ApiError, ConfigError, ErrorCode, error_code
from kbroker.handlers.context import BROKER
from kbroker.metadata.image import CONFIG_BROKER

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext

R = TypeVar("R")

BROKER_LOGGER = 8


class NamedValue(Protocol):
    """A setting of either request."""

    name: str
    value: str | None


#: Apache Kafka has these apart from its other settings, and does not find them for a list operation.
_NOT_OF_THE_CONFIG = frozenset(
    (
        "leader.replication.throttled.rate",
        "follower.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
    )
)


def refuse_duplicates(resources: Sequence[ConfigResource]) -> dict[int, ApiError]:
    """By position: the resources that come twice. Kafka never answers then in AlterConfigs; we refuse as its
    newer API does."""
    count = Counter(resources)
    return {
        index: ApiError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
        for index, resource in enumerate(resources)
        if count[resource] > 1
    }


def with_decided(
    decided: Deferred[list[ApiError | None]], positions: Sequence[int], errors: dict[int, ApiError | None]
) -> Deferred[dict[int, ApiError | None]]:
    """`errors`, together with what the controller says of the resources at `positions`."""
    answer: Deferred[dict[int, ApiError | None]] = Deferred()

    def add(done: Deferred[list[ApiError | None]]) -> None:
        try:
            errors.update(zip(positions, done.result()))
        except ApiError as error:
            errors.update(dict.fromkeys(positions, error))
        answer.resolve(errors)

    decided.then(add)
    return answer


def decided_elsewhere(
    services: Services, context: RequestContext, request: Any, positions: Sequence[int]
) -> Deferred[list[ApiError | None]] | None:
    """What the controller says of the resources at `positions`; None: it is this node.

    Only these are sent on, the others are answered here (KIP-590).
    """
    if services.controller.active or services.forward is None:
        return None
    if not positions:
        nothing: Deferred[list[ApiError | None]] = Deferred()
        nothing.resolve([])
        return nothing
    resources = [request.resources[position] for position in positions]
    passed_on = type(request)(resources=resources, validate_only=request.validate_only)
    sent = services.forward.request(passed_on, context.version, context.principal, context.client_address)

    def by_position(response: Any) -> list[ApiError | None]:
        said = {(each.resource_type, each.resource_name): each for each in response.responses}
        return [_error_of(said.get((each.resource_type, each.resource_name))) for each in resources]

    return sent.map(by_position)


def _error_of(entry: Any) -> ApiError | None:
    if entry is None:
        return ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, "The controller has not answered to this resource.")
    return ApiError(error_code(entry.error_code), entry.error_message) if entry.error_code else None


def results(
    shape: Callable[..., R], resources: Sequence[ConfigResource], errors: Mapping[int, ApiError | None]
) -> list[R]:
    """One entry of the answer a resource, by the answer's own class."""
    entries = []
    for index, resource in enumerate(resources):
        error = errors[index]
        entries.append(
            shape(
                error_code=0 if error is None else error.code,
                error_message=None if error is None else error.text,
                resource_type=resource.type,
                resource_name=resource.name,
            )
        )
    return entries


def check_settings(settings: Sequence[NamedValue]) -> None:
    """No name twice, no null where a value is needed.

    Raises:
        ApiError: INVALID_REQUEST.
    """
    if len({setting.name for setting in settings}) < len(settings):
        raise ApiError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    nulls = [
        setting.name
        for setting in settings
        if setting.value is None and getattr(setting, "config_operation", ConfigOperation.SET) != 1
    ]
    if nulls:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {','.join(nulls)}")


def check_node(
    services: Services, name: str, words: str = "Unexpected broker id, expected {}, but received {}"
) -> None:
    """Whether `name` is this node's id.

    Raises:
        ApiError: INVALID_REQUEST.
    """
    try:
        node_id = int(name)
    except ValueError:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Node id must be an integer, but it is: {name}") from None
    if node_id != services.broker_id:
        raise ApiError(ErrorCode.INVALID_REQUEST, words.format(services.broker_id, node_id))


def check_own_node(services: Services, context: RequestContext, name: str) -> None:
    """Settings of one broker are changed at that broker, which can judge them; it has, if it passes them on.

    Raises:
        ApiError: INVALID_REQUEST.
    """
    if context.connection.role == BROKER:
        check_node(services, name)


def check_broker_change(services: Services, resource: ConfigResource, settings: Mapping[str, str]) -> None:
    """Dynamic settings of this broker, or the defaults of all, as they would be.

    Raises:
        ApiError: INVALID_REQUEST.
    """
    check_broker(services.config, settings, per_broker=bool(resource.name))
    check_limits(settings)


def try_broker_change(
    services: Services,
    context: RequestContext,
    resource: ConfigResource,
    settings: Mapping[str, str],
    removed: Collection[str] = (),
    *,
    replaces: bool = False,
) -> None:
    """Have those who need them try settings of this broker, such as a key store, before they are taken.

    Args:
        settings: those that change.
        replaces: whether all others go.

    Raises:
        ApiError: INVALID_REQUEST.
    """
    if context.connection.role != BROKER or not resource.name:
        return
    layer = {} if replaces else dict(services.metadata.image.config(CONFIG_BROKER, resource.name))
    for name in removed:
        layer.pop(name, None)
    try:
        services.config.try_broker({**layer, **settings})
    except ConfigError as error:
        raise ApiError(ErrorCode.INVALID_REQUEST, str(error)) from None


def after_incremental(
    services: Services, resource: ConfigResource, changes: Sequence[ConfigChange]
) -> dict[str, str]:
    """The settings of a broker resource that `changes` touch, as they would be.

    Raises:
        ApiError: INVALID_CONFIG, a list operation on what is no list.
    """
    current = services.metadata.image.config(CONFIG_BROKER, resource.name)
    touched: dict[str, str] = {}
    for change in changes:
        if change.operation is ConfigOperation.DELETE or change.value is None:
            continue
        touched[change.name] = change.value
        if change.operation is ConfigOperation.SET:
            continue
        definition = broker_definition(change.name)
        if definition is None or change.name in _NOT_OF_THE_CONFIG:
            raise ApiError(ErrorCode.INVALID_CONFIG, f"Unknown config name: {change.name}")
        word = change.operation.name.lower()
        if definition.type is not ConfigType.LIST:
            raise ApiError(
                ErrorCode.INVALID_CONFIG, f"Config value {word} is not allowed for config key: {change.name}"
            )
        if change.operation is ConfigOperation.SUBTRACT:
            touched[change.name] = current.get(change.name, definition.default_text or "")
    return touched
