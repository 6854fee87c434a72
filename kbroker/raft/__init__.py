"""One KRaft node as step(now, event) -> effects."""
