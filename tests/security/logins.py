"""A raw connection that logs in step by step, and settings that tests share."""

import socket
import struct

from kbroker.protocol.api_keys import request_header_version, response_class, response_header_version
from kbroker.protocol.generated.request_header import RequestHeader
from kbroker.protocol.generated.response_header import ResponseHeader
from kbroker.protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kbroker.protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kbroker.security.scram import ScramClient

PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
USERS = (
    f'{PLAIN_MODULE} required username="admin" password="admin-secret" '
    'user_admin="admin-secret" user_alice="alice-secret" user_bob="bob-secret";'
)
CLOSED = "closed"


def client_jaas(module, user, password, more=""):
    return f'{module} required username="{user}" password="{password}"{more};'


class Raw:
    """Requests over one socket; what does not come is CLOSED."""

    def __init__(self, port, wrap=None):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        if wrap is not None:
            self.socket = wrap(self.socket)
        self._correlation = 0

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(struct.pack(">i", len(data)) + data)

    def frame(self):
        head = self._read(4)
        return CLOSED if head == CLOSED else self._read(struct.unpack(">i", head)[0])

    def _read(self, size):
        data = b""
        while len(data) < size:
            try:
                part = self.socket.recv(size - len(data))
            except ConnectionError:
                return CLOSED
            if not part:
                return CLOSED
            data += part
        return data

    def raw(self, data):
        self.send(data)
        return self.frame()

    def encode(self, request, version):
        self._correlation += 1
        frame = bytearray()
        header = RequestHeader(
            request_api_key=request.API_KEY,
            request_api_version=version,
            correlation_id=self._correlation,
            client_id="raw",
        )
        header.encode_into(frame, request_header_version(request.API_KEY, version))
        request.encode_into(frame, version)
        return bytes(frame)

    def ask(self, request, version):
        self.send(self.encode(request, version))
        return self.answer(request, version)

    def answer(self, request, version):
        frame = self.frame()
        if frame == CLOSED:
            return CLOSED
        _, position = ResponseHeader.decode_from(frame, response_header_version(request.API_KEY, version), 0)
        return response_class(request.API_KEY).decode(frame, version, position)

    def handshake(self, mechanism, version=1):
        return self.ask(SaslHandshakeRequest(mechanism=mechanism), version)

    def token(self, data, version=2):
        return self.ask(SaslAuthenticateRequest(auth_bytes=data), version)

    def plain(self, user, password, version=2):
        self.handshake("PLAIN")
        return self.token(f"\0{user}\0{password}".encode(), version)

    def scram(self, user, password, mechanism="SCRAM-SHA-256", extensions=None):
        """The last answer."""
        self.handshake(mechanism)
        client = ScramClient(mechanism, user, password, "client-nonce", extensions)
        answer = self.token(client.step(None))
        if answer.error_code:
            return answer
        return self.token(client.step(answer.auth_bytes))
