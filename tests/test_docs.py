"""What the documentation shows is what happens: commands are run, tables compared with the code, links followed.

A block marked `console` shows commands after `$ ` and what they print, one marked `sh` only commands, one marked
`python` a program whose prints say in a comment what comes out. Each page has a registry of its own, with its data in
`./data`. Where a page shows what differs from run to run, it shows `…`.
"""

import importlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest

from sigla.errors import Refusal
from sigla.settings import PREFIX, REMOTE_URL, REMOTE_USER, Settings, described
from sigla_pipelines.land.decoders import extension
from tests.house import our_files
from tests.protocol.clients.forked import Forked
from tests.protocol.clients.server import Server, serving

ROOT = Path(__file__).parent.parent
CODE = ROOT / "layers" / "sigla" / "python" / "sigla"
TESTS = ROOT / "tests"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BIN = Path(sys.executable).parent
ADDRESS = "http://127.0.0.1:8081"
PATIENCE_S = 60
SHELL = {"|", "||", "&&", ";", ">", ">>", "<"}
"""Words that a shell has to read."""

# Words that only look like the ids of rules.
NO_RULES = re.compile(r"(?:UTF|SHA|MD|ISO|RFC|AES|CVE|HTTP/|PT)-?\d+")
RULE_ID = re.compile(r"\b(?:[A-Z]{2,7}-[A-Z]?\d+[a-z]?|ID-RES)\b")


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


# --- blocks ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    kind: str
    text: str
    line: int

    @property
    def commands(self) -> list[tuple[str, str]]:
        """Each command with what it is said to print; of an `sh` block nothing is said."""
        if self.kind == "sh":
            return [(line, "") for line in joined(self.text) if line and not line.startswith("#")]
        found: list[tuple[str, str]] = []
        for line in joined(self.text):
            if line.startswith("$ "):
                found.append((line[2:], ""))
            else:
                command, shown = found.pop()
                found.append((command, f"{shown}{line}\n"))
        return found

    @property
    def prints(self) -> list[str]:
        """What a program says that its prints come to."""
        return re.findall(r"^print\(.*\)  # (.*)$", self.text, re.MULTILINE)


def joined(text: str) -> list[str]:
    """Lines, those that end in a backslash with the next one."""
    return re.sub(r"\\\n\s*", "", text).splitlines()


def blocks(page: Path) -> list[Block]:
    text = text_of(page)
    return [
        Block(found[1], found[2], text.count("\n", 0, found.start()) + 2)
        for found in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        if found[1] in ("sh", "console", "python")
    ]


def pages_to_run() -> list[Path]:
    elsewhere = ("CHANGELOG.md", "CONTRIBUTING.md", "docs/cdk.md")  # the last one's app: tests/test_wheel.py
    ours = [page for page in PAGES if name_of(page) not in elsewhere]
    return [page for page in ours if blocks(page) and "decisions" not in page.parts]


# --- a registry ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Running:
    """A `sigla serve` on the data in a folder, in which commands are typed."""

    server: Server
    folder: Path

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def environment(self) -> dict[str, str]:
        return clean_environment()


def clean_environment() -> dict[str, str]:
    """Ours without settings and proxies; the commands of the virtual environment come first."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(PREFIX) and "proxy" not in k.lower()}
    return {**kept, "PATH": f"{BIN}{os.pathsep}{kept.get('PATH', '')}"}


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    (tmp_path / ".venv").symlink_to(BIN.parent)  # as it stands in a clone
    with serving(Path("data"), cwd=tmp_path) as server:
        yield Running(server, tmp_path)


def told(registry: Running) -> list[dict[str, Any]]:
    """The log, once the process has stopped."""
    registry.server.stop()
    return [json.loads(line) for line in registry.server.lines]


# --- running ---------------------------------------------------------------------------------------------------------


def run(command: list[str] | str, registry: Running) -> str:
    done = subprocess.run(
        command,
        shell=isinstance(command, str),
        cwd=registry.folder,
        env=registry.environment,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def sigla(words: list[str], registry: Running) -> str:
    """The command in a fork of a process that has imported it, which takes a tenth of the time that a start takes."""
    process = Forked(words, registry.environment, registry.folder)
    with process.stdout, process.stderr:
        printed, complaints = process.stdout.read().decode(), process.stderr.read().decode()
    assert process.wait(PATIENCE_S) == 0, f"sigla {shlex.join(words)}\n{printed}{complaints}"
    return printed


def check_command(command: str, shown: str, registry: Running) -> None:
    """Runs it. What would serve for ever, or run these tests in these tests, is only read."""
    words = shlex.split(command, comments=True)
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", text_of(ROOT / "Makefile"), re.MULTILINE), command
    elif words[0].endswith("sigla") and words[1] == "serve" and "--help" not in words:
        importlib.import_module("sigla.cli")._parser().parse_args(words[1:])
    else:
        typed = command.replace(ADDRESS, registry.url)
        alone = words[0] == "sigla" and not SHELL.intersection(words)
        printed = sigla(shlex.split(typed, comments=True)[1:], registry) if alone else run(typed, registry)
        printed = printed.replace(registry.url, ADDRESS)
        if shown:
            assert_same(printed, shown, command)


def assert_same(printed: str, shown: str, command: str) -> None:
    """Equal as JSON where both are; else as text, `…` standing for anything."""
    try:
        assert json.loads(printed) == json.loads(shown), command
    except ValueError:
        pattern = ".*".join(map(re.escape, shown.strip().split("…")))
        assert re.fullmatch(pattern, printed.strip(), re.DOTALL), f"{command}\nprints\n{printed}\nand not\n{shown}"


@pytest.mark.parametrize("page", pages_to_run(), ids=name_of)
def test_what_a_page_shows_is_what_happens(page: Path, running: Running) -> None:
    """A stranger types what is shown; it must do what is shown, in the order in which it is shown."""
    for block in blocks(page):
        if block.kind == "python":
            program = block.text.replace(ADDRESS, running.url)
            printed = run([sys.executable, "-c", program], running).splitlines()
            assert printed == block.prints, f"{name_of(page)}:{block.line}"
        else:
            for command, shown in block.commands:
                check_command(command, shown, running)


def test_the_package_that_the_tour_installs_is_the_one_we_test_with() -> None:
    """`pip install` is not run here, but what it names is what the tests import."""
    named = re.findall(r'pip install "?([^"`\s]+)', text_of(ROOT / "README.md"))
    project = text_of(ROOT / "pyproject.toml")
    assert named
    assert all(f'"{package}>=' in project for package in named), named


# In two pieces, so that this file passes its own test.
INSTALLED_BY_NAME = re.compile(
    r"(?:pipx? install|uvx|uv (?:tool install|add))(?: -[-\w]+)*" + r" ['\"]?sigla(?![-\w./])"
)


def test_nothing_installs_sigla_by_a_name_that_is_not_ours() -> None:
    """On the public index `sigla` is another project's code: ours is sigla-registry."""
    found = [
        f"{path.relative_to(ROOT)}: {named[0]}"
        for path in our_files()
        if path.suffix in {".md", ".py", ".sh", ".toml", ".html", ".yaml", ""}
        for named in INSTALLED_BY_NAME.finditer(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert not found, found


# --- operations ------------------------------------------------------------------------------------------------------


def rows(page: str, head: str) -> list[list[str]]:
    """The cells of the table whose first line begins with `head`."""
    lines = page[page.index(head) :].splitlines()[2:]
    table = []
    for line in lines:
        if not line.startswith("|"):
            break
        table.append([cell.strip().strip("`") for cell in line.strip("|").split("|")])
    return table


def test_every_setting_is_documented_with_its_default() -> None:
    """Once each: an operator looks here first, and a wrong default is worse than none."""
    documented = [(row[0], row[1]) for row in rows(text_of(ROOT / "docs" / "operations.md"), "| variable |")]
    assert sorted(documented) == sorted(described())


def test_the_readme_shows_settings_that_there_are() -> None:
    known = {PREFIX + each.name.upper() for each in fields(Settings)} | {REMOTE_URL, *REMOTE_USER, extension.VARIABLE}
    for page in PAGES:
        named = set(re.findall(rf"\b{PREFIX}[A-Z_]*[A-Z]\b", text_of(page)))
        assert named <= known, name_of(page)


def test_every_metric_and_every_field_of_the_log_is_documented(running: Running) -> None:
    """Dashboards and queries are built from these tables."""
    page = text_of(ROOT / "docs" / "operations.md")
    run(f"curl -s {running.url}/subjects/nobody/versions {running.url}/schemas/ids/1", running)
    metrics = set(re.findall(r"^# TYPE (\S+)", run(f"curl -s {running.url}/metrics", running), re.MULTILINE))
    assert metrics
    assert metrics == {name for row in rows(page, "| name | kind |") for name in row[0].replace("`", "").split(", ")}
    documented = {name for row in rows(page, "| field |") for name in row[0].replace("`", "").split(", ")}
    lines = [line for line in told(running) if line["event"] == "request"]
    assert lines
    assert {name for line in lines for name in line} <= documented


# --- the contract ----------------------------------------------------------------------------------------------------


def test_every_route_is_documented_with_its_access_and_its_parameters() -> None:
    """The table of docs/api.md reads as if it were generated."""
    page = text_of(ROOT / "docs" / "api.md")
    documented = {row[0]: (row[1], set(re.findall(r"[A-Za-z]+", row[3]))) for row in rows(page, "| request |")}
    actual = {}
    for route in importlib.import_module("sigla.web.api.routes").ROUTES:
        names = {query.name for query in route.query}
        paged = {"paged"} if "offset" in names else set()
        actual[route.name] = (route.access.value, names - {"offset", "limit"} | paged)
    differing = sorted(name for name in documented | actual if documented.get(name) != actual.get(name))
    assert not differing, "\n".join(
        f"{name}: docs/api.md says {documented.get(name)}, its row in ROUTES {actual.get(name)}" for name in differing
    )


def test_what_http_refuses_is_documented_too() -> None:
    """Clients meet these refusals as they meet the registry's."""
    page = text_of(ROOT / "docs" / "api.md")
    module = importlib.import_module("sigla.web.http.refusals")
    kinds = [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Refusal)]
    listed = [f"| {kind.code} | {str(kind.code)[:3]} | `{kind.text}` |" for kind in kinds if hasattr(kind, "text")]
    assert listed
    assert not [row for row in listed if row not in page]


def defined_ids() -> set[str]:
    """Rules that have a row in one of the two pages."""
    pages = text_of(ROOT / "docs" / "api.md") + text_of(ROOT / "docs" / "compatibility.md")
    return set(re.findall(r"^\| ([A-Z]+-[A-Z]*\d*[a-z]?) \|", pages, re.MULTILINE))


def example_ids() -> set[str]:
    """Examples of the corpus, which are called by their ids: `PP-07-syntax-not-first.json`."""
    names = (path.name for path in (TESTS / "corpus").rglob("*-*"))
    return {found[0] for name in names if (found := re.match(r"[A-Z]+-\d+", name))}


def test_every_rule_that_is_cited_can_be_looked_up() -> None:
    """A comment that cites an unknown rule explains nothing. Examples are found in the corpus."""
    defined = defined_ids() | example_ids()
    cited = {
        (found, name_of(path))
        for path in [*CODE.rglob("*.py"), *TESTS.rglob("*.py"), *PAGES]
        for found in RULE_ID.findall(NO_RULES.sub("", text_of(path)))
    }
    assert len(defined) > 150
    missing = sorted(f"{found} in {where}" for found, where in cited if found not in defined)
    assert not missing, "\n".join(["Give each a row in docs/api.md or docs/compatibility.md:", *missing])


def test_a_rule_is_defined_once() -> None:
    pages = text_of(ROOT / "docs" / "api.md") + text_of(ROOT / "docs" / "compatibility.md")
    found = re.findall(r"^\| ([A-Z]+-[A-Z]*\d*[a-z]?) \|", pages, re.MULTILINE)
    assert len(found) == len(set(found)), sorted(name for name in set(found) if found.count(name) > 1)


def test_every_section_that_is_cited_is_there() -> None:
    """`§3.6` is a section of docs/api.md, `B.3` one of docs/compatibility.md."""
    api, compatibility = text_of(ROOT / "docs" / "api.md"), text_of(ROOT / "docs" / "compatibility.md")
    sections = {f"§{number}" for number in re.findall(r"^#+ ([\d.]+) ", api, re.MULTILINE)}
    sections |= set(re.findall(r"^#+ ([A-E](?:\.\d+)*) ", compatibility, re.MULTILINE))
    cited = {
        (found, name_of(path))
        for path in [*CODE.rglob("*.py"), ROOT / "docs" / "api.md", ROOT / "docs" / "compatibility.md"]
        for found in re.findall(r"(?<!RFC 9110 )§[\d.]*\d|\b[A-E]\.\d+(?:\.\d+)*\b", text_of(path))
    }
    missing = sorted(f"{found} in {where}" for found, where in cited if found not in sections)
    assert not missing, "\n".join(missing)


# --- links -----------------------------------------------------------------------------------------------------------


def slugs(page: Path) -> set[str]:
    """The anchors of a page's headings, as forges make them."""
    heads = re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    """Files, and headings in them. Links to elsewhere are not followed: tests have no network."""
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```|`[^`\n]*`", "", text_of(page), flags=re.DOTALL)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path) if path else page
        assert file.exists(), f"{name_of(page)}: {target}"
        assert not anchor or anchor in slugs(file), f"{name_of(page)}: {target}"


@pytest.mark.parametrize("page", sorted({ROOT / "README.md", *(ROOT / "docs").glob("*.md")}), ids=name_of)
def test_every_file_that_is_named_is_there(page: Path) -> None:
    """`rules/names.py` in a text is a path in the package or in the repository."""
    # What is below stages/ is the deployer's own, and not in the repository.
    names = set(re.findall(r"`((?!stages/)(?:[\w.]+/)+[\w.]+\.(?:py|md|toml|svg))`", text_of(page)))
    places = (ROOT, CODE, page.parent)
    theirs = ("stages/",)  # a deployer's own files
    missing = sorted(
        name for name in names if not name.startswith(theirs) and not any((place / name).exists() for place in places)
    )
    assert not missing, missing
