"""A broker with all kinds of listeners, and what clients need for them."""

from kbroker.testing import Broker
from tests.security.certificates import PASSWORD, Authority, write
from tests.security.logins import USERS

LISTENERS = ("SASL_PLAINTEXT", "SASL_SSL", "SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


class Secured:
    """A broker with all kinds of listeners, and what clients need for them.

    `more` are settings for other mechanisms than those of passwords.
    """

    def __init__(self, folder, mechanisms=MECHANISMS, **more):
        self.authority, self.other = Authority(), Authority("another")
        self.node = self.authority.sign("node")
        own = self.authority.sign("client")
        self.ca = write(folder, "ca.pem", self.authority.pem)
        self.certificate, self.key = (
            write(folder, "own.pem", own.pem),
            write(folder, "own.key", own.key_pem()),
        )
        self.client = own
        config = {
            "listeners": ",".join(f"{name}://127.0.0.1:0" for name in ("PLAINTEXT", *LISTENERS)),
            "sasl.enabled.mechanisms": ",".join(mechanisms),
            "listener.name.sasl_plaintext.plain.sasl.jaas.config": USERS,
            "listener.name.sasl_ssl.plain.sasl.jaas.config": USERS,
            "ssl.keystore.location": write(folder, "node.p12", self.node.pkcs12(self.authority.certificate)),
            "ssl.keystore.password": PASSWORD,
            "ssl.truststore.location": self.ca,
            "ssl.truststore.type": "PEM",
            "listener.name.ssl.ssl.client.auth": "required",
            "ssl.principal.mapping.rules": "RULE:^CN=(.*?),.*$/$1/,DEFAULT",
            "connection.failed.authentication.delay.ms": "1",
            "delegation.token.secret.key": "shared",
            **more,
        }
        self.mechanisms = mechanisms
        self.broker = Broker(config=config)

    def at(self, listener):
        return f"127.0.0.1:{self.broker.ports[listener]}"
