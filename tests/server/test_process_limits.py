from __future__ import annotations

import pytest

from kbroker.server.process_limits import open_log_files, raise_open_files_limit

resource = pytest.importorskip("resource")


def test_the_soft_limit_rises_to_the_hard_one():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(512, hard), hard))
    try:
        raise_open_files_limit()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 512 or hard <= 512
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize(("soft", "files"), [(20_000, 10_000), (256, 256), (100, 256), (1 << 20, 1 << 14)])
def test_half_of_the_descriptors_are_for_logs(monkeypatch: pytest.MonkeyPatch, soft: int, files: int) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, soft))
    assert open_log_files() == files
