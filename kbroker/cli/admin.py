"""`kbroker-admin`: manage a cluster, ours or Apache Kafka's, and look into log files.

Law of this command: what fails is one line on stderr and an exit code that is not 0 (2 for wrong usage),
never a traceback; `--json`, `--bootstrap` and `--timeout` are taken before or behind any sub-command.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from kbroker import __version__
from kbroker.cli.admin_base import AdminGroup, Session
from kbroker.client.errors import ClientError, NotConnected, WantsSecurity
from kbroker.errors import ApiError, ConfigError, ErrorCode


class _Root(AdminGroup):
    """Imports a sub-command's module when it is called, or listed in the help."""

    modules = (
        "topics",
        "groups",
        "transactions",
        "shares",
        "configs",
        "cluster",
        "brokers",
        "quorum",
        "migrate",
        "reassign",
        "elect",
        "clients",
        "metrics",
        "quotas",
        "limits",
        "drain",
        "users",
        "tokens",
        "acls",
        "audit",
        "logs",
    )

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.modules:
            return None
        from importlib import import_module

        command: click.Command = getattr(import_module(f"kbroker.cli.admin_{cmd_name}"), cmd_name)
        return command


@click.command(cls=_Root, name="kbroker-admin", context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="kbroker-admin %(version)s")
def root() -> None:
    """Manage topics, groups, transactions and configs of a Kafka cluster, and look into log files.

    Works with kbroker and with Apache Kafka. KBROKER_BOOTSTRAP names the cluster where --bootstrap does not.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    with Session() as session:

        def failed(message: str, code: int = 1, error: ErrorCode | None = None) -> int:
            session.tell_error(message, error)
            return code

        try:
            root.main(
                args=None if arguments is None else list(arguments),
                prog_name="kbroker-admin",
                standalone_mode=False,
                obj=session,
            )
            sys.stdout.flush()
        except click.exceptions.Exit as stop:
            return stop.exit_code
        except click.UsageError as error:
            if type(error).__name__ == "NoArgsIsHelpError":  # click 8.1 does not have it
                print(error.format_message(), file=sys.stderr)
                return 2
            where = f" (see {error.ctx.command_path} --help)" if error.ctx else ""
            # click lists choices one below the other.
            return failed(" ".join(error.format_message().split()) + where, 2)
        except click.ClickException as error:
            return failed(error.format_message())
        except (click.Abort, KeyboardInterrupt):
            return failed("interrupted", 130)
        except NotConnected as error:
            advice = "is a broker running there? `kbroker start` starts one, --bootstrap names another"
            return failed(f"{error}; {advice}")
        except WantsSecurity as error:
            return failed(f"{error}; --command-config names a file with security.protocol and what it needs")
        except ApiError as error:
            return failed(error.text, error=error.code)
        except (BrokenPipeError, SystemExit):
            # Whoever read our output has seen enough, which click turns into an exit with 1, and that alone.
            # Nothing more can be written at exit either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except UnicodeError as error:
            return failed(f"what was given is no text in UTF-8: {error}")
        except (ClientError, ConfigError, OSError) as error:
            return failed(str(error))
        return session.exit_code


if __name__ == "__main__":
    sys.exit(main())
