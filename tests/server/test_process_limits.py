from __future__ import annotations

import pytest

from kbroker.server.process_limits import raise_open_files_limit

resource = pytest.importorskip("resource")


def test_the_soft_limit_rises_to_the_hard_one():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(512, hard), hard))
    try:
        raise_open_files_limit()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 512 or hard <= 512
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
