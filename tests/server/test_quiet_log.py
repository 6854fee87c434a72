from __future__ import annotations

import logging

from kbroker.server.quiet_log import QuietLog


def test_lines_over_the_budget_are_counted_and_told_with_the_next(caplog):
    caplog.set_level(logging.INFO)
    now = [0.0]
    quiet = QuietLog(logging.getLogger("quiet"), lambda: now[0], lines_per_second=2, burst=3)
    for number in range(10):
        quiet.info("line %d", number)
    assert [record.getMessage() for record in caplog.records] == ["line 0", "line 1", "line 2"]
    now[0] = 0.5
    quiet.info("again")
    quiet.info("too soon")
    assert caplog.messages[3:] == ["again (7 more lines like this suppressed)"]
    now[0] = 1000
    for number in range(10):
        quiet.info("line %d", number)
    assert len(caplog.messages) == 7
    assert caplog.messages[4] == "line 0 (1 more lines like this suppressed)"
