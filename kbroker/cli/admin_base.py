"""What all sub-commands of `kbroker-admin` share: the session, the common options, parsing of arguments."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import click

from kbroker.cli.output import clean, print_json, print_table
from kbroker.client.cluster import Cluster
from kbroker.client.offsets import partitions_of
from kbroker.errors import ApiError, ErrorCode
from kbroker.types import TopicPartition

DEFAULT_BOOTSTRAP = "localhost:9092"
BOOTSTRAP_VARIABLE = "KBROKER_BOOTSTRAP"
CONFIG_VARIABLE = "KBROKER_COMMAND_CONFIG"
DEFAULT_TIMEOUT_S = 15.0


class Session:
    """One run of the command: where the cluster is, how to print, and how it went so far."""

    def __init__(self) -> None:
        self.bootstrap = os.environ.get(BOOTSTRAP_VARIABLE) or DEFAULT_BOOTSTRAP
        self.json = False
        self.timeout_s = DEFAULT_TIMEOUT_S
        self.command_config = os.environ.get(CONFIG_VARIABLE) or None
        self.exit_code = 0
        self._cluster: Cluster | None = None

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._cluster is not None:
            self._cluster.close()

    @property
    def cluster(self) -> Cluster:
        """The cluster; connects at the first question."""
        if self._cluster is None:
            self._cluster = Cluster(
                self.bootstrap, client_id="kbroker-admin", timeout_s=self.timeout_s, settings=self._settings()
            )
        return self._cluster

    def _settings(self) -> dict[str, str]:
        """Of the client, from --command-config; a line on stderr tells of names that nobody knows.

        Raises:
            click.UsageError: the file cannot be read.
        """
        if self.command_config is None:
            return {}
        from kbroker.cli.command_config import read_command_config, unknown_names

        settings = read_command_config(self.command_config)
        unknown = unknown_names(settings)
        if unknown:
            self.warn(f"{self.command_config}: not known, and not used: {', '.join(unknown)}")
        return settings

    def show(
        self, data: object, columns: Sequence[str], rows: list[Sequence[object]], title: str | None = None
    ) -> None:
        """Print `data` as JSON, or the rows as a table."""
        if self.json:
            print_json(data)
        else:
            print_table(columns, rows, title=title)

    def say(self, text: str, data: object = None) -> None:
        """Print a sentence for a person; `data` instead for a program."""
        if self.json:
            print_json(data)
        else:
            print(clean(text))

    def fail(self, message: str) -> None:
        """One line on stderr; the run goes on and ends with exit code 1."""
        self.tell_error(message)
        self.exit_code = 1

    def warn(self, message: str) -> None:
        """One line on stderr; the exit code stays as it is."""
        if self.json:
            print_json({"warning": message}, line=True, file=sys.stderr)
        else:
            print(f"kbroker-admin: {clean(message)}", file=sys.stderr)

    def tell_error(self, message: str, code: ErrorCode | None = None) -> None:
        """One line on stderr, for a program as JSON: {"error": …, "code": … or null}."""
        if self.json:
            print_json(
                {"error": message, "code": None if code is None else code.name}, line=True, file=sys.stderr
            )
        else:
            print(f"kbroker-admin: {clean(message)}", file=sys.stderr)

    def report(
        self,
        done: str,
        results: Mapping[Any, ApiError | None],
        document: Mapping[str, object] | None = None,
    ) -> None:
        """One line per item: `done` with its name, or why not. For a program: a list, or in a `document`."""
        if self.json:
            outcome = [
                {"name": str(key), "error": None if error is None else error.code.name}
                for key, error in results.items()
            ]
            print_json(outcome if document is None else {**document, "results": outcome})
        for key, error in results.items():
            if error is not None:
                self.tell_error(error.text, error.code)
                self.exit_code = 1
            elif not self.json:
                print(clean(done.format(key)))


pass_session = click.make_pass_decorator(Session)


def _common_options() -> list[click.Parameter]:
    def keep(attribute: str) -> Any:
        def callback(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
            if value is not None and value is not False:
                setattr(ctx.find_object(Session), attribute, value)
            return value

        return callback

    return [
        click.Option(
            ["-b", "--bootstrap", "--bootstrap-server"],
            metavar="HOST:PORT",
            expose_value=False,
            callback=keep("bootstrap"),
            help=f"Brokers of the cluster.  [default: ${BOOTSTRAP_VARIABLE} or {DEFAULT_BOOTSTRAP}]",
        ),
        click.Option(
            ["--command-config"],
            metavar="FILE",
            expose_value=False,
            callback=keep("command_config"),
            help=f"Properties of the client: security.protocol, sasl.…, ssl.…  [default: ${CONFIG_VARIABLE}]",
        ),
        click.Option(
            ["--json"],
            is_flag=True,
            expose_value=False,
            callback=keep("json"),
            help="Print JSON instead of tables.",
        ),
        click.Option(
            ["--timeout", "timeout_s"],
            type=click.FloatRange(min=0.05),
            metavar="SECONDS",
            expose_value=False,
            callback=keep("timeout_s"),
            help=f"How long to wait for a broker.  [default: {DEFAULT_TIMEOUT_S:g}]",
        ),
    ]


class AdminCommand(click.Command):
    """A command with the common options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += _common_options()


class AdminGroup(click.Group):
    """A group of commands, with the common options on each."""

    command_class = AdminCommand

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += _common_options()


def parse_settings(texts: Iterable[str]) -> dict[str, str]:
    """`name=value` arguments.

    Raises:
        click.UsageError: one has no "=".
    """
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.UsageError(f"{text!r} is no setting: write name=value")
        settings[name] = value
    return settings


def parse_assignment(text: str | None) -> list[list[int]]:
    """Brokers per partition: "1:2,2:3" puts partition 0 on 1 and 2, and partition 1 on 2 and 3.

    Raises:
        click.UsageError: not of that form.
    """
    if not text:
        return []
    try:
        return [[int(broker) for broker in part.split(":")] for part in text.split(",")]
    except ValueError:
        raise click.UsageError(f"{text!r} is no assignment: write broker:broker,broker:broker") from None


def parse_partitions(cluster: Cluster, texts: Iterable[str]) -> list[TopicPartition]:
    """Topics with partitions, as in "orders" (all of them) or "orders:0,2".

    Raises:
        click.UsageError: not of that form.
        ApiError: a topic without partition numbers does not exist.
    """
    found: list[TopicPartition] = []
    for text in texts:
        topic, colon, numbers = text.partition(":")
        if not colon:
            found += partitions_of(cluster, [topic])
            continue
        try:
            found += [TopicPartition(topic, int(number)) for number in numbers.split(",")]
        except ValueError:
            raise click.UsageError(f"{text!r} names no partitions: write topic:0,1") from None
    return sorted(set(found))


def parse_time(text: str) -> int:
    """ISO 8601 to ms since 1970; a time without a zone is UTC.

    Raises:
        click.UsageError: no such time.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise click.UsageError(f"{text!r} is no time: write 2026-01-31T12:00:00") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)


def confirm(question: str, yes: bool) -> None:
    """Ask a person at a terminal, unless `yes`; a program is not asked.

    Raises:
        click.Abort: no.
    """
    if not yes and sys.stdin and sys.stdin.isatty():
        click.confirm(clean(question), abort=True, err=True)
