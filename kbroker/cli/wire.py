"""`kbroker wire`: Kafka's messages between bytes and JSON, one JSON object a line.

    echo '{"name": "MetadataRequest", "version": 12, "hex": "…"}' | kbroker wire decode
    echo '{"name": "HeartbeatRequest", "version": 0, "json": {…}}' | kbroker wire encode

A line keeps the fields that it came with. A record that the log stores behind a frame (type and version of a
metadata or coordinator record) may be given as `framed` instead of `hex`; both are in the answer. A line that
cannot be converted gets `error` instead of a result, and the exit code is 1 at the end.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import IO, Any, TypeAlias

import click

from kbroker.errors import ApiError, ProtocolError
from kbroker.protocol.api_keys import message_class
from kbroker.protocol.primitives import Message, write_uvarint

JsonObject: TypeAlias = dict[str, Any]


@click.group(no_args_is_help=False)
def wire() -> None:
    """Convert Kafka messages between bytes and JSON."""


def run(arguments: Sequence[str]) -> int:
    """Run the command line; returns the exit code. Wrong usage is one line, as with the other commands."""
    try:
        code = wire.main(list(arguments), prog_name="kbroker wire", standalone_mode=False)
    except click.ClickException as error:
        path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "kbroker wire"
        print(f"{path}: {error.format_message().removesuffix('.')} (see {path} --help)", file=sys.stderr)
        return error.exit_code
    except click.Abort:
        print("kbroker wire: interrupted", file=sys.stderr)
        return 130
    return code or 0


def _options(command: Callable[..., None]) -> Callable[..., None]:
    lines = click.File("r", "utf-8", "replace")
    command = click.argument("files", nargs=-1, type=lines)(command)
    return click.option("--batch", is_flag=True, help="Record batches instead of messages.")(command)


@wire.command()
@_options
def decode(files: tuple[IO[str], ...], batch: bool) -> None:
    """Bytes to JSON: lines with NAME, VERSION and HEX get JSON.

    With --batch: lines with HEX get BATCHES. Reads the FILES, or standard input.
    """
    _convert(files, decode_batches if batch else decode_line)


@wire.command()
@_options
@click.option("--defaults", is_flag=True, help="Fields that are missing in JSON take Kafka's defaults.")
def encode(files: tuple[IO[str], ...], batch: bool, defaults: bool) -> None:
    """JSON to bytes: lines with NAME, VERSION and JSON get HEX.

    With --batch: lines with BATCHES get HEX. Reads the FILES, or standard input.
    """
    _convert(files, encode_batches if batch else partial(encode_line, fill_defaults=defaults))


def _convert(files: tuple[IO[str], ...], convert: Callable[[JsonObject], JsonObject]) -> None:
    failed = False
    for file in files or (click.open_file("-", "r", "utf-8", "replace"),):
        for result in convert_lines(file, convert):
            failed = failed or "error" in result
            click.echo(_to_text(result))
    if failed:
        raise click.exceptions.Exit(1)


def _to_text(result: JsonObject) -> str:
    text = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return json.dumps(result, separators=(",", ":"))
    return text


def convert_lines(lines: Iterable[str], convert: Callable[[JsonObject], JsonObject]) -> Iterable[JsonObject]:
    """Convert each line that is not blank; a line that fails yields an object with `error`."""
    for text in lines:
        if not text.strip():
            continue
        line: JsonObject = {}
        try:
            line = _parse_line(text)
            yield convert(line)
        except (ProtocolError, ApiError, ValueError) as error:
            yield {key: line[key] for key in ("name", "version") if key in line} | {"error": str(error)}


def _parse_line(text: str) -> JsonObject:
    line = json.loads(text)
    if not isinstance(line, dict):
        raise ValueError("a line must be a JSON object")
    return line


def decode_line(line: JsonObject) -> JsonObject:
    """The line with `json` (and `unknown_tags`, [tag, hex], where there are any) of its `hex` or `framed`.

    Raises:
        ProtocolError: malformed bytes, or bytes behind the message.
        ValueError: an unknown name or version, or a field that is missing.
    """
    from kbroker.protocol.json_converter import to_json

    cls, version = _name_and_version(line)
    if "hex" in line:
        data, pos = _hex(line, "hex"), 0
    else:
        data = _hex(line, "framed")
        pos = _unframe(cls, version, data)
    message, end = cls.decode_from(data, version, pos)
    if end != len(data):
        raise ProtocolError(f"{len(data) - end} bytes follow the message")
    result = {k: v for k, v in line.items() if k not in ("hex", "framed", "json", "unknown_tags")}
    result |= _bytes_fields(message, version, data[pos:])
    result["json"] = to_json(message, version)
    if tags := getattr(message, "unknown_tags", None):
        result["unknown_tags"] = [[tag, raw.hex()] for tag, raw in tags]
    return result


def encode_line(line: JsonObject, *, fill_defaults: bool = False) -> JsonObject:
    """The line with `hex` (and `framed`) of its `json`; `unknown_tags` are written as well.

    Args:
        fill_defaults: fields that are missing take Kafka's defaults.

    Raises:
        ValueError: an unknown name or version, a field that is missing or does not fit.
    """
    from kbroker.protocol.json_converter import from_json

    cls, version = _name_and_version(line)
    message: Any = from_json(cls.NAME, _required(line, "json"), version, fill_defaults=fill_defaults)
    if "unknown_tags" in line:
        if not hasattr(message, "unknown_tags"):
            raise ValueError(f"{cls.NAME} has no tagged fields")
        message.unknown_tags = _tags(line["unknown_tags"])
    result = {k: v for k, v in line.items() if k not in ("hex", "framed")}
    return result | _bytes_fields(message, version, message.encode(version))


def _tags(pairs: Any) -> list[tuple[int, bytes]]:
    try:
        return [(int(tag), bytes.fromhex(raw)) for tag, raw in pairs]
    except TypeError:
        raise ValueError("unknown_tags must be pairs of tag and hex") from None


def decode_batches(line: JsonObject) -> JsonObject:
    """The line with `batches` of its `hex`.

    Raises:
        ApiError: damaged batches.
        ValueError: no `hex`.
    """
    from kbroker.protocol.batch_json import batches_to_json

    try:
        return line | {"batches": batches_to_json(_hex(line, "hex"))}
    except ApiError as error:
        raise ValueError(f"{error.code.name}: {error.text}") from error


def encode_batches(line: JsonObject) -> JsonObject:
    """The line with `hex` of its `batches`.

    Raises:
        ValueError: a field is missing or does not fit.
    """
    from kbroker.protocol.batch_json import batches_from_json

    return line | {"hex": batches_from_json(_required(line, "batches")).hex()}


def _name_and_version(line: JsonObject) -> tuple[type[Message], int]:
    name, version = _required(line, "name"), _required(line, "version")
    try:
        cls = message_class(str(name))
    except KeyError:
        raise ValueError(f"there is no message {name!r}") from None
    if version not in cls.DECODERS:
        raise ValueError(f"{name} has versions {cls.MIN_VERSION} to {cls.MAX_VERSION}, not {version}")
    return cls, int(version)


def _required(line: JsonObject, key: str) -> Any:
    if key not in line:
        raise ValueError(f"the field {key!r} is missing")
    return line[key]


def _hex(line: JsonObject, key: str) -> bytes:
    return bytes.fromhex(str(_required(line, key)))


def _bytes_fields(message: Message, version: int, raw: bytes) -> JsonObject:
    frame = _frame(type(message), version)
    return {"hex": raw.hex()} if frame is None else {"hex": raw.hex(), "framed": (frame + raw).hex()}


def _frame(cls: type[Message], version: int) -> bytes | None:
    """What the log stores in front of a record; None for messages without such a frame."""
    from kbroker.protocol.schemas.parser import load_message

    kind = load_message(cls.NAME).kind
    if cls.API_KEY is None:
        return None
    if kind == "metadata":
        out = bytearray()
        for number in (1, cls.API_KEY, version):
            write_uvarint(out, number)
        return bytes(out)
    if kind == "coordinator-key":
        return cls.API_KEY.to_bytes(2, "big")
    return version.to_bytes(2, "big") if kind == "coordinator-value" else None


def _unframe(cls: type[Message], version: int, data: bytes) -> int:
    """Where the message starts behind its frame.

    Raises:
        ProtocolError: the frame is of another record type or version.
    """
    frame = _frame(cls, version)
    if frame is None:
        raise ValueError(f"{cls.NAME} has no frame: give its bytes as 'hex'")
    if not data.startswith(frame):
        found = data[: len(frame)].hex()
        raise ProtocolError(f"the frame of {cls.NAME} v{version} is {frame.hex()}, not {found}")
    return len(frame)
