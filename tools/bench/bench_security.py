"""TLS, SCRAM logins, records that are encrypted on disk, and what a storm of newcomers does to others.

Run: python -m tools.bench.bench_security [--kafka] [--only produce] [--quick]

The broker has one core, the load another. Lines with storms need root. On a machine that does other things
--precedence (root, Linux) lets both go before all others; start it with `setsid`, as the kernel gives
precedence to sessions.
"""

from __future__ import annotations

import argparse
import datetime
import ipaddress
import os
import secrets
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from kbroker.client.cluster import Cluster
from kbroker.client.users import set_user
from kbroker.protocol.compression import Codec
from kbroker.protocol.generated.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kbroker.protocol.generated.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kbroker.protocol.record_batch import (
    CREATE_TIME,
    Record,
    build_batch,
    parse_batch_header,
    set_max_timestamp,
)
from tools.bench import wire
from tools.bench.brokers import LOAD_CORE, BrokerProcess, Kafka, Kbroker, free_port, go_first, use_core
from tools.bench.lines import first_produce
from tools.bench.load import Load, pipelined
from tools.bench.logins import ScramCrowd

_CACHE = Path.home() / ".cache" / "kbroker-tests"
_USER, _PASSWORD, _MECHANISM = "bench", "bench-secret", "SCRAM-SHA-256"
_TOGETHER = 32
#: A broker has imported, or compiled, what it will need some time after its start.
_SETTLED_S = 4.0


def main() -> None:
    """Measure and print, one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kafka", action="store_true", help="measure Apache Kafka in the same run")
    parser.add_argument("--only", default="", metavar="TEXT", help="lines whose name contains it")
    parser.add_argument("--quick", action="store_true", help="shorter loads, rougher numbers")
    parser.add_argument("--precedence", action="store_true", help="go before all others on this machine")
    parser.add_argument("--storm", nargs=3, metavar=("KIND", "PORT", "SECONDS"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.storm:
        kind, port, seconds = arguments.storm
        storms = dict.fromkeys(_BOMBS, _bombs) | dict.fromkeys(_HALVES, _half_open) | {_LOOK_UPS: _look_ups}
        storm = storms.get(kind, _newcomers)
        print(storm(kind, ("127.0.0.1", int(port)), float(seconds)))
        return
    use_core(LOAD_CORE)
    brokers: list[BrokerProcess] = [SecureKbroker()]
    if arguments.kafka:
        brokers.append(SecureKafka(Path(os.environ.get("KBROKER_TEST_CACHE") or _CACHE)))
    for broker in brokers:
        try:
            first_produce(broker, "first")
            if arguments.precedence:
                go_first(broker)
            _measure(broker, arguments.only, 1.0 if arguments.quick else 3.0)
        finally:
            broker.remove()


# -- brokers ---------------------------------------------------------------------------------------------


class _Secure(BrokerProcess):
    """Listeners beside the plain one, by kind: `ssl`, `scram`."""

    ports: dict[str, int]

    def listeners(self) -> dict[str, str]:
        """Settings that both brokers understand."""
        store = self.folder / "node.pem"
        store.write_text(_certificate())
        self.ports = {"ssl": free_port(), "scram": free_port()}
        module = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
        return {
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port},SSL://127.0.0.1:{self.ports['ssl']},"
            f"SASL_PLAINTEXT://127.0.0.1:{self.ports['scram']}",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(store),
            "sasl.enabled.mechanisms": _MECHANISM,
            f"listener.name.sasl_plaintext.{_MECHANISM.lower()}.sasl.jaas.config": module,
        }


class SecureKbroker(_Secure, Kbroker):
    """kbroker, with topics `sealed…` encrypted on disk."""

    def __init__(self) -> None:
        super().__init__()
        keys = self.folder / "keys"
        keys.write_text(f"one {secrets.token_hex(32)}\n")
        settings = self.listeners()
        self._settings = settings | {
            "advertised.listeners": settings["listeners"],
            "kbroker.encryption.keys.file": str(keys),
            "kbroker.encryption.topics": "sealed=one",
        }

    def command(self) -> list[str]:
        command = [sys.executable, "-m", "kbroker.cli.main", "start", "--data", str(self.folder / "data")]
        for name, value in self._settings.items():
            command += ["--set", f"{name}={value}"]
        return command


class SecureKafka(_Secure, Kafka):
    """Apache Kafka with the same listeners."""

    def __init__(self, cache: Path) -> None:
        super().__init__(cache)
        path = self.folder / "server.properties"
        plain = dict(line.split("=", 1) for line in path.read_text().splitlines())
        settings = plain | self.listeners()
        settings["listeners"] += "," + plain["listeners"].split(",")[-1]
        names = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT")
        settings["listener.security.protocol.map"] = ",".join(
            [*(f"{name}:{name}" for name in names), "CONTROLLER:PLAINTEXT"]
        )
        path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))


def _certificate() -> str:
    """A key of 2,048 bits, which is what most have, and a certificate that it signs itself."""
    key = rsa.generate_private_key(65537, 2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "bench")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return (private + made.public_bytes(Encoding.PEM)).decode()


# -- lines -----------------------------------------------------------------------------------------------


def _measure(broker: BrokerProcess, only: str, seconds: float) -> None:
    assert isinstance(broker, _Secure)
    with Cluster(broker.bootstrap) as cluster:
        set_user(cluster, _USER, _PASSWORD, _MECHANISM)
    kinds = ["plain", "TLS"] + (["encrypted at rest"] if isinstance(broker, SecureKbroker) else [])
    lines: list[tuple[str, Callable[[str], None]]] = []
    for kind in kinds:
        lines.append(
            (f"produce 16 KB, {kind}", lambda name, kind=kind: _produce(broker, name, kind, seconds))
        )  # type: ignore[misc]
        lines.append((f"fetch 64 KB, {kind}", lambda name, kind=kind: _fetch(broker, name, kind, seconds)))  # type: ignore[misc]
    lines += [
        ("TLS handshakes", lambda name: _rate(broker, name, "ssl", seconds)),
        ("SCRAM logins", lambda name: _rate(broker, name, "scram", seconds)),
        ("produce 100 B, p99", lambda name: _storm(broker, name, seconds)),
        ("produce 100 B, attacks", lambda name: _attacks(broker, name, seconds)),
    ]
    for name, run in lines:
        if only.lower() in name.lower():
            run(name)


@contextmanager
def _connection(broker: _Secure, kind: str) -> Iterator[socket.socket]:
    if kind == "TLS":
        sock: socket.socket = _client_context().wrap_socket(wire.connect(("127.0.0.1", broker.ports["ssl"])))
    else:
        sock = wire.connect(broker.address)
    with sock:
        yield sock


def _client_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _produce(broker: _Secure, name: str, kind: str, seconds: float) -> None:
    topic = "sealed" if kind == "encrypted at rest" else "load"
    framed = wire.produce_frame(topic, 1000, 16)
    with _connection(broker, kind) as sock:
        wire.create_topics(sock, topic)
        size = wire.produce_until_accepted(sock, framed)

        def run(most_s: float) -> Load:
            return pipelined(sock, framed, size, together=4, ahead=64, seconds=most_s, most=50_000)

        _stream(broker, name, run, seconds, len(framed))
        wire.delete_topic(sock, topic)


def _fetch(broker: _Secure, name: str, kind: str, seconds: float) -> None:
    topic = "sealed" if kind == "encrypted at rest" else "load"
    with _connection(broker, kind) as sock:
        wire.create_topics(sock, topic)
        wire.produce_until_accepted(sock, wire.produce_frame(topic, 1000, 64))
        framed = wire.fetch_frame(topic, 0, 1)
        _, size = wire.ask(sock, framed)

        def run(most_s: float) -> Load:
            return pipelined(sock, framed, size, together=1, ahead=8, seconds=most_s, most=10**9)

        _stream(broker, name, run, seconds, size)
        wire.delete_topic(sock, topic)


def _stream(
    broker: BrokerProcess, name: str, run: Callable[[float], Load], seconds: float, size: int
) -> None:
    for _ in range(max(broker.warm_up_rounds // 4, 1)):
        run(seconds / 2)
    before = broker.cpu_seconds()
    load = run(seconds)
    gigabytes = load.requests * size / 1e9
    cpu = (broker.cpu_seconds() - before) / gigabytes
    _say(broker, name, f"{1000 * gigabytes / load.seconds:,.0f} MB/s, CPU {cpu:.2f} s/GB")


def _rate(broker: _Secure, name: str, kind: str, seconds: float) -> None:
    address = "127.0.0.1", broker.ports[kind]
    for _ in range(max(broker.warm_up_rounds // 4, 1)):
        _newcomers(kind, address, seconds / 2)
    before = broker.cpu_seconds()
    count = _newcomers(kind, address, seconds)
    cpu = 1e6 * (broker.cpu_seconds() - before) / count
    _say(broker, name, f"{count / seconds:,.0f} /s, CPU {cpu:,.0f} µs each")


def _newcomers(kind: str, address: tuple[str, int], seconds: float) -> int:
    """Connections that come, are let in and go, so many at a time; how many."""
    crowd = ScramCrowd(address, _USER, _PASSWORD, _MECHANISM) if kind == "scram" else None
    context, count = _client_context(), 0
    deadline = time.perf_counter() + seconds
    while time.perf_counter() < deadline:
        if crowd is not None:
            crowd.come(_TOGETHER)
        else:
            _shake(context, address, _TOGETHER)
        count += _TOGETHER
    return count


def _shake(context: ssl.SSLContext, address: tuple[str, int], count: int) -> None:
    """Handshakes that are all under way at once."""
    waiting = []
    for _ in range(count):
        sock = context.wrap_socket(wire.connect(address), do_handshake_on_connect=False)
        sock.setblocking(False)
        waiting.append(sock)
    for sock in waiting:
        try:
            sock.do_handshake()
        except ssl.SSLWantReadError:
            sock.setblocking(True)
    for sock in waiting:
        sock.setblocking(True)
        sock.do_handshake()
        sock.close()


def _storm(broker: _Secure, name: str, seconds: float) -> None:
    """How long a small produce takes while newcomers come as fast as another process can send them."""
    framed = wire.produce_frame("load", 100)
    with _connection(broker, "plain") as sock:
        wire.create_topics(sock, "load")
        wire.produce_until_accepted(sock, framed)
        _before_the_storm(True)
        _latency(sock, framed, _SETTLED_S)
        _say(broker, f"{name}, quiet", _latency(sock, framed, seconds))
        for kind in ("ssl", "scram"):
            command = [sys.executable, "-m", "tools.bench.bench_security", "--storm", kind]
            command += [str(broker.ports[kind]), str(seconds + 2)]
            with subprocess.Popen(command, stdout=subprocess.PIPE) as storm:
                time.sleep(1.5)
                text = _latency(sock, framed, seconds)
                assert storm.stdout is not None
                count = int(storm.stdout.read())
            what = "TLS handshakes" if kind == "ssl" else "SCRAM logins"
            _say(broker, f"{name}, storm of {what}", f"{text} ({count / (seconds + 2):,.0f} /s)")
        _before_the_storm(False)
        wire.delete_topic(sock, "load")


def _before_the_storm(goes_first: bool) -> None:
    """Let this process, not what it starts, have the load's core whenever it wants it.

    What it would wait for there is not the broker's; a better nice value does not do, as the kernel lets the
    storm end its slice.
    """
    policy, priority = (os.SCHED_FIFO, 1) if goes_first else (os.SCHED_OTHER, 0)
    os.sched_setscheduler(0, policy | os.SCHED_RESET_ON_FORK, os.sched_param(priority))


def _attacks(broker: _Secure, name: str, seconds: float) -> None:
    """The same while somebody holds 5,000 handshakes or logins half open, with a byte more now and then
    (how many the broker has left open), or sends batches that unpack to far too much (how many), or asks for
    times that such a batch promises, of a topic where nobody has looked into it.
    """
    framed = wire.produce_frame("load", 100)
    with _connection(broker, "plain") as sock:
        wire.create_topics(sock, "load")
        wire.produce_until_accepted(sock, framed)
        _before_the_storm(True)
        _latency(sock, framed, _SETTLED_S)
        for _ in range(broker.warm_up_rounds):
            _latency(sock, framed, seconds / 2)
        _say(broker, f"{name}, quiet", _latency(sock, framed, seconds))
        ports = {"half ssl": broker.ports["ssl"], "half scram": broker.ports["scram"]}
        ports |= dict.fromkeys([*_BOMBS, _LOOK_UPS], broker.port)
        wire.create_topics(sock, _BOMBED, cleanup_policy="compact")
        for kind, port in ports.items():
            before = broker.resident_mb()
            command = [sys.executable, "-m", "tools.bench.bench_security", "--storm", kind]
            command += [str(port), str(seconds + 3)]
            with subprocess.Popen(command, stdout=subprocess.PIPE) as storm:
                time.sleep(2.5)
                text = _latency(sock, framed, seconds)
                more = broker.resident_mb() - before
                assert storm.stdout is not None
                count = int(storm.stdout.read())
            _say(broker, f"{name}, {kind}", f"{text}; {more:.0f} MB more ({count})")
        _before_the_storm(False)
        wire.delete_topic(sock, "load")


_BOMBED = "bombed"


_NOTHING, _MANY = 64 << 20, "many records"
#: Codec and sizes of values: random ones cannot be packed, and a batch may unpack to so many times its size.
_BOMBS = {
    "bombs": (Codec.GZIP, [_NOTHING]),
    "large bombs": (Codec.GZIP, [700_000, _NOTHING]),
    "large lz4 bombs": (Codec.LZ4, [700_000, _NOTHING]),
    _MANY: (Codec.GZIP, [4] * 100_000),
}


def _bombs(kind: str, address: tuple[str, int], seconds: float) -> int:
    """Produce such batches one after the other; how many."""
    framed = _produce_batch(_BOMBED, _bomb(kind))
    deadline, count = time.perf_counter() + seconds, 0
    with wire.connect(address) as sock:
        if kind == _MANY:  # the others are refused for what they unpack to
            wire.produce_until_accepted(sock, framed)
        while time.perf_counter() < deadline:
            wire.ask(sock, framed)
            count += 1
    return count


def _bomb(kind: str) -> bytes:
    codec, sizes = _BOMBS[kind]
    now_ms = int(time.time() * 1000)
    values = [bytes(size) if size == _NOTHING else os.urandom(size) for size in sizes]
    return build_batch([Record(-1, now_ms, b"k", value) for value in values], codec=codec)


def _produce_batch(topic: str, batch: bytes) -> bytes:
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=batch)])
    return wire.frame(ProduceRequest(acks=1, timeout_ms=30_000, topic_data=[data]))


_LOOK_UPS = "look-ups by time"


def _look_ups(kind: str, address: tuple[str, int], seconds: float) -> int:
    """Ask for a time that the header of a bomb promises, and none of its records has; how often."""
    bomb = bytearray(_bomb("large bombs"))
    header = parse_batch_header(bomb)
    newest = header.max_timestamp + 1000
    set_max_timestamp(bomb, header, CREATE_TIME, newest)
    wanted = ListOffsetsTopic(
        name="looked-up", partitions=[ListOffsetsPartition(partition_index=0, timestamp=newest)]
    )
    framed = wire.frame(ListOffsetsRequest(replica_id=-1, topics=[wanted]))
    deadline, count = time.perf_counter() + seconds, 0
    with wire.connect(address) as sock:
        wire.create_topics(sock, "looked-up")
        wire.produce_until_accepted(sock, _produce_batch("looked-up", bytes(bomb)))
        while time.perf_counter() < deadline:
            wire.ask(sock, framed)
            count += 1
    return count


_HALF_OPEN = 5_000
#: What each begins with: a ClientHello, a request of a login, both cut short.
_HALVES = {"half ssl": b"\x16\x03\x01\x02\x00\x01", "half scram": b"\0\0\x04\0\0\x11"}


def _half_open(kind: str, address: tuple[str, int], seconds: float) -> int:
    """Open them all, and hold them; how many the broker has left open at the end."""
    import resource

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    deadline = time.perf_counter() + seconds
    held: list[socket.socket] = []
    for _ in range(_HALF_OPEN):
        sock = socket.create_connection(address)
        sock.setblocking(False)
        sock.send(_HALVES[kind])
        held.append(sock)
    while time.perf_counter() < deadline:
        held = [sock for sock in held if _drip(sock)]
        time.sleep(1)
    return len(held)


def _drip(sock: socket.socket) -> bool:
    """One byte more; False: the broker has closed."""
    try:
        if sock.recv(1000) == b"":
            sock.close()
            return False
    except BlockingIOError:
        pass
    except OSError:
        return False
    try:
        sock.send(b"\0")
    except OSError:
        return False
    return True


def _latency(sock: socket.socket, framed: bytes, seconds: float) -> str:
    taken: list[float] = []
    deadline = time.perf_counter() + seconds
    while (began := time.perf_counter()) < deadline:
        wire.ask(sock, framed)
        taken.append(1000 * (time.perf_counter() - began))
        time.sleep(0.001)
    taken.sort()
    p50, p99 = taken[len(taken) // 2], taken[int(len(taken) * 0.99)]
    return f"p50 {p50:.2f} ms, p99 {p99:.2f} ms, longest {taken[-1]:.1f} ms"


def _say(broker: BrokerProcess, name: str, figure: str) -> None:
    print(f"{broker.label:12s} {name:46s} {figure}", flush=True)


if __name__ == "__main__":
    main()
