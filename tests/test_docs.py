"""The pages: links lead somewhere, every page can be reached, what they name exists."""

from __future__ import annotations

import re
from pathlib import Path

from kbroker.config.definitions import broker_definitions

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
DECISIONS = ROOT / "docs" / "decisions"
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
#: `kbroker.…` in prose is a setting, unless it is a module.
OWN_NAME = re.compile(r"\bkbroker\.[a-z][a-z._]*[a-z]\b")
FILE = re.compile(r"[\w./-]+\.(?:py|md|schema|jsonl\.gz|toml)")


def links(page: Path) -> list[Path]:
    """Where a page's links into the repository lead."""
    targets = (target.partition("#")[0] for target in LINK.findall(page.read_text()) if "://" not in target)
    return [(page.parent / target).resolve() for target in targets if target]


def test_links_lead_somewhere() -> None:
    broken = [f"{page.name}: {target}" for page in PAGES for target in links(page) if not target.exists()]
    assert not broken


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md", DECISIONS / "README.md"]
    assert DECISIONS / "README.md" in links(ROOT / "docs" / "architecture.md")
    while waiting:
        page = waiting.pop()
        if page not in reached and page.suffix == ".md" and page.exists():
            reached.add(page)
            waiting.extend(links(page))
    lonely = {page for page in PAGES if page.name != "CHANGELOG.md"} - reached
    assert not lonely


def test_settings_of_our_own_exist_and_are_told() -> None:
    own = {name for name in broker_definitions() if name.startswith("kbroker.")}
    named = {
        (page.name, name)
        for page in PAGES
        for name in OWN_NAME.findall(page.read_text())
        if not (ROOT / name.replace(".", "/")).exists()
        and not (ROOT / (name.replace(".", "/") + ".py")).exists()
    }
    assert not {(page, name) for page, name in named if name not in own}
    assert own == {name for page, name in named if page == "config.md"}


def test_files_that_are_named_exist() -> None:
    """A path in backquotes is one from the root, from `kbroker/`, or a name somewhere in the repository."""
    known = [
        path.relative_to(ROOT).as_posix()
        for room in ("kbroker", "tests", "tools", "docs")
        for path in (ROOT / room).rglob("*")
    ]
    endings = {"/" + name for name in known}
    tails = {"/".join(name.split("/")[-depth:]) for name in endings for depth in (1, 2, 3, 4, 5)}
    missing = [
        f"{page.name}: {text}"
        for page in PAGES
        for text in CODE.findall(page.read_text())
        if FILE.fullmatch(text) and text not in tails and not (ROOT / text).exists()
    ]
    assert not missing


def test_decisions_are_numbered_without_a_gap_and_short() -> None:
    files = sorted(path for path in DECISIONS.glob("*.md") if path.name != "README.md")
    assert [int(path.name[:4]) for path in files] == list(range(1, len(files) + 1))
    for number, path in enumerate(files, 1):
        lines = path.read_text().splitlines()
        assert lines[0].startswith(f"# {number}. ")
        assert len(lines) <= 40, path.name
