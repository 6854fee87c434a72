"""Who may do what on this node: the authorizers' chain, what a request asks it, and who is told.

`services.authorizer` is one of these, or None where everybody may do everything; then nobody asks anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from ipaddress import IPv6Address
from typing import TYPE_CHECKING, Any, Protocol

from kbroker.security.acl import SUPPORTED, ResourceType
from kbroker.security.authorizer import Question, Undecided, any_of

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.metadata.delta import ClusterDelta
    from kbroker.metadata.image import ClusterImage
    from kbroker.security.audit import Audit
    from kbroker.security.authorizer import AclAuthorizer, Chain


class Asker(Protocol):
    """The part of a connection that decisions need (`handlers/context.py: ConnectionContext`)."""

    connection_id: str
    client_address: str
    principal: str
    trusted: bool


class Asking(Protocol):
    """A request (`handlers/context.py: RequestContext`)."""

    api_key: int
    client_id: str | None

    @property
    def connection(self) -> Asker:
        """Where it came from."""
        ...


class Learned(Protocol):
    """A connection that recognises requests by their bytes, having checked them once."""

    context: Any

    def forget_known(self) -> None:
        """Parse and check everything anew."""
        ...


class Access:
    """What handlers ask.

    Args:
        chain: decides.
        acls: of the chain, if it has them; told of every change.
        audit: told of decisions.
        ask: gets answers from outside for what is `Undecided`; done when it is decided.
    """

    def __init__(
        self,
        chain: Chain,
        acls: AclAuthorizer | None = None,
        audit: Audit | None = None,
        ask: Callable[[Iterable[Question]], Deferred[None]] | None = None,
    ) -> None:
        self._chain = chain
        self._acls = acls
        self._audit = audit
        self.ask = ask
        self._learned: dict[str, Learned] = {}
        #: Decisions since the start.
        self.allowed_count = self.denied_count = 0

    @property
    def has_acls(self) -> bool:
        """Whether Kafka's ACLs decide here, so that they can be changed."""
        return self._acls is not None

    # -- questions -------------------------------------------------------------------------------------------

    def allows(
        self, context: Asking, operation: int, resource_type: int, name: str, *, quietly: bool = False
    ) -> bool:
        """The decision.

        Args:
            quietly: the answer only hides or shows something; nobody tried to do it.

        Raises:
            Undecided: somebody outside has to be asked first.
        """
        asker = context.connection
        if asker.trusted:
            return True
        question = Question(asker.principal, host_text(asker.client_address), operation, resource_type, name)
        allowed = self._chain.allows(question)
        if allowed:
            self.allowed_count += 1
        else:
            self.denied_count += 1
        if self._audit is not None and not quietly:
            self._audit.note(question, allowed, context.api_key, context.client_id)
        return allowed

    def note_allowed(self, context: Asking, operation: int, resource_type: int, names: Iterable[str]) -> None:
        """Tell the audit log of single resources where a right on the cluster was enough."""
        asker = context.connection
        if self._audit is None or asker.trusted:
            return
        host = host_text(asker.client_address)
        for name in names:
            question = Question(asker.principal, host, operation, resource_type, name)
            self._audit.note(question, True, context.api_key, context.client_id)

    def allowed(
        self,
        context: Asking,
        operation: int,
        resource_type: int,
        names: Iterable[str],
        *,
        quietly: bool = False,
    ) -> frozenset[str]:
        """Those of `names` that are allowed.

        Raises:
            Undecided: with everything that has to be asked.
        """
        found: list[str] = []
        questions: list[Question] = []
        for name in dict.fromkeys(names):
            try:
                if self.allows(context, operation, resource_type, name, quietly=quietly):
                    found.append(name)
            except Undecided as undecided:
                questions += undecided.questions
        if questions:
            raise Undecided(questions)
        return frozenset(found)

    def decided(
        self, context: Asking, operation: int, resource_type: int, names: Iterable[str]
    ) -> frozenset[str]:
        """Those of `names` that are known to be allowed, quietly; the rest is found out for later."""
        found: list[str] = []
        questions: list[Question] = []
        for name in names:
            try:
                if self.allows(context, operation, resource_type, name, quietly=True):
                    found.append(name)
            except Undecided as undecided:
                questions += undecided.questions
        if questions and self.ask is not None:
            self.ask(questions)
        return frozenset(found)

    def allows_some(self, context: Asking, operation: int, resource_type: int) -> bool:
        """Whether it is allowed on at least one resource of the type (KIP-679). Raises as `allows`."""
        asker = context.connection
        if asker.trusted:
            return True
        host = host_text(asker.client_address)
        return self._chain.allows(any_of(asker.principal, host, operation, resource_type))

    def operations(self, context: Asking, resource_type: ResourceType, name: str) -> int:
        """The bit field of the operations allowed on a resource (KIP-430). Raises as `allows`."""
        bits = 0
        questions: list[Question] = []
        for operation in SUPPORTED[resource_type]:
            try:
                if self.allows(context, operation, resource_type, name, quietly=True):
                    bits |= 1 << operation
            except Undecided as undecided:
                questions += undecided.questions
        if questions:
            raise Undecided(questions)
        return bits

    # -- changes ---------------------------------------------------------------------------------------------

    def on_metadata(self, old: ClusterImage, new: ClusterImage, delta: ClusterDelta) -> None:
        """Subscriber: ACLs may have changed."""
        if delta.acls_changed and self._acls is not None:
            self._acls.update(new.acls, delta.acls)
            self.forget()

    def forget(self) -> None:
        """Decide everything anew; connections check again what they recognise."""
        self._chain.forget()
        learned, self._learned = self._learned, {}
        for connection in learned.values():
            connection.forget_known()

    def learned(self, connection: Learned) -> None:
        """A connection recognises requests from now on."""
        self._learned[connection.context.connection_id] = connection

    def on_closed(self, connection_id: str) -> None:
        """A connection is over."""
        self._learned.pop(connection_id, None)


def host_text(address: str) -> str:
    """An address as Kafka compares it: IPv6 in Java's words."""
    return _java_text(address) if ":" in address else address


@lru_cache(maxsize=4096)
def _java_text(address: str) -> str:
    text, percent, scope = address.partition("%")
    try:
        parsed = IPv6Address(text)
    except ValueError:
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return ":".join(f"{int(part, 16):x}" for part in parsed.exploded.split(":")) + percent + scope
