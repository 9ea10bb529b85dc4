"""The rules of the house that no tool knows: files, silenced tools and dependencies.

Arrows are in `test_arrows.py`, tables in `test_tables.py`, names in `test_names.py`, words in `test_words.py`.
"""

import re

from tests.house import ROOT, our_files, python_files, text_of

# Files over 400 lines that are tables, and why they may be as long as the truth.
LONG_TABLES: dict[str, str] = {
    "layers/sigla/python/sigla/keys.py": "every stored name is made in one place",
    "layers/sigla/python/sigla/upkeep/flaws.py": "a row for each kind of flaw, with the question that finds it",
    "tests/unit/web/test_permissions.py": "a row for each route, as ROUTES has them, and for each place of its target",
}

# Written in pieces, so that this file passes its own test.
REGISTRY_HOSTS = [
    ".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"))
]
MACHINE_PATHS = re.compile(r"(?<![\w.:/$}-])/(?:work|root|home/[a-z]+|Users/[A-Za-z]+|tmp/[a-z]\w*)(?:/|\b)")


def test_no_file_names_a_package_host_or_a_place_on_one_machine() -> None:
    """Where packages come from is the machine's affair, and what works in one home directory only does not work."""
    kept = {".py", ".md", ".toml", ".txt", ".in", ".sh", ".json", ".yml", ".yaml", ".cfg", ".ini", ""}
    found = []
    for path in our_files():
        name = path.relative_to(ROOT).as_posix()
        if (
            path.suffix not in kept
            or name.startswith(("tests/corpus/", "tests/vectors/"))
            or name == "tests/test_house.py"
        ):
            continue
        text = text_of(path)
        if not (any(host in text for host in REGISTRY_HOSTS) or MACHINE_PATHS.search(text)):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if any(host in line for host in REGISTRY_HOSTS) or MACHINE_PATHS.search(line):
                found.append(f"{name}:{number} {line.strip()[:100]}")
    assert not found, "\n".join(found)


def test_a_silenced_tool_is_told_why() -> None:
    """`# noqa: X - reason` or `# type: ignore[x]  # reason`: a silence without a reason outlives what it was for."""
    silence = re.compile(r"#\s*(?:type:\s*ignore|noqa|pragma:\s*no (?:cover|branch)|mypy:|pyright:)(?P<rest>.*)")
    reasoned = re.compile(r".*(?: - |\s# )\w.*")
    found = []
    for path in python_files():
        if path == ROOT / "tests" / "test_house.py" or not silence.search(text_of(path)):
            continue
        for number, line in enumerate(text_of(path).splitlines(), 1):
            match = silence.search(line)
            if match and not reasoned.fullmatch(match["rest"]):
                found.append(f"{path.relative_to(ROOT)}:{number} {line.strip()[:100]}")
    assert not found, "say why, after ` - ` or in a comment behind it:\n" + "\n".join(found)


def test_a_file_over_400_lines_is_a_table_that_says_so() -> None:
    """Split by reason to change, never by line count; but look twice at 400."""
    long = {
        path.relative_to(ROOT).as_posix(): count
        for path in python_files()
        if (count := len(text_of(path).splitlines())) > 400
    }
    unlisted = {name: count for name, count in long.items() if name not in LONG_TABLES}
    assert not unlisted, f"split, or list in LONG_TABLES with the reason: {unlisted}"
    stale = [name for name in LONG_TABLES if name not in long]
    assert not stale, f"no longer over 400 lines, take them from the list: {stale}"


def test_every_dependency_is_explained() -> None:
    """docs/decisions/dependencies.md has a dated line for each: what for, instead of what, its size, its import."""
    project = text_of(ROOT / "pyproject.toml")
    listed = project[: project.index("[build-system]")]
    names = set(re.findall(r'^    "([A-Za-z0-9-]+)(?:\[[a-z,]+\])?>=', listed, re.MULTILINE))
    page = text_of(ROOT / "docs" / "decisions" / "dependencies.md")
    assert names
    missing = sorted(name for name in names if not re.search(rf"^\| 20\d\d-\d\d-\d\d \| {name} \|", page, re.MULTILINE))
    assert not missing, missing
