"""The metadata partition in `tests/data/metadata`."""

from __future__ import annotations

import tarfile
from pathlib import Path

_ARCHIVE = Path(__file__).parent.parent / "data" / "metadata" / "kafka-4.4.0-single.tar.gz"


def _read():
    with tarfile.open(_ARCHIVE) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}


FILES = _read()
LOG = b"".join(data for name, data in sorted(FILES.items()) if name.endswith(".log"))
SNAPSHOTS = {name: data for name, data in FILES.items() if name.endswith(".checkpoint")}
