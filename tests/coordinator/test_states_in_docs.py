"""The table of states in docs/groups.md is that of the code."""

from __future__ import annotations

import re
from pathlib import Path

from kbroker.coordinator.group.classic import TRANSITIONS

DOC = Path(__file__).parents[2] / "docs" / "groups.md"


def test_the_table_of_states() -> None:
    section = DOC.read_text().split("## States of a classic group")[1].split("##")[0]
    rows = re.findall(r"^\| ([A-Z]\w+) \| ([\w, ]+) \|", section, re.MULTILINE)
    told = {state: {each.strip() for each in sources.split(",")} for state, sources in rows}
    assert told == {state.value: {each.value for each in sources} for state, sources in TRANSITIONS.items()}
