"""The security of one listener: its TLS, its SASL mechanisms, and how their parts come together.

Only made for listeners that are not PLAINTEXT, so that a plain broker loads nothing of it. Everything that
can be wrong in the settings is found when it is made, before the node touches its disk.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from functools import cached_property, partial
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING

from kbroker.broker.access import host_text
from kbroker.config.listeners import ListenerAddress
from kbroker.config.security import ListenerSettings
from kbroker.errors import ConfigError, ProtocolError
from kbroker.handlers.token_requests import token_rules
from kbroker.security.jaas import GSSAPI, OAUTHBEARER, PLAIN, parse_jaas
from kbroker.security.sasl import SaslServer
from kbroker.security.scram import MECHANISMS as SCRAM, ScramCredential, ScramServer, TokenCredential
from kbroker.security.scram_nobody import Nobodies, Shape, shape_of, shared_secret
from kbroker.server.login_metrics import add_login_metrics
from kbroker.server.newcomers import EarlyBytes, Newcomers
from kbroker.server.turns import Slices

if TYPE_CHECKING:
    import ssl

    from kbroker.broker.services import Services
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.security.audit import Audit
    from kbroker.server.connection import ConnectionCore
    from kbroker.server.frame_handler import FrameHandler
    from kbroker.server.runtime import BlockingRunner
    from kbroker.server.sasl_door import Door

_log = logging.getLogger(__name__)
#: Threads for key derivations and other slow steps of logins: more wait their turn.
LOGIN_THREADS = 2
#: The same for steps of TLS handshakes: a thousand a second with RSA, which is what the loop can take. With
#: more threads it would have to share its core with all of them.
HANDSHAKE_THREADS = 1
#: Of all of them: the loop should not wait for its core while they compute. In a storm of handshakes it does
#: 150 times a second with 0, 30 times with 10, 8 times with 15; with 19 they would get nothing beside a busy
#: loop on the same core.
NEWCOMERS_NICE = 15
#: So many users' credentials show what they look like.
_SHAPES_OF_MAX = 1000


class ListenerSecurity:
    """See above.

    Args:
        config: of the node.
        listener: not a PLAINTEXT one.
        early: of the node.

    Raises:
        ConfigError: the settings do not do.
    """

    def __init__(
        self, config: BrokerConfig, listener: ListenerAddress, early: EarlyBytes | None = None
    ) -> None:
        self._settings = ListenerSettings(config, listener.name)
        self._listener = listener
        self._config = config
        self._door: Door | None = None
        self._services: Services | None = None
        self._runner: BlockingRunner | None = None
        self._slow_runner: BlockingRunner | None = None
        self._handshakes: BlockingRunner | None = None
        self._audit: Audit | None = None
        self.newcomers = Newcomers()
        self.early = early or EarlyBytes()
        self._makers: dict[str, Callable[[], SaslServer]] = {}
        #: By mechanism: what credentials look like, and the table that was looked at.
        self._shapes: dict[str, tuple[object, frozenset[Shape]]] = {}
        self.encrypted = listener.security_protocol in ("SSL", "SASL_SSL")
        self._has_sasl = listener.security_protocol.startswith("SASL_")
        if self.encrypted:
            self._prepare_tls()
        if self._has_sasl:
            self._prepare_sasl()
            config.subscribe(self._sasl_changed)
            config.on_trial(self._try_sasl)

    def serve(self, services: Services) -> None:
        """Begin: credentials are those of this node's metadata."""
        self._services = services
        self._audit = services.extras.get("audit")
        add = partial(add_login_metrics, services.metrics, self._listener.name, self)
        services.metrics.on_first_use.append(add)
        from kbroker.server.runtime import BlockingRunner

        loop, settings = asyncio.get_running_loop(), self._settings
        if self.encrypted:
            self._handshakes = BlockingRunner(
                loop, threads=HANDSHAKE_THREADS, name="tls", nice=NEWCOMERS_NICE
            )
        if not self._has_sasl:
            return
        from kbroker.server.sasl_door import Door

        self._runner = BlockingRunner(loop, threads=LOGIN_THREADS, name="login", nice=NEWCOMERS_NICE)
        if self._config.get_list("kbroker.plain.backends") != ("jaas",):
            # Threads of their own: who waits for LDAP does not hold up others.
            from kbroker.server.plain_backends import THREADS

            self._slow_runner = BlockingRunner(loop, threads=THREADS, name="plain", nice=NEWCOMERS_NICE)
        run, slow = self._runner.run, self._slow_runner.run if self._slow_runner else None
        self._door = Door(
            self._makers,
            lambda mechanism: self._makers[mechanism](),
            lambda mechanism: settings.integer("connections.max.reauth.ms", mechanism),
            lambda mechanism: slow if slow is not None and mechanism == PLAIN else run,
            services.timer,
            services.clock,
            login_bytes_max=settings.integer("sasl.server.max.receive.size"),
            failure_delay_ms=settings.integer("connection.failed.authentication.delay.ms"),
            early=self.early,
            tell=self._tell if self._audit is not None else None,
            slices=Slices(loop.call_soon, perf_counter),
        )

    def warn_if_nobody_has_credentials(self) -> None:
        """Say it once where all would have to log in with SCRAM, but no user is known."""
        assert self._services is not None
        if self._makers and not set(self._makers) - set(SCRAM) and not self._services.metadata.image.scram:
            _log.warning(
                "listener %s: nobody can log in, as no user has SCRAM credentials: add one by another "
                "listener (kbroker-admin users), or when a new folder is formatted "
                "(kbroker storage format --add-scram)",
                self._listener.name,
            )

    def close(self) -> None:
        """Stop the threads."""
        runner, slow, handshakes = self._runner, self._slow_runner, self._handshakes
        self._runner = self._slow_runner = self._handshakes = None
        if handshakes is not None:
            handshakes.close()
        if runner is not None:
            runner.close()
        if slow is not None:
            slow.close(wait=False)

    @property
    def under_way(self) -> int:
        """Handshakes and logins that are not over."""
        return len(self.newcomers) + (0 if self._door is None else len(self._door.newcomers))

    @property
    def crowded_out(self) -> int:
        """How many had to make room."""
        of_door = 0 if self._door is None else self._door.newcomers.dropped
        return self.newcomers.dropped + of_door

    def certificate_ends_s(self) -> float | None:
        """When the certificate of the settings is over, in seconds since 1970.

        Raises:
            ConfigError: the key store cannot be read.
        """
        from kbroker.security.ssl_trial import identity_of

        found = identity_of(self._settings.text, self._listener.name)
        return None if found is None else found.ends_s

    # -- for each connection ---------------------------------------------------------------------------------

    def guard(self, connection: ConnectionCore, inside: FrameHandler) -> FrameHandler:
        """The handler for a new connection."""
        if self._door is None:
            return inside
        from kbroker.server.sasl_gate import SaslGate

        gate = SaslGate(self._door, inside, connection.request_bytes_max)
        gate.admit(connection)
        connection.handler = gate
        return gate

    def context(self) -> ssl.SSLContext:
        """TLS for a new connection."""
        return self._tls.context()

    def run_handshake(self, work: Callable[[], object], done: Callable[[BaseException | None], None]) -> None:
        """Do a step of a handshake in a thread; nothing happens once the listener is closed."""
        if self._handshakes is not None:
            self._handshakes.run(work, done)

    def shaken(self, connection: ConnectionCore, engine: ssl.SSLObject) -> None:
        """The handshake is over: who is it?

        Raises:
            ProtocolError: nobody that a rule names.
        """
        if self._has_sasl:
            return
        certificate = engine.getpeercert()
        subject = None if not certificate else certificate.get("subject")
        if not subject:
            return
        from kbroker.security.principal_rules import NoMatchingRule, distinguished_name

        name = distinguished_name(subject)  # type: ignore[arg-type]
        try:
            connection.context.principal = f"User:{self._rules.name_of(name)}"
            self._tell(connection, connection.context.principal, "SSL", True, "")
        except NoMatchingRule:
            self._tell(connection, f"User:{name}", "SSL", False, "no rule fits")
            raise ProtocolError("no rule of ssl.principal.mapping.rules fits its certificate") from None

    def _tell(
        self, connection: ConnectionCore, principal: str, mechanism: str, allowed: bool, reason: str
    ) -> None:
        if self._audit is not None:
            host = host_text(connection.context.client_address)
            self._audit.login(principal, host, self._listener.name, mechanism, allowed, reason)

    # -- settings --------------------------------------------------------------------------------------------

    def _prepare_tls(self) -> None:
        from time import monotonic

        from kbroker.security.principal_rules import PrincipalRules
        from kbroker.security.ssl_context import TlsSource, server_context, store_paths

        settings, name = self._settings, self._listener.name
        # As in Kafka, certificates of clients do not count beside SASL, unless the listener's own setting
        # says so.
        own = not self._has_sasl or settings.is_own("ssl.client.auth")
        self._rules = PrincipalRules(settings.text("ssl.principal.mapping.rules"))
        self._tls = TlsSource(
            lambda: server_context(settings.text, name, asks_clients=own),
            lambda: store_paths(settings.text),
            monotonic,
        )

        def renew(changed: frozenset[str]) -> None:
            if any(".ssl." in each or each.startswith("ssl.") for each in changed):
                self._tls.renew()

        self._config.subscribe(renew)
        self._config.on_trial(self._try_tls)

    def _try_tls(self, config: BrokerConfig, changed: frozenset[str]) -> None:
        """Whether other TLS settings would do."""
        prefix = f"listener.name.{self._listener.name.lower()}.ssl."
        if not any(each.startswith((prefix, "ssl.")) for each in changed):
            return
        from kbroker.security.ssl_trial import check_key_store, identity_of

        tried, name = ListenerSettings(config, self._listener.name), self._listener.name
        try:
            old = identity_of(self._settings.text, name)
        except ConfigError:
            old = None  # the store in use has gone from the disk
        own = not self._has_sasl or tried.is_own("ssl.client.auth")
        check_key_store(old, tried.text, name, asks_clients=own)

    def _try_sasl(self, config: BrokerConfig, changed: frozenset[str]) -> None:
        """Whether other SASL settings would do, as far as that can be said without asking others."""
        if not any("sasl." in each for each in changed):
            return
        tried = ListenerSettings(config, self._listener.name)
        for mechanism in self._mechanisms(tried):
            if mechanism == PLAIN and "jaas" in config.get_list("kbroker.plain.backends"):
                self._plain_users(tried)

    def _mechanisms(self, settings: ListenerSettings) -> tuple[str, ...]:
        mechanisms, name = settings.words("sasl.enabled.mechanisms"), self._listener.name
        if not mechanisms:
            raise ConfigError(f"{name}: sasl.enabled.mechanisms is empty")
        for mechanism in mechanisms:
            if mechanism not in (PLAIN, OAUTHBEARER, GSSAPI, *SCRAM):
                raise ConfigError(
                    f"{name}: sasl.enabled.mechanisms names {mechanism}, which is not supported"
                )
        return mechanisms

    def _prepare_sasl(self) -> None:
        mechanisms = self._mechanisms(self._settings)
        self._makers.update({mechanism: self._maker(mechanism) for mechanism in mechanisms})

    def _sasl_changed(self, changed: frozenset[str]) -> None:
        """Other users of PLAIN, other mechanisms: for the next logins (KIP-226)."""
        if not any("sasl." in each for each in changed):
            return
        before = dict(self._makers)
        self._makers.clear()
        try:
            self._prepare_sasl()
        except ConfigError as error:
            self._makers.update(before)
            _log.error("the SASL settings before stay in use: %s", error)

    def _maker(self, mechanism: str) -> Callable[[], SaslServer]:
        if mechanism == PLAIN:
            return self._plain()
        if mechanism in SCRAM:
            nobodies = self._nobodies
            return lambda: ScramServer(
                mechanism,
                lambda user: self._scram_credential(user, mechanism),
                self._token_credential if self._config.get_str("delegation.token.secret.key") else None,
                nonce=secrets.token_urlsafe(24),
                nobodies=nobodies,
            )
        if mechanism == OAUTHBEARER:
            return self._oauth()
        from kbroker.server.gssapi_server import gssapi_servers

        return gssapi_servers(self._settings, self._listener.name)

    def _oauth(self) -> Callable[[], SaslServer]:
        from kbroker.security.oauth import OAuthServer
        from kbroker.server.oauth_setup import token_validator

        validate = token_validator(self._config, self._settings, self._listener.name)
        return lambda: OAuthServer(validate)

    def _plain(self) -> Callable[[], SaslServer]:
        from kbroker.security.sasl_plain import PlainServer, check_users

        back_ends = self._config.get_list("kbroker.plain.backends")
        if back_ends != ("jaas",):
            from kbroker.server.plain_backends import plain_chain

            jaas = self._plain_users(self._settings) if "jaas" in back_ends else {}
            chain = plain_chain(self._config, jaas)
        if self._listener.security_protocol == "SASL_PLAINTEXT":
            _log.warning(
                "%s: passwords of SASL PLAIN cross the network as they are; SASL_SSL would hide them",
                self._listener.name,
            )
        if back_ends != ("jaas",):
            return lambda: PlainServer(chain, slow=True)
        check = check_users(self._plain_users(self._settings))
        return lambda: PlainServer(check)

    @staticmethod
    def _plain_users(settings: ListenerSettings) -> dict[str, bytes]:
        from kbroker.security.sasl_plain import users_of

        name, text = settings.name_of("sasl.jaas.config", PLAIN), settings.text("sasl.jaas.config", PLAIN)
        if not text:
            raise ConfigError(f'PLAIN needs its users: {name}=…PlainLoginModule required user_NAME="…";')
        return users_of(parse_jaas(text, name).options)

    def _token_credential(self, token_id: str) -> TokenCredential | None:
        """Called in a thread: images do not change."""
        assert self._services is not None
        rules = token_rules(self._services)
        record = self._services.controller.committed_image.tokens.get(token_id)
        if rules is None or record is None:
            return None
        if record.expiration_timestamp <= self._services.clock.now_ms():
            return None
        return TokenCredential(rules.mac(token_id), record.owner, record.expiration_timestamp)

    @cached_property
    def _nobodies(self) -> Nobodies:
        # Nodes that share a secret show the same of users who do not exist.
        shared = self._config.get_str("delegation.token.secret.key")
        secret = shared_secret(shared) if shared else secrets.token_bytes(32)
        return Nobodies(secret, self._scram_shapes)

    def _scram_shapes(self, mechanism: str) -> frozenset[Shape]:
        assert self._services is not None
        users = self._services.controller.committed_image.scram
        seen, shapes = self._shapes.get(mechanism, (None, frozenset()))
        if seen is not users:
            number = SCRAM[mechanism][0]
            some = islice((each for (_, kind), each in users.items() if kind == number), _SHAPES_OF_MAX)
            shapes = frozenset(shape_of(each.salt, each.iterations) for each in some)
            self._shapes[mechanism] = (users, shapes)
        return shapes

    def _scram_credential(self, user: str, mechanism: str) -> ScramCredential | None:
        assert self._services is not None
        record = self._services.controller.committed_image.scram.get((user, SCRAM[mechanism][0]))
        if record is None:
            return None
        return ScramCredential(record.salt, record.stored_key, record.server_key, record.iterations)
