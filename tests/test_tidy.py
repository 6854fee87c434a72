"""The rules of the house. What breaks one today is listed with its size; the lists may only shrink."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70

#: Longer than a module should be: path -> lines. A number here is lowered when the file gets shorter, never
#: raised, and no file is added.
LONG_MODULES: dict[str, int] = {}
#: Longer than a function should be, path:name -> lines.
LONG_FUNCTIONS: dict[str, int] = {}

#: Names that belong to one developer's machine, and hosts that nothing here talks to. In pieces: this file
#: is searched, too.
FOREIGN = re.compile(
    "|".join(
        [
            r"/wo" + r"rk/(?:main|shared|notes)\b",
            r"(?<![\w/.-])sha" + r"red/(?:design|reference|oracle)\b",
            *(re.escape(host + "." + domain) for host, domain in [
                ("pypi", "org"), ("repo1.maven", "org"), ("proxy.golang", "org"), ("registry.npmjs", "org"),
                ("deb.debian", "org"), ("crates", "io"),
            ]),
        ]
    )
)  # fmt: skip


def tracked() -> list[str]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listing.returncode:
        pytest.skip("not a git checkout")
    return [name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


@functools.cache
def modules() -> list[tuple[str, str, ast.Module]]:
    """(path, text, tree) of what people wrote."""
    found = []
    for room in ("kbroker", "tests", "tools"):
        for path in sorted((ROOT / room).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if "/generated/" not in name:
                text = path.read_text()
                found.append((name, text, ast.parse(text)))
    return found


@pytest.fixture(scope="module")
def package() -> list[tuple[str, str, ast.Module]]:
    return [module for module in modules() if module[0].startswith("kbroker/")]


def exceeding(sizes: dict[str, int], limit: int, known: dict[str, int]) -> list[str]:
    """What is longer than it may be, and what is listed as longer than it is."""
    too_long = [f"{name}: {size} lines" for name, size in sizes.items() if size > known.get(name, limit)]
    stale = [
        f"{name}: lower the number in the list, or strike it out: {sizes.get(name, 0)} lines now"
        for name, listed in known.items()
        if sizes.get(name, 0) < listed
    ]
    return too_long + stale


def test_modules_are_short() -> None:
    sizes = {name: text.count("\n") for name, text, _ in modules()}
    assert not exceeding(sizes, MODULE_LINES_MAX, LONG_MODULES)


def test_functions_are_short() -> None:
    sizes: dict[str, int] = {}
    for name, _, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                key = f"{name}:{node.name}"
                sizes[key] = max(sizes.get(key, 0), node.end_lineno - node.lineno + 1)
    assert not exceeding(sizes, FUNCTION_LINES_MAX, LONG_FUNCTIONS)


def test_every_module_says_what_it_is_for(package) -> None:
    assert not [name for name, _, tree in package if not ast.get_docstring(tree)]


def bound_names(tree: ast.Module) -> set[str]:
    """What a module has at its outermost level, also where only a type checker looks."""
    names: set[str] = set()
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)
        else:
            names.update(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
            waiting += [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.stmt)]
    return names


def test_tools_import_what_there_is() -> None:
    """No test runs a benchmark: one whose neighbour changed would be found broken by whoever needs it."""
    known = {name.removesuffix(".py").replace("/", "."): bound_names(tree) for name, _, tree in modules()}
    missing = [
        f"{name}:{node.lineno}: {node.module}.{alias.name}"
        for name, _, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("tools.", "tests."))
        for alias in node.names
        if alias.name not in known.get(node.module, ()) and f"{node.module}.{alias.name}" not in known
    ]
    assert not missing


def test_only_commands_print(package) -> None:
    printing = [
        f"{name}:{node.lineno}"
        for name, _, tree in package
        if not name.startswith("kbroker/cli/")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert not printing


def lines_matching(pattern: re.Pattern[str], names: list[str]) -> list[str]:
    found = []
    for name in names:
        content = (ROOT / name).read_bytes()
        if b"\0" in content:
            continue
        for number, line in enumerate(content.decode(errors="replace").splitlines(), 1):
            if match := pattern.search(line):
                found.append(f"{name}:{number}: {match[0]}")
    return found


def test_nothing_is_left_to_do_in_a_comment() -> None:
    later = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME)\b")
    assert not lines_matching(later, [name for name in tracked() if not name.startswith("tests/data/")])


def test_nothing_names_a_developers_machine_or_a_registry() -> None:
    assert not lines_matching(FOREIGN, tracked())
