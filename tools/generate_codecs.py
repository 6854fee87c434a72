"""Writes `kbroker/protocol/generated/` from the schemas in `kbroker/protocol/schemas/`.

    python tools/generate_codecs.py            write the modules, delete those without a schema
    python tools/generate_codecs.py --check    change nothing; exit 1 if a module is not what would be written

The result is straight-line code: a decoder and an encoder for every distinct layout of every struct, in which
adjacent fixed-width fields (and the length that follows them) are one precompiled `struct.Struct`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kbroker.protocol.schemas.parser import MessageSchema, load_all, snake_case
from tools.codec_writer.api_table import render_api_table
from tools.codec_writer.module import render_module

TARGET = Path(__file__).resolve().parents[1] / "kbroker" / "protocol" / "generated"
PACKAGE_DOC = '"""Written by tools/generate_codecs.py from the schemas beside this package; do not edit."""\n'


def render_all() -> dict[str, str]:
    """File name to text, of everything that belongs into the target folder."""
    messages: dict[str, MessageSchema] = load_all()
    files = {f"{snake_case(name)}.py": render_module(schema) for name, schema in messages.items()}
    files["api_table.py"] = render_api_table(messages)
    files["__init__.py"] = PACKAGE_DOC
    return files


def main() -> int:
    parser = argparse.ArgumentParser(description="Generate the message codecs.")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args().check
    wanted = render_all()
    present = {path.name: path.read_text(encoding="utf-8") for path in TARGET.glob("*.py")}
    stale = sorted(name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name))
    if check:
        for name in stale:
            print(f"stale: {TARGET.name}/{name}", file=sys.stderr)
        return 1 if stale else 0
    for name in stale:
        if name in wanted:
            (TARGET / name).write_text(wanted[name], encoding="utf-8")
        else:
            (TARGET / name).unlink()
    print(f"{len(wanted)} modules, {len(stale)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
