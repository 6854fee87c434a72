from __future__ import annotations

import os

#: Minutes each; `make mixed` runs them.
collect_ignore = (
    []
    if os.environ.get("KBROKER_MIXED") == "all"
    else [
        "test_admin_beside_kafka.py",
        "test_mixed_long.py",
        "test_zk_controller.py",
        "test_zk_migration.py",
        "test_zk_mixed.py",
        "test_zk_mixed_cluster.py",
        "test_zk_tools.py",
    ]
)
