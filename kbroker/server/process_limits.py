"""How many files and sockets this process may have open."""

from __future__ import annotations

_FEWEST_LOG_FILES = 256
_MOST_LOG_FILES = 1 << 14


def raise_open_files_limit() -> None:
    """Lift the soft limit to the hard one: a broker needs a descriptor a connection and a segment.

    Shells often start with 1024 (256 on macOS) although far more is allowed. Nothing happens where the system
    has no such limit (Windows) or refuses.
    """
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = hard if hard != resource.RLIM_INFINITY else 1 << 20
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):
        return


def open_log_files() -> int:
    """How many segment and index files to keep open: half of what is allowed, the rest is for connections."""
    try:
        import resource
    except ImportError:
        return _FEWEST_LOG_FILES
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = _MOST_LOG_FILES if soft == resource.RLIM_INFINITY else soft // 2
    return max(min(allowed, _MOST_LOG_FILES), _FEWEST_LOG_FILES)
