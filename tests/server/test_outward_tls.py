import ssl
from urllib.parse import urlsplit

import pytest

from kbroker.server.outward_tls import http_connection, trusting
from tests.security.certificates import Authority, write


def _shake(client_context, server_context):
    """What either side says to the other, until both have agreed."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = client_context.wrap_bio(to_client, to_server, server_hostname="localhost")
    server = server_context.wrap_bio(to_server, to_client, server_side=True)
    waiting = [client, server]
    for _ in range(10):
        for side in list(waiting):
            try:
                side.do_handshake()
                waiting.remove(side)
            except ssl.SSLWantReadError:
                pass
    assert not waiting


@pytest.fixture(scope="module")
def authority():
    """Old-fashioned: what it signs does not say by which key."""
    return Authority()


@pytest.fixture
def server(authority, tmp_path):
    own = authority.sign("server")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(write(tmp_path, "own.pem", own.pem), write(tmp_path, "own.key", own.key_pem()))
    return context


def test_certificates_of_old_fashioned_authorities_will_do(authority, server, tmp_path):
    _shake(trusting(write(tmp_path, "ca.pem", authority.pem)), server)


def test_a_stranger_is_refused(server, tmp_path):
    with pytest.raises(ssl.SSLCertVerificationError):
        _shake(trusting(write(tmp_path, "ca.pem", Authority().pem)), server)


def test_without_a_file_those_of_the_system_are_trusted(authority, server, tmp_path, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", write(tmp_path, "ca.pem", authority.pem))
    _shake(trusting(), server)


def test_plain_addresses_have_no_tls():
    https = http_connection(urlsplit("https://localhost:8443/x"), 3.0)
    http = http_connection(urlsplit("http://localhost/x"), 3.0)
    assert [(each.host, each.port, each.timeout) for each in (https, http)] == [
        ("localhost", 8443, 3.0),
        ("localhost", 80, 3.0),
    ]
    assert [hasattr(each, "_context") for each in (https, http)] == [True, False]
