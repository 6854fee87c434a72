"""When a token is replaced, and how often a provider that fails is asked: sasl.login.refresh.… and retry.…"""

import socket
import threading
import time

import pytest

from kbroker.config.broker_config import BrokerConfig
from kbroker.errors import ConfigError
from kbroker.security.provider import token_answer
from kbroker.security.sasl import LoginFailed
from kbroker.security.token_endpoint import token_endpoint
from kbroker.security.token_keeper import (
    MayPass,
    Outside,
    Refresh,
    Retry,
    Token,
    TokenKeeper,
    refresh_of,
    retry_of,
)
from kbroker.server.peer_security import Patience, PeersSecurity
from tests.security.certificates import Authority
from tests.security.test_oauth import MODULE
from tests.security.test_token_endpoint import CLIENT, URL, Provider

MINUTE = 60_000


class World:
    """Time that goes on when somebody sleeps, and what is to be done later."""

    def __init__(self, *, threads=True, chance=0.0, over=False):
        self.ms, self.slept, self.plans = 0, [], []
        self.outside = Outside(
            now_ms=lambda: self.ms,
            clock_s=lambda: self.ms / 1000,
            sleep=lambda seconds: self._sleep(seconds) or over,
            chance=lambda: chance,
            later=(lambda wait_s, work: self.plans.append((self.ms + round(wait_s * 1000), work)))
            if threads
            else None,
        )

    def _sleep(self, seconds):
        self.slept.append(round(seconds * 1000))
        self.ms += round(seconds * 1000)

    def go_to(self, ms):
        """Do what is planned until then."""
        while self.plans and min(at for at, _ in self.plans) <= ms:
            plan = min(self.plans, key=lambda each: each[0])
            self.plans.remove(plan)
            self.ms = max(self.ms, plan[0])
            plan[1]()
        self.ms = max(self.ms, ms)


class Fetches:
    """Attempts: `failing` of them fail yet, `answer` makes a token."""

    def __init__(self, lifetime_ms=1000, failing=0, kind=MayPass, takes=None):
        self.at, self.failing, self.kind, self.takes, self.lifetime_ms = [], failing, kind, takes, lifetime_ms

    def __call__(self, now_ms):
        self.at.append(now_ms)
        if self.takes is not None:
            self.takes()
        if self.failing:
            self.failing -= 1
            raise self.kind(f"failure {len(self.at)}")
        return Token(f"token {len(self.at)}", now_ms + self.lifetime_ms)


@pytest.mark.parametrize(
    ("token", "chance", "due"),
    [
        # A long life: its part of it, with a part of the jitter.
        (Token("", 60 * MINUTE), 0.0, 48 * MINUTE),
        (Token("", 60 * MINUTE), 0.5, 49.5 * MINUTE),
        # Not in the buffer before its end.
        (Token("", 20 * MINUTE), 0.0, 15 * MINUTE),
        # Begun before: the part is of its whole life, and there is a least period.
        (Token("", 40 * MINUTE, -40 * MINUTE), 0.0, 24 * MINUTE),
        (Token("", 12 * MINUTE, -120 * MINUTE), 0.0, 1 * MINUTE),
        # Shorter than period and buffer: neither counts, nor does its beginning.
        (Token("", 5 * MINUTE, -5 * MINUTE), 0.0, 4 * MINUTE),
        (Token("", 6 * MINUTE), 0.0, 1 * MINUTE),
        (Token("", 6 * MINUTE - 1), 0.0, int((6 * MINUTE - 1) * 0.8)),
        # Ended, or without an end.
        (Token("", -1), 0.0, 0),
        (Token("", None), 0.0, 0),
    ],
)
def test_when_a_token_is_replaced(token, chance, due):
    """What Apache Kafka's ExpiringCredentialRefreshingLogin comes to."""
    assert Refresh().due_ms(0, token, chance) == due


def test_it_is_never_replaced_after_its_end():
    assert Refresh(1.0, 1.0).due_ms(0, Token("", 1000), 0.9) == 1000
    assert Refresh(1.0, 0.0, 0, 0).due_ms(0, Token("", 1000, 3000), 0.9) == 1000


def test_settings_of_renewals_and_retries():
    given = {
        "sasl.login.refresh.window.factor": "0.5",
        "sasl.login.refresh.window.jitter": "0.25",
        "sasl.login.refresh.min.period.seconds": "1",
        "sasl.login.refresh.buffer.seconds": "2",
        "sasl.login.retry.backoff.ms": "5",
        "sasl.login.retry.backoff.max.ms": "50",
    }
    setting = lambda name: given.get(name, "")  # noqa: E731
    assert refresh_of(setting, "x") == Refresh(0.5, 0.25, 1000, 2000)
    assert retry_of(setting, "x") == Retry(5, 50)
    assert (refresh_of(lambda _: "", "x"), retry_of(lambda _: "", "x")) == (Refresh(), Retry())
    # Kafka's broker takes these.
    given["sasl.login.refresh.window.factor"], given["sasl.login.refresh.window.jitter"] = "7", "nan"
    assert refresh_of(setting, "x") == Refresh(1.0, 0.0, 1000, 2000)
    given["sasl.login.refresh.window.factor"] = "much"
    with pytest.raises(ConfigError, match=r"window\.factor: 'much'"):
        refresh_of(setting, "x")
    for text in ("4", "-1", "soon"):
        given["sasl.login.retry.backoff.max.ms"] = text
        with pytest.raises(ConfigError, match=r"backoff\.max\.ms"):
            retry_of(setting, "x")


def test_pauses_double_until_the_time_is_over():
    world, fetch = World(), Fetches(failing=99)
    with pytest.raises(MayPass, match="failure 6"):
        Retry(100, 2000).of(lambda: fetch(world.ms), world.outside)
    # The last pause is what is left; then comes the last attempt.
    assert (fetch.at, world.slept) == ([0, 100, 300, 700, 1500, 2000], [100, 200, 400, 800, 500])
    world, fetch = World(), Fetches(failing=2)
    assert Retry().of(lambda: fetch(world.ms), world.outside).text == "token 3"
    assert world.slept == [100, 200]


def test_attempts_take_time_too():
    world = World()
    fetch = Fetches(failing=99, takes=lambda: setattr(world, "ms", world.ms + 6000))
    with pytest.raises(MayPass):
        Retry().of(lambda: fetch(world.ms), world.outside)
    assert (fetch.at, world.slept) == ([0, 6100], [100])


@pytest.mark.parametrize(
    ("retry", "kind", "over", "slept"),
    [
        (Retry(), LoginFailed, False, []),  # a refusal
        (Retry(0, 10_000), MayPass, False, []),  # no pause, no retry: as in Kafka
        (Retry(), MayPass, True, [100]),  # the node stops meanwhile
    ],
)
def test_no_further_attempt(retry, kind, over, slept):
    world, fetch = World(over=over), Fetches(failing=9, kind=kind)
    with pytest.raises(kind, match="failure 1"):
        retry.of(lambda: fetch(world.ms), world.outside)
    assert world.slept == slept


def test_a_token_is_replaced_in_good_time_by_a_thread_of_its_own():
    world, fetch = World(), Fetches(100_000)
    keeper = TokenKeeper(fetch, Retry(), Refresh, world.outside)
    seen = []
    for at in (0, 79_999, 80_000, 159_999, 160_000):
        world.go_to(at)
        seen.append(keeper.token())
    assert fetch.at == [0, 80_000, 160_000]
    assert seen == ["token 1", "token 1", "token 2", "token 2", "token 3"]


def test_nobody_waits_while_the_old_token_holds():
    """The provider is gone: each 10 s there is another round of attempts, in which nobody waits."""
    world, fetch = World(), Fetches(100_000)
    keeper = TokenKeeper(fetch, Retry(100, 300), Refresh, world.outside)
    keeper.token()
    fetch.failing = 99
    world.go_to(99_999)
    assert fetch.at == [0, 80_000, 80_100, 80_300, 90_300, 90_400, 90_600]
    assert keeper.token() == "token 1"
    world.ms, world.plans[0] = 100_000, (100_600, world.plans[0][1])
    # Who asks now waits for one; who has waited behind him knows what he knows.
    asked = len(fetch.at)
    for _ in range(3):
        with pytest.raises(LoginFailed, match="failure 10"):
            keeper.token()
    assert len(fetch.at) == asked + 3
    # It is back: one plan is left, the one of the newest token.
    fetch.failing = 0
    world.ms += 1000
    token = keeper.token()
    world.go_to(world.ms + 79_000)
    assert (keeper.token(), len(world.plans)) == (token, 1)
    world.go_to(world.ms + 2000)
    assert keeper.token() != token


def test_without_threads_whoever_asks_renews_it():
    world, fetch, seen = World(threads=False), Fetches(1000), []
    keeper = TokenKeeper(fetch, Retry(), Refresh, world.outside)
    for world.ms in (0, 799, 800, 1500, 1600):
        seen.append(keeper.token())
    fetch.failing = 99
    for world.ms in (2400, 2599):
        # Nobody gives another; this one still holds, and nobody is asked again soon.
        seen.append(keeper.token())
    assert len(fetch.at) == 4
    world.ms = 2600
    with pytest.raises(LoginFailed):
        keeper.token()
    assert seen == ["token 1", "token 1", "token 2", "token 2", "token 3", "token 3", "token 3"]
    assert world.slept


def test_a_token_without_an_end_is_asked_for_each_time():
    world = World()
    given = iter((Token("a", None), Token("b", 0), Token("c", 1000)))
    keeper = TokenKeeper(lambda _: next(given), Retry(), Refresh, world.outside)
    assert [keeper.token() for _ in range(4)] == ["a", "b", "c", "c"]
    assert len(world.plans) == 1
    assert "c" not in repr(Token("c", 1000))


def test_settings_of_renewals_count_from_the_next_token_on():
    world, fetch, now = World(), Fetches(3_600_000), [Refresh()]
    keeper = TokenKeeper(fetch, Retry(), lambda: now[0], world.outside)
    keeper.token()
    now[0] = Refresh(0.5, 0.0)
    world.go_to(2_880_000)
    assert [at for at, _ in world.plans] == [2_880_000 + 1_800_000]


# -- with real sockets and threads -------------------------------------------------------------------------


@pytest.fixture
def provider():
    with Provider() as provider:
        yield provider
        provider.shutdown()


def keeper_of(settings, outside, what="the test"):
    setting = lambda name: settings.get(name, "")  # noqa: E731
    fetch = token_endpoint({}, setting, what, None)
    return TokenKeeper(fetch, retry_of(setting, what), lambda: refresh_of(setting, what), outside)


def test_a_provider_that_fails_twice_and_then_answers(provider):
    provider.failures = [(503, {}, b"{}"), (200, {}, b"")]
    patience = Patience()
    settings = provider.settings(
        **{"sasl.login.retry.backoff.ms": "1", "sasl.login.retry.backoff.max.ms": "60000"}
    )
    try:
        keeper = keeper_of(settings, patience.outside)
        token = keeper.token()
        assert token.count(".") == 2
        assert keeper.token() == token
        assert len(provider.asked) == 3
    finally:
        patience.close()


@pytest.mark.parametrize(
    ("status", "asked"), [(400, 1), (401, 1), (404, 1), (501, 1), (302, 1), (408, 2), (429, 2), (500, 2)]
)
def test_what_is_asked_again(provider, status, asked):
    """By Kafka's list; an address elsewhere is no answer here, and is not asked for again."""
    provider.failures = [(status, {"Location": "http://127.0.0.1:1/"}, b"{}")] * 9
    world = World()
    keeper = keeper_of(provider.settings(**{"sasl.login.retry.backoff.max.ms": "100"}), world.outside)
    with pytest.raises(LoginFailed, match=f"status {status}"):
        keeper.token()
    assert len(provider.asked) == asked


def test_a_certificate_that_is_not_trusted_is_not_asked_for_again(tmp_path):
    import ssl

    from tests.security.certificates import write

    node = Authority().sign("node")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(write(tmp_path, "node.pem", node.key_pem() + node.pem))
    with Provider() as provider:
        provider.socket = context.wrap_socket(provider.socket, server_side=True)
        url = provider.url.replace("http://127.0.0.1", "https://localhost")
        world = World()
        with pytest.raises(LoginFailed, match="verify failed"):
            keeper_of(provider.settings(**{URL: url}), world.outside).token()
        assert world.slept == []
        provider.shutdown()


def test_connecting_and_reading_have_limits_of_their_own():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(MayPass, match=r"timed out|TimeoutError"):
            # It takes the connection, and says nothing.
            token_answer(url, {}, b"", None, (60.0, 0.01), 1000)
        connection, _ = silent.accept()
        with connection:
            assert b"POST /" in connection.recv(1000)


def test_the_limit_of_connecting_is_that_setting(monkeypatch):
    seen = []

    def create_connection(address, timeout=None, source_address=None):
        seen.append(timeout)
        raise TimeoutError("timed out")

    monkeypatch.setattr(socket, "create_connection", create_connection)
    for text, limit_s in (("250", 0.25), ("", 10.0), ("0", 10.0)):
        settings = {
            URL: "http://127.0.0.1:1/",
            f"{CLIENT}id": "a",
            f"{CLIENT}secret": "b",
            "sasl.login.connect.timeout.ms": text,
            "sasl.login.read.timeout.ms": "70",
            "sasl.login.retry.backoff.ms": "0",
        }
        with pytest.raises(LoginFailed, match="timed out"):
            keeper_of(settings, World().outside).token()
        assert seen.pop() == limit_s
    with pytest.raises(ConfigError, match=r"connect\.timeout\.ms"):
        keeper_of({**settings, "sasl.login.connect.timeout.ms": "-1"}, World().outside)


def test_a_node_that_stops_does_not_wait(provider):
    """Neither for a provider that fails in a login's thread, nor for the thread that would renew a token."""
    provider.failures = [(503, {}, b"{}")] * 999
    patience, failed = Patience(), []
    keeper = keeper_of(
        provider.settings(
            **{"sasl.login.retry.backoff.ms": "3600000", "sasl.login.retry.backoff.max.ms": "3600000"}
        ),
        patience.outside,
    )

    def log_in():
        try:
            keeper.token()
        except LoginFailed as error:
            failed.append(error.reason)

    thread = threading.Thread(target=log_in, daemon=True)
    thread.start()
    renewals, before = [], set(threading.enumerate())
    patience.outside.later(3600.0, lambda: renewals.append("never"))
    names = {each.name: each for each in threading.enumerate() if each not in before}
    renewing = names["kbroker-token"]
    ends = time.monotonic() + 60
    while not provider.asked and time.monotonic() < ends:
        threading.Event().wait(0.001)
    patience.close()
    thread.join(60)
    renewing.join(60)
    assert (thread.is_alive(), renewing.is_alive(), renewals) == (False, False, [])
    assert "status 503" in failed[0]
    assert len(provider.asked) == 1


def test_a_node_has_these_settings_by_listener_and_mechanism(provider):
    config = {
        "node.id": "1",
        "listeners": "INSIDE://:0",
        "inter.broker.listener.name": "INSIDE",
        "listener.security.protocol.map": "INSIDE:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        "listener.name.inside.sasl.jaas.config": f"{MODULE} required;",
        "sasl.mechanism.inter.broker.protocol": "OAUTHBEARER",
        "kbroker.oauthbearer.allowed.urls": provider.url,
        **provider.settings(),
    }
    PeersSecurity(BrokerConfig(config), "CONTROLLER").close()
    with pytest.raises(ConfigError, match=r"backoff\.max\.ms \(10000\)"):
        PeersSecurity(
            BrokerConfig({**config, "listener.name.inside.oauthbearer.sasl.login.retry.backoff.ms": "10001"}),
            "CONTROLLER",
        )
