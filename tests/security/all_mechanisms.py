"""What OAUTHBEARER and GSSAPI need beside passwords: keys of a provider, and a KDC where there is one."""

import contextlib
import importlib.util

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.users import set_user
from tests.security.kdc import REALM, Kdc, find
from tests.security.secured import MECHANISMS, Secured
from tests.security.test_oauth import url_of

KERBEROS = "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true"
HAS_KDC = find("krb5kdc") is not None and importlib.util.find_spec("gssapi") is not None


@contextlib.contextmanager
def fully_secured(folder, key):
    """A broker whose listeners with SASL have every mechanism, for alice; `kdc` is None where there is none.

    Args:
        key: of the provider who signs tokens.
    """
    keys = url_of(folder, key)
    settings = {
        "sasl.oauthbearer.jwks.endpoint.url": keys,
        "sasl.oauthbearer.expected.audience": "kafka",
        "sasl.oauthbearer.expected.issuer": "me",
        "kbroker.oauthbearer.allowed.urls": keys,
    }
    with contextlib.ExitStack() as stack:
        kdc = None
        if HAS_KDC:
            kdc = Kdc(folder, ["kafka/localhost", "alice"])
            kdc.start()
            stack.callback(kdc.stop)
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            for name, value in kdc.environment.items():
                patch.setenv(name, value)
            settings["sasl.kerberos.service.name"] = "kafka"
            settings["sasl.jaas.config"] = (
                f'{KERBEROS} keyTab="{kdc.keytab}" principal="kafka/localhost@{REALM}";'
            )
        mechanisms = (*MECHANISMS, "OAUTHBEARER", *(["GSSAPI"] if kdc else []))
        secured = Secured(folder, mechanisms, **settings)
        secured.kdc = kdc
        stack.enter_context(secured.broker)
        with Cluster(secured.broker.bootstrap) as cluster:
            for mechanism in MECHANISMS[1:]:
                set_user(cluster, "alice", "alice-secret", mechanism)
        secured.broker.create_topic("t")
        yield secured
