"""How an older release of Kafka answers: in other words, with other codes, after other checks.

Today's handlers know nothing of it. Where `kbroker.compatibility` names a release before 4.0, the route of an
API (and the paths that take bytes themselves) get its manner: `around` stands before the handler, may change
what is asked, ask again or answer by itself; then `rules` turn the errors of the answer into those of the
release. Otherwise there is no manner, and nothing of this is on any request's way.

What is said differently is in `kafka_3_9.py` and `kafka_2_8.py`: those two were asked (`asked_release`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from types import CoroutineType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from kbroker.broker.deferred import Deferred
from kbroker.errors import ErrorCode
from kbroker.protocol.releases import asked_release

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext

Handle: TypeAlias = "Callable[[Services, RequestContext, Any], Any]"
Around: TypeAlias = "Callable[[Handle, Services, RequestContext, Any], Any]"
#: Makes a text of the match of today's, and of the item of the answer that has the error.
Words: TypeAlias = "Callable[[re.Match[str], Any], str | None]"

#: Types of resources as texts name them.
_KINDS = {2: "TOPIC", 4: "BROKER", 8: "BROKER_LOGGER"}
#: As today.
SAME = "{0}"


class Rule(NamedTuple):
    """An error of today, and what the release says instead.

    Attributes:
        code: today's.
        pattern: of the whole of today's text; "" for none.
        to: the code then; None: the same.
        text: then: None for none, a function, or words with {0} for today's, {1} for the first group of the
            pattern, {of} for the item of the answer, {kind} for its type of resource.
        api: of whose answers; None: of any.
        since: the first of the API's versions that it is for.
    """

    code: int
    pattern: str = ".*"
    to: int | None = None
    text: str | Words | None = SAME
    api: int | None = None
    since: int = 0

    def apply(self, item: Any) -> bool:
        """Whether that is the error of an item, which has the other one now."""
        if item.error_code != self.code:
            return False
        match = re.fullmatch(self.pattern, getattr(item, "error_message", None) or "", re.DOTALL)
        if match is None:
            return False
        if self.to is not None:
            item.error_code = ErrorCode(self.to)
        if self.text != SAME and hasattr(item, "error_message"):
            item.error_message = self._words(match, item)
        return True

    def _words(self, match: re.Match[str], item: Any) -> str | None:
        if self.text is None or callable(self.text):
            return None if self.text is None else self.text(match, item)
        kind = _KINDS.get(getattr(item, "resource_type", 0), "UNKNOWN")
        return self.text.format(match[0], *match.groups(), of=item, kind=kind)


class Manner(NamedTuple):
    """Of one API.

    Attributes:
        rules: the first that fits an error counts.
        around: stands before the handler.
    """

    rules: tuple[Rule, ...] = ()
    around: Around | None = None

    def retell(self, message: Any, version: int) -> Any:
        """Have an answer's errors be those of the release, and return it."""
        if not hasattr(type(message), "__slots__"):
            return message
        if getattr(message, "error_code", 0):
            any(version >= rule.since and rule.apply(message) for rule in self.rules)
        for name in type(message).__slots__:
            elements = getattr(message, name)
            if type(elements) is list:
                for element in elements:
                    self.retell(element, version)
        return message

    def wrap(self, handle: Handle) -> Handle:
        """The handler, as it answers then. What it raises is not retold: its answer is not made yet."""
        around = self.around

        def handled(services: Services, context: RequestContext, request: Any) -> Any:
            if around is None:
                answer = handle(services, context, request)
            else:
                answer = around(handle, services, context, request)
            return then(answer, lambda found: self.retell(found, context.version))

        return handled


def then(answer: Any, told: Callable[[Any], Any]) -> Any:
    """What `told` makes of an answer, as soon as that is there."""
    if answer is None:
        return None
    if isinstance(answer, Deferred):
        return answer.map(lambda found: None if found is None else told(found))
    if type(answer) is CoroutineType:
        return _awaited(answer, told)
    return told(answer)


async def _awaited(answer: Any, told: Callable[[Any], Any]) -> Any:
    found = await answer
    return None if found is None else told(found)


def manner_of(compatibility: str, api_key: int) -> Manner | None:
    """How the node answers an API; None: as today."""
    release = asked_release(compatibility)
    return None if release is None else _manners(release).get(api_key)


def in_manner(compatibility: str, api_key: int, handle: Handle) -> Handle:
    """A handler, as it answers there."""
    manner = manner_of(compatibility, api_key)
    return handle if manner is None else manner.wrap(handle)


@cache
def _manners(release: str) -> Mapping[int, Manner]:
    module = import_module(f"kbroker.handlers.manners.kafka_{release.replace('.', '_')}")
    keys = {rule.api for rule in module.RULES} | module.AROUND.keys()
    general = [rule for rule in module.RULES if rule.api is None]
    if general:
        keys |= module.GENERAL_APIS
    return {
        key: Manner((*(rule for rule in module.RULES if rule.api == key), *general), module.AROUND.get(key))
        for key in keys
        if key is not None
    }
