"""Coordinators of groups: decide -> records, apply(record) -> state."""
