"""Each known issue of Kafka's kind has its tests: which prove what, and here those that had none."""

import ast
import functools
import logging
import re
from pathlib import Path

import pytest

import kbroker.errors
from kbroker.protocol.generated.metadata_request import MetadataRequest
from kbroker.security.jaas import parse_jaas
from kbroker.security.ssl_context import server_context
from kbroker.testing import Broker
from tests.security.certificates import Authority, pem_settings
from tests.security.logins import PLAIN_MODULE, Raw
from tests.security.test_sasl_listener import set_user, settings

ROOT = Path(__file__).parent.parent
#: Issue -> tests, as file::function below `tests/`.
PROOF = {
    "CVE-2018-1288": (
        "security/test_revocation.py::test_who_calls_himself_a_replica_moves_nothing",
        "security/test_revocation.py::test_who_calls_himself_a_replica_sees_no_more_than_a_consumer",
        "security/test_little_allowed.py::test_a_fetch_as_a_replica_moves_nothing",
    ),
    "CVE-2018-17196": (
        "security/test_little_allowed.py::test_transactional_batches_need_the_transactional_id",
        "security/test_revocation.py::test_a_transactional_id_that_nobody_looked_at_is_not_recognised",
    ),
    "CVE-2019-12399, CVE-2024-31141, CVE-2025-27817": (
        "security/test_oauth.py::test_only_allowed_urls_are_asked",
        "security/test_sasl_listener.py::test_secrets_are_not_described",
        "security/test_rows.py::test_values_are_taken_as_they_are",
    ),
    "CVE-2021-38153": (
        "security/test_scram.py::test_unknown_users_fail_where_wrong_passwords_do_with_a_steady_salt",
        "security/test_scram.py::test_unknown_users_look_like_those_that_there_are",
        "security/test_scram.py::test_a_token_that_does_not_exist",
        "security/test_sasl_listener.py::test_unknown_users_and_wrong_passwords_of_scram_look_alike",
        "security/test_plain_back_ends.py::test_the_first_that_knows_the_user_decides",
        "security/test_rows.py::test_secrets_are_compared_in_constant_time",
    ),
    "CVE-2022-34917": (
        "server/test_connection.py::test_125_a_large_frame_takes_memory_as_it_arrives",
        "server/test_connection.py::test_125_sizes_that_cannot_be_close",
        "security/test_sasl_listener.py::test_what_comes_before_a_login_is_small",
        "security/test_crowds.py::test_slow_loris",
        "security/test_crowds.py::test_large_logins_share_a_budget",
    ),
    "CVE-2023-34455": (
        "protocol/test_compression.py::test_133_a_bomb_is_refused_with_memory_flat",
        "storage/test_append_bounds.py::test_a_bomb_is_refused_before_it_is_unpacked",
        "handlers/test_legacy_data.py::test_a_set_that_unpacks_to_far_too_much_is_refused",
    ),
    "CVE-2023-25194, CVE-2025-27818, CVE-2025-27819": (
        "security/test_plain_and_jaas.py::test_other_jaas_is_refused_without_showing_it",
        "security/test_guards.py::test_settings_that_decide_who_gets_in_need_alter",
        "security/test_rows.py::test_nothing_is_run_or_loaded_by_name_from_data",
    ),
    "CVE-2024-27309": ("security/test_acl_property.py::test_index_agrees_with_a_naive_model",),
    "CVE-2024-56128": (
        "security/test_scram.py::test_the_final_message_is_checked_whole",
        "security/test_scram.py::test_one_exchange_is_one_login",
        "security/test_scram.py::test_a_replayed_final_message_fails",
        "security/test_scram.py::test_too_few_iterations_are_no_credential",
    ),
    "CVE-2026-35554": (
        "server/test_peer_client.py::test_what_waits_for_the_socket_is_what_was_asked",
        "server/test_connection.py::test_answers_that_wait_are_what_they_were",
    ),
    "KIP-306": (
        "security/test_rows.py::test_a_failed_login_is_held_back_and_holds_up_nobody",
        "security/test_plain_and_jaas.py::test_slow_back_ends_are_asked_elsewhere",
        "security/test_sasl_listener.py::test_a_job_of_who_has_gone_is_left_out",
    ),
    "KIP-152, KIP-368": (
        "security/test_sasl_listener.py::test_a_failed_login_is_told_and_closed",
        "security/test_sasl_listener.py::test_a_session_that_is_over_closes_the_connection",
        "security/test_sasl_listener.py::test_the_principal_may_not_change",
        "security/test_sasl_listener.py::test_the_mechanism_may_not_change",
    ),
    "passwords in the clear": ("security/test_rows.py::test_passwords_in_the_clear_are_warned_of",),
    "Log4j": (
        "security/test_rows.py::test_nothing_is_run_or_loaded_by_name_from_data",
        "security/test_plain_back_ends.py::test_a_broker_asks_all_and_tells_the_audit_log",
        "cli/test_log_dump.py::test_control_characters_do_not_reach_the_terminal",
        "server/test_bad_input.py::test_lines_about_strangers_are_limited",
    ),
    "ZooKeeper (open to everybody, hashes readable)": (
        "server/test_zk_security.py::test_a_broker_logs_in_and_keeps_what_it_makes",
        "server/test_zk_security.py::test_tls_with_a_server_that_is_not_trusted",
    ),
    "open administration (Redpanda)": ("security/test_rows.py::test_no_door_is_open_unless_it_is_set",),
    "in general": (
        "security/test_rows.py::test_old_tls_is_not_spoken",
        "security/test_ssl.py::test_no_name_takes_long",
        "security/test_little_allowed.py::test_a_refusal_does_not_tell_what_exists",
        "server/test_listener.py::test_124_an_address_that_opens_too_many_is_closed_after_a_moment",
        "server/test_bad_input.py::test_126_random_bytes_close_or_wait_and_never_raise",
        "security/test_scram.py::test_no_bytes_break_the_server",
        "security/test_sasl_listener.py::test_damaged_logins_hurt_nobody",
        "security/test_sasl_listener.py::test_messages_that_are_cut_short_or_come_again",
        "security/test_sasl_listener.py::test_a_user_who_is_deleted_while_connected",
        "security/test_oauth.py::test_what_is_refused",
        "security/test_clients.py::test_certificates_that_are_not_good",
    ),
}


@functools.cache
def functions(path):
    tree = ast.parse((ROOT / path).read_text())
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {_without_number(name) for name in names}


def _without_number(name):
    """Some bear the number of a scenario, which says nothing here."""
    return re.sub(r"^test_\d+_", "test_", name)


@pytest.mark.parametrize("issue", PROOF)
def test_the_tests_are_there(issue):
    for proof in PROOF[issue]:
        path, _, name = proof.partition("::")
        assert _without_number(name) in functions(path), proof


def test_values_are_taken_as_they_are():
    """No `${file:…}`, no `${env:…}`, in whatever comes over the wire or from a file."""
    text = "${file:/etc/passwd:root} ${env:HOME} ${dir:/etc}"
    entry = parse_jaas(f'{PLAIN_MODULE} required user_a="{text}";', "test")
    assert entry.options["user_a"] == text
    assert not sources(re.compile(r"expandvars|expanduser|string\.Template|from string import Template"))


def sources(pattern, where=""):
    """Modules that something is in."""
    folder = Path(kbroker.__file__).parent / where
    return [path.name for path in folder.rglob("*.py") if pattern.search(path.read_text())]


def test_nothing_is_run_or_loaded_by_name_from_data():
    found = sources(
        re.compile(r"^\s*(import|from) (pickle|marshal|shelve|yaml)\b|\b(?<![.\w])(eval|exec)\(", re.M)
    )
    # The one that makes classes of our own.
    assert found == ["plain.py"]


def test_secrets_are_compared_in_constant_time():
    """Where a digest, proof or password is looked at, `==` is not."""
    pattern = re.compile(r"\b(password|hmac|digest|proof|signature|mac|stored_key) (==|!=) ", re.I)
    assert sources(pattern, "security") == []


def test_a_failed_login_is_held_back_and_holds_up_nobody():
    """KIP-306: the answer comes later, others are served meanwhile."""
    delay = {"connection.failed.authentication.delay.ms": "600000"}
    with Broker(config=settings(**delay)) as broker:
        port = broker.ports["SASL_PLAINTEXT"]
        with Raw(port) as failing, Raw(port) as other:
            failing.handshake("PLAIN")
            failing.socket.settimeout(0.2)
            with pytest.raises(TimeoutError):
                failing.token(b"\0alice\0wrong")
            assert other.plain("alice", "alice-secret").error_code == 0
            assert other.ask(MetadataRequest(topics=[]), 9).brokers


def test_passwords_in_the_clear_are_warned_of(caplog):
    with caplog.at_level(logging.WARNING), Broker(config=settings()):
        assert "passwords of SASL PLAIN cross the network as they are" in caplog.text
    assert "alice-secret" not in caplog.text


def test_a_port_where_nobody_can_log_in_is_told_of(caplog, tmp_path):
    """As when a folder was formatted without a SCRAM user; once there is one nothing is said."""
    config = settings(**{"sasl.enabled.mechanisms": "SCRAM-SHA-256"})
    with caplog.at_level(logging.WARNING):
        with Broker(config=config, data=tmp_path / "data") as broker:
            assert "listener SASL_PLAINTEXT: nobody can log in" in caplog.text
            set_user(broker, "ann", "secret")
        caplog.clear()
        with Broker(config=config, data=tmp_path / "data"):
            assert "nobody can log in" not in caplog.text


def test_no_door_is_open_unless_it_is_set():
    """Metrics have a listener of their own, which is off; a port alone means this machine alone."""
    with Broker() as broker:
        assert list(broker.ports) == ["PLAINTEXT"]
        assert broker.bootstrap.startswith("127.0.0.1:")


@pytest.mark.parametrize("protocol", ["TLSv1", "TLSv1.1", "SSLv3"])
def test_old_tls_is_not_spoken(protocol):
    authority = Authority()
    found = pem_settings(authority, authority.sign("node")) | {"ssl.enabled.protocols": protocol}
    with pytest.raises(kbroker.errors.ConfigError, match=protocol):
        server_context(lambda name: found.get(name, ""), "L", asks_clients=False)
