"""`kbroker start`: settings, one node, a banner, a clean end.

Everything a person can get wrong ends in one line on stderr and exit code 1, before anything on the disk has
changed. SIGTERM and Ctrl-C stop cleanly, a second one at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kbroker.cli.arguments import Parser, whole_number
from kbroker.config.loading import Loaded, load_config
from kbroker.config.sources import parse_assignment, parse_properties, parse_toml
from kbroker.errors import ApiError, ConfigError

if TYPE_CHECKING:
    import argparse

    from kbroker.main import Node

#: Where the data goes if nobody says where.
DEFAULT_DATA = "kbroker-data"


def _parser() -> Parser:
    parser = Parser(
        prog="kbroker start",
        description="Start a broker. On an empty folder it makes a new one-node cluster.",
        epilog=(
            "Settings win in this order: --set, --port/--host/--data, environment, --config, --profile. "
            "In the environment KAFKA_LOG_RETENTION_MS is log.retention.ms (_ is a dot, __ an underscore, "
            "___ a hyphen), KBROKER_LOG_LEVEL is kbroker.log.level. uvloop is used if it is installed."
        ),
    )
    parser.add_argument("--port", type=whole_number, help="port to listen on (9092); 0 takes any free one")
    parser.add_argument("--host", help="address to listen on (localhost); 0.0.0.0 is every interface")
    parser.add_argument(
        "--cluster",
        type=whole_number,
        metavar="N",
        help="start N nodes on this machine instead of one: ports from --port on, folders below --data",
    )
    parser.add_argument(
        "--node",
        type=whole_number,
        metavar="M",
        help="with --cluster N: only node M of the cluster that runs, as it has ended before the others",
    )
    parser.add_argument(
        "--zookeeper",
        metavar="HOST:PORT/CHROOT",
        help="keep the cluster's metadata there (zookeeper.connect); each of its nodes needs a broker.id of "
        "its own, by --set or --cluster",
    )
    parser.add_argument("--data", metavar="DIR", help=f"folder of the data (./{DEFAULT_DATA})")
    parser.add_argument(
        "--config",
        metavar="FILE",
        action="append",
        default=[],
        help="server.properties, or the same as .toml",
    )
    parser.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], help="one setting, by Kafka's name"
    )
    parser.add_argument(
        "--profile",
        choices=("dev", "production"),
        default="dev",
        help="dev: one replica of everything, groups form at once, no wait for the disk; "
        "production: Apache Kafka's own defaults",
    )
    parser.add_argument(
        "--log-format", choices=("text", "json"), help="how log lines look (kbroker.log.format)"
    )
    parser.add_argument(
        "--stop-with-stdin",
        action="store_true",
        help="stop when standard input ends; for programs that start a broker and must not leave it behind",
    )
    return parser


def start(arguments: Sequence[str]) -> int:
    """Run a broker until it is told to stop; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        if options.cluster is not None:
            from kbroker.cli.cluster import start_cluster

            return start_cluster(options)
        if options.node is not None:
            raise ConfigError("--node goes with --cluster")
        loaded = load(options)
        from kbroker.cli.run import run

        return run(loaded, banner, stop_with_stdin=options.stop_with_stdin)
    except ConfigError as error:
        print(f"kbroker: {error}", file=sys.stderr)
    except ApiError as error:
        print(f"kbroker: {error.text}", file=sys.stderr)
    except OSError as error:
        print(f"kbroker: {error.filename or 'the disk'}: {error.strerror or error}", file=sys.stderr)
    return 1


def load(options: argparse.Namespace) -> Loaded:
    """The settings that the options, the environment and the files come to.

    Raises:
        ConfigError: something in them is wrong, or a file cannot be read.
    """
    assignments = []
    if options.data is not None:
        if not options.data.strip():
            raise ConfigError("--data needs a folder")
        assignments.append(("log.dirs", options.data))
    if options.log_format is not None:
        assignments.append(("kbroker.log.format", options.log_format))
    if options.zookeeper is not None:
        assignments.append(("zookeeper.connect", checked_connect(options.zookeeper)))
    assignments += [parse_assignment(text) for text in options.set]
    loaded = load_config(
        profile=options.profile,
        files=[(path, read_settings(path)) for path in options.config],
        environment=os.environ,
        assignments=[*_listener_settings(options), *assignments],
        fallbacks={"log.dirs": DEFAULT_DATA, **_default_listener(options.profile)},
    )
    if options.zookeeper is not None and loaded.config.get_list("process.roles"):
        raise ConfigError("--zookeeper goes without process.roles, which a node of KRaft has")
    return loaded


def checked_connect(text: str) -> str:
    """What --zookeeper says.

    Raises:
        ConfigError: it is not host:port,host:port/chroot.
    """
    from kbroker.server.zk_client import split_connect

    split_connect(text)
    return text


def _default_listener(profile: str) -> dict[str, str]:
    return {"listeners": "PLAINTEXT://localhost:9092"} if profile == "dev" else {}


def _listener_settings(options: argparse.Namespace) -> list[tuple[str, str]]:
    if options.port is None and options.host is None:
        return []
    if options.port is not None and not 0 <= options.port <= 65535:
        raise ConfigError(f"--port must be between 0 and 65535, not {options.port}")
    port = 9092 if options.port is None else options.port
    host = ("localhost" if options.profile == "dev" else "") if options.host is None else options.host
    if ":" in host:
        host = f"[{host}]"
    return [("listeners", f"PLAINTEXT://{host}:{port}")]


def read_settings(path: str) -> dict[str, str]:
    """The settings in a file: properties, or TOML.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"cannot read {path}: it is no UTF-8 text") from None
    return parse_toml(text, path) if path.endswith(".toml") else parse_properties(text, path)


def banner(node: Node) -> str:
    """What a person wants to know of a node that has started."""
    from kbroker import __version__
    from kbroker.config.listeners import bound_listeners, controller_listeners

    address = node.bootstrap
    admin = admin_command() if address == "localhost:9092" else f"{admin_command()} -b {address}"
    controls_only = set(node.config.get_list("process.roles")) == {"controller"}
    listeners = controller_listeners(node.config) if controls_only else bound_listeners(node.config)
    option, need = client_need(next((each.security_protocol for each in listeners), "PLAINTEXT"))
    admin += option
    if controls_only:
        advice = f"a controller by itself: clients talk to the brokers\ntry:  {admin} quorum describe\n"
    else:
        advice = (
            f"try:  {admin} topics create greetings\n"
            f"      {admin} topics produce greetings --value hello\n"
            f"      {admin} topics tail greetings\n"
        )
    return (
        f"kbroker {__version__} listens on {address}  (cluster {node.cluster_id}, node {node.node_id})\n"
        f"data in {', '.join(node.log_dirs)}\n{need}{advice}stop with Ctrl-C"
    )


def client_need(protocol: str) -> tuple[str, str]:
    """What `kbroker-admin` needs at a listener of that security protocol, and a line that says so."""
    if protocol == "PLAINTEXT":
        return "", ""
    return (
        " --command-config client.properties",
        f"clients need security.protocol={protocol} (docs/security.md tells of client.properties)\n",
    )


def admin_command() -> str:
    """What to type for `kbroker-admin`: its path if only that is found, as `make start` sets no PATH."""
    name = "kbroker-admin"
    beside = os.path.join(os.path.dirname(sys.argv[0]), name)
    on_path = any(os.path.exists(os.path.join(d, name)) for d in os.environ.get("PATH", "").split(os.pathsep))
    return beside if os.path.exists(beside) and not on_path else name
