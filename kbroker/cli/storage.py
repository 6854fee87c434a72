"""`kbroker storage`: format the folders of a node, look at them, make ids; as Kafka's kafka-storage does.

`kbroker start` formats new folders by itself where the settings say enough: a node by itself, or fixed voters
together with kbroker.cluster.id. Dynamic quorums of several nodes (KIP-853) begin here.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kbroker.cli.arguments import Parser
from kbroker.cli.start import read_settings
from kbroker.config.loading import load_config
from kbroker.config.sources import parse_assignment
from kbroker.errors import ConfigError

if TYPE_CHECKING:
    import argparse

    from kbroker.broker.storage_format import StorageFormat
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.config.quorum import QuorumConfig
    from kbroker.protocol.generated.user_scram_credential_record import UserScramCredentialRecord
    from kbroker.raft.voter_set import QuorumEndpoint, QuorumVoter

#: Nothing that a shell, a URL or a file's name would take for something else.
_COMMON_ID = re.compile(r"[A-Za-z0-9_.-]+")


def storage(arguments: Sequence[str]) -> int:
    """Run a sub-command; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except ConfigError as error:
        print(f"kbroker: {error}", file=sys.stderr)
    except OSError as error:
        print(f"kbroker: {error.filename or 'the disk'}: {error.strerror or error}", file=sys.stderr)
    else:
        return code
    return 1


def _parser() -> Parser:
    parser = Parser(prog="kbroker storage", description="Prepare the folders of a node.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    uuid = commands.add_parser("random-uuid", help="print a random id, for a cluster or a directory")
    uuid.set_defaults(run=_random_uuid)
    info = commands.add_parser("info", help="tell what lies in the folders")
    _add_settings(info)
    info.set_defaults(run=_info)
    form = commands.add_parser("format", help="make new folders those of a node of a cluster")
    _add_settings(form)
    form.add_argument("-t", "--cluster-id", required=True, metavar="ID", help="the id of the cluster")
    form.add_argument(
        "-g", "--ignore-formatted", action="store_true", help="leave folders alone that are formatted already"
    )
    form.add_argument(
        "-r", "--release-version", metavar="RELEASE", help="begin with the features of an older release: 3.9"
    )
    form.add_argument(
        "-f", "--feature", metavar="NAME=LEVEL", action="append", default=[], help="the level of one feature"
    )
    form.add_argument(
        "-S",
        "--add-scram",
        metavar="SCRAM-SHA-256=[name=NAME,password=PASSWORD,iterations=N,salt=BASE64]",
        action="append",
        default=[],
        help="a user who can log in from the first moment on; give salt and saltedpassword in place of the "
        "password to keep that out of the command line",
    )
    quorum = form.add_mutually_exclusive_group()
    quorum.add_argument(
        "-s", "--standalone", action="store_true", help="this controller is a quorum by itself"
    )
    quorum.add_argument(
        "-I",
        "--initial-controllers",
        metavar="ID@HOST:PORT:DIRECTORY-ID,...",
        help="the first voters; give the same list to all of them",
    )
    quorum.add_argument(
        "-N",
        "--no-initial-controllers",
        action="store_true",
        help="the quorum exists already: this node finds it by controller.quorum.bootstrap.servers",
    )
    form.set_defaults(run=_format)
    return parser


def _add_settings(parser: Parser) -> None:
    parser.add_argument(
        "-c", "--config", metavar="FILE", action="append", default=[], help="server.properties, or .toml"
    )
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="one setting")


def _load(options: argparse.Namespace) -> BrokerConfig:
    if not options.config and not options.set:
        raise ConfigError("which node? give its settings with --config FILE")
    return load_config(
        profile="production",
        files=[(path, read_settings(path)) for path in options.config],
        environment=os.environ,
        assignments=[parse_assignment(text) for text in options.set],
        fallbacks={},
    ).config


def _directories(config: BrokerConfig) -> tuple[list[str], str]:
    """All folders of the node, and that of the metadata."""
    log_dirs = list(dict.fromkeys(os.path.abspath(path) for path in config.log_dirs))
    metadata = config.get_str("metadata.log.dir")
    metadata_dir = os.path.abspath(metadata) if metadata else log_dirs[0]
    return list(dict.fromkeys([*log_dirs, metadata_dir])), metadata_dir


def _random_uuid(options: argparse.Namespace) -> int:
    from kbroker.server.node_folders import new_uuid
    from kbroker.types import uuid_to_string

    print(uuid_to_string(new_uuid()))
    return 0


def _info(options: argparse.Namespace) -> int:
    from kbroker.server.os_disk import OsDisk
    from kbroker.storage.meta_properties import MetaProperties, check_same_node, read_meta_properties
    from kbroker.types import uuid_to_string

    config = _load(options)
    found: list[str] = []
    problems: list[str] = []
    formatted: list[tuple[str, MetaProperties]] = []
    for path in _directories(config)[0]:
        if not os.path.isdir(path):
            problems.append(f"{path} {'is no directory' if os.path.exists(path) else 'does not exist'}")
            continue
        found.append(path)
        meta = read_meta_properties(OsDisk(), path)
        if meta is None:
            problems.append(f"{path} is not formatted.")
        else:
            formatted.append((path, meta))
    if found:
        print(f"Found log director{'y' if len(found) == 1 else 'ies'}:")
        print("".join(f"  {path}\n" for path in found))
    for path, meta in formatted:
        directory = "" if meta.directory_id is None else f"directory.id={uuid_to_string(meta.directory_id)}, "
        print(
            f"Found metadata in {path}: {{cluster.id={meta.cluster_id}, {directory}node.id={meta.node_id}, "
            f"version={meta.version}}}"
        )
    try:
        check_same_node(formatted, config.node_id, None)
    except ConfigError as error:
        problems.append(str(error))
    if problems:
        print(f"Found problem{'' if len(problems) == 1 else 's'}:")
        print("".join(f"  {problem}\n" for problem in problems))
    return 1 if problems else 0


def _format(options: argparse.Namespace) -> int:
    from kbroker.broker.storage_format import format_storage
    from kbroker.config.quorum import quorum_config
    from kbroker.controller.metadata_versions import metadata_version_name
    from kbroker.server.folders import inspect_folders
    from kbroker.server.os_disk import OsDisk

    config = _load(options)
    _check_cluster_id(options.cluster_id)
    quorum = quorum_config(config)
    disk = OsDisk()
    directories, metadata_dir = _directories(config)
    found = inspect_folders(disk, directories, config.node_id, options.cluster_id)
    if found.formatted and not options.ignore_formatted:
        raise ConfigError(
            f"{next(iter(found.formatted))} is already formatted. Use --ignore-formatted to ignore this "
            "folder and format the others"
        )
    plan = _plan(options, config, quorum, directories, metadata_dir)
    new = [path for path in plan.directories if path not in found.formatted]
    if not new:
        print("All of the log directories are already formatted.")
        return 0
    format_storage(disk, plan, time.time_ns() // 1_000_000)
    dynamic = plan.is_controller and not plan.static_voters and plan.voters != []
    for path in new:
        kind = "data" if path != metadata_dir else "dynamic metadata voter" if dynamic else "metadata"
        name = metadata_version_name(plan.metadata_version)
        print(f"Formatting {kind} directory {path} with metadata.version {name}.")
    return 0


def _check_cluster_id(text: str) -> None:
    """Any word will do, as for Kafka; but what a meta.properties would not keep as it is, is refused."""
    if not text or text != text.strip() or "\\" in text or not (text.isascii() and text.isprintable()):
        raise ConfigError(
            f"{text!r} is no id of a cluster: take what `kbroker storage random-uuid` prints, for all nodes"
        )
    if not _COMMON_ID.fullmatch(text):
        hint = "`kbroker storage random-uuid` prints one of the usual kind"
        print(f"kbroker: the id of the cluster is {text!r} now; {hint}", file=sys.stderr)


def _plan(
    options: argparse.Namespace,
    config: BrokerConfig,
    quorum: QuorumConfig,
    directories: list[str],
    metadata_dir: str,
) -> StorageFormat:
    from kbroker.broker.storage_format import StorageFormat
    from kbroker.raft.voter_set import QuorumEndpoint
    from kbroker.server.node_folders import new_uuid

    if quorum.voters and (options.standalone or options.initial_controllers):
        raise ConfigError(
            "controller.quorum.voters does not go together with --standalone or --initial-controllers: a "
            "quorum that may change has controller.quorum.bootstrap.servers instead"
        )
    if options.standalone and not quorum.is_controller:
        raise ConfigError("--standalone is for controllers: process.roles of this node has none")
    chosen = options.standalone or options.initial_controllers or options.no_initial_controllers
    if quorum.is_controller and quorum.bootstrap and not quorum.voters and not chosen:
        raise ConfigError(
            "because controller.quorum.voters is not set on this controller, give one of --standalone, "
            "--initial-controllers or --no-initial-controllers"
        )
    ids = [new_uuid() for _ in directories]
    voters: list[QuorumVoter] | None = None
    if options.initial_controllers:
        voters = [
            _initial_voter(text, quorum.controller_listener)
            for text in options.initial_controllers.split(",")
        ]
        voter_ids = [voter.id for voter in voters]
        doubled = next((each for each in voter_ids if voter_ids.count(each) > 1), None)
        if doubled is not None:
            raise ConfigError(f"--initial-controllers names node {doubled} more than once")
        own = next((voter for voter in voters if voter.id == config.node_id), None)
        if own is not None:
            ids[directories.index(metadata_dir)] = own.directory_id
    elif options.no_initial_controllers or not quorum.is_controller:
        voters = []
    level, features = _levels(options, bool(chosen) and not quorum.voters)
    return StorageFormat(
        log_dirs=[path for path in directories if path in map(os.path.abspath, config.log_dirs)],
        metadata_dir=metadata_dir,
        cluster_id=options.cluster_id,
        node_id=config.node_id,
        directory_ids=ids,
        controller_endpoints=[
            QuorumEndpoint(each.name, each.host, each.port) for each in _own_controllers(config)
        ],
        static_voters=bool(quorum.voters),
        is_controller=quorum.is_controller,
        voters=voters,
        metadata_version=level,
        features=features,
        scram=_scram_records(options.add_scram) if options.add_scram else (),
    )


def _scram_records(texts: Sequence[str]) -> list[UserScramCredentialRecord]:
    import secrets

    from kbroker.cli.scram_argument import parse_scram

    return [parse_scram(text, secrets.token_bytes) for text in texts]


def _own_controllers(config: BrokerConfig) -> list[QuorumEndpoint]:
    import socket

    from kbroker.config.listeners import advertised_controllers, controller_listeners
    from kbroker.raft.voter_set import QuorumEndpoint

    bound = controller_listeners(config)
    name = config.get_str("kbroker.advertised.host") or socket.gethostname()
    return [QuorumEndpoint(e.name, e.host, e.port) for e in advertised_controllers(config, bound, name)]


def _initial_voter(text: str, listener: str) -> QuorumVoter:
    from kbroker.raft.voter_set import QuorumEndpoint, QuorumVoter
    from kbroker.types import uuid_from_string

    node, _, rest = text.strip().partition("@")
    address, _, directory = rest.rpartition(":")
    host, _, port = address.rpartition(":")
    try:
        if not (node.isdecimal() and host and port.isdecimal()):
            raise ValueError
        directory_id = uuid_from_string(directory)
    except ValueError:
        raise ConfigError(f"{text!r} is no ID@HOST:PORT:DIRECTORY-ID of a controller") from None
    endpoint = QuorumEndpoint(listener, host.strip("[]"), int(port))
    return QuorumVoter(int(node), directory_id, (endpoint,))


def _levels(options: argparse.Namespace, dynamic: bool) -> tuple[int, dict[str, int]]:
    """The level of metadata.version, and levels of other features; `dynamic`: voters may change (KIP-853)."""
    from kbroker.controller.features import (
        KRAFT_VERSION,
        LATEST_METADATA_VERSION,
        METADATA_VERSION,
        SUPPORTED_FEATURES,
    )
    from kbroker.controller.metadata_versions import metadata_version_level

    level = LATEST_METADATA_VERSION
    if options.release_version is not None:
        level = metadata_version_level(options.release_version)
    features: dict[str, int] = {}
    for text in options.feature:
        name, _, number = text.partition("=")
        if name not in SUPPORTED_FEATURES:
            raise ConfigError(f"there is no feature {name}: there are {', '.join(SUPPORTED_FEATURES)}")
        low, high = SUPPORTED_FEATURES[name]
        if not number.isdecimal() or not low <= int(number) <= high:
            raise ConfigError(f"the level of {name} must be between {low} and {high}, not {number}")
        features[name] = int(number)
    if METADATA_VERSION in features:
        if options.release_version is not None:
            raise ConfigError(f"give either --release-version or --feature {METADATA_VERSION}=LEVEL")
        level = features.pop(METADATA_VERSION)
    # It follows from the kind of the quorum.
    if features.pop(KRAFT_VERSION, int(dynamic)) != int(dynamic):
        raise ConfigError(
            f"{KRAFT_VERSION} is {int(dynamic)} here, and nothing else: 1 where controller.quorum.voters is "
            "empty and --standalone, --initial-controllers or --no-initial-controllers is given, else 0"
        )
    return level, features
