"""The rules of the house that no tool knows: what is named where, and that every table is kept to its end.

Import directions are import-linter's (pyproject.toml); what stands here is about words, files and tables. A rule about
a room that is not built yet holds for what there is, and begins to bite on the day the room exists.
"""

import ast
import importlib
import importlib.util
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sigla import errors

ROOT = Path(__file__).parent.parent
SIGLA = ROOT / "layers" / "sigla" / "python" / "sigla"

# Files over 400 lines that are tables, and why they may be as long as the truth.
LONG_TABLES: dict[str, str] = {}

# Confluent's spelling, in rules of which a reader cannot doubt that it is Confluent's and not ours.
WIRE_WORDS = re.compile(
    r"schemaType|compatibilityLevel|compatibilityGroup|compatibilityPolicy|ruleSet\b|defaultRuleSet|overrideRuleSet|"
    r"defaultMetadata|overrideMetadata|migrationRules|domainRules|encodingRules|maxId|schemaTags|"
    r"tagsToAdd|tagsToRemove|rulesToMerge|rulesToRemove|is_compatible|keytype"
)
SPEAKS_WIRE = ("web/api/wire/*.py", "web/api/openapi*.py", "records.py", "contract.py")

# Written in pieces, so that this file passes its own test.
REGISTRY_HOSTS = [
    ".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"))
]
MACHINE_PATHS = re.compile(r"(?<![\w.:/$}-])/(?:work|root|home/[a-z]+|Users/[A-Za-z]+|tmp/[a-z]\w*)(?:/|\b)")


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(text_of(path), str(path))


@cache
def our_files() -> tuple[Path, ...]:
    """Every file of the repository that is ours to write: tracked, or new and not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    else:  # an unpacked archive: no history, no .gitignore to ask
        hidden = {".venv", ".git", "__pycache__", "node_modules", "cdk.out", "data"}
        paths = [path for path in ROOT.rglob("*") if not hidden & set(path.relative_to(ROOT).parts)]
    return tuple(path for path in paths if path.is_file())


def python_files(*rooms: str) -> list[Path]:
    """Our Python files, of the given top folders or of all."""
    files = [path for path in our_files() if path.suffix == ".py"]
    return [path for path in files if not rooms or path.relative_to(ROOT).parts[0] in rooms]


@cache
def product() -> dict[str, Path]:
    """The modules of sigla by their path inside it: {"rules/guid.py": …}."""
    return {path.relative_to(SIGLA).as_posix(): path for path in python_files("layers") if path.is_relative_to(SIGLA)}


def code_strings(path: Path) -> Iterator[tuple[int, str]]:
    """Names and texts of a module with their lines; docstrings and comments are prose and may say what they like."""
    prose = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            prose.add(node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose:
            yield node.lineno, node.value
        elif isinstance(node, ast.Attribute):
            yield node.lineno, node.attr
        elif isinstance(node, ast.Name):
            yield node.lineno, node.id
        elif isinstance(node, ast.keyword | ast.arg) and node.arg:
            yield node.lineno, node.arg


def dotted_uses(path: Path) -> Iterator[tuple[int, str]]:
    """Dotted names as written, with what they were imported as undone: `from os import environ` gives os.environ."""
    names = {}
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Attribute | ast.Name):
            head, _, rest = ast.unparse(node).partition(".")
            if head in names:
                yield node.lineno, f"{names[head]}.{rest}" if rest else names[head]


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """What a module imports, with lines: module names, and `module.name` for what is taken from one."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


# Where refusals are worded: what the core refuses, and what HTTP does before the core is asked.
REFUSAL_TABLES = ("errors.py", "web/http/refusals.py")


def refusals() -> list[type[errors.Refusal]]:
    """Every refusal that can be raised, in the order of its number."""
    for table in REFUSAL_TABLES:
        if table in product():
            importlib.import_module("sigla." + table.removesuffix(".py").replace("/", "."))
    found = [errors.Refusal]
    for kind in found:
        found += kind.__subclasses__()
    return sorted((kind for kind in found if hasattr(kind, "text")), key=lambda kind: (kind.code, kind.__name__))


def rule_tables() -> dict[str, tuple[Any, ...]]:
    """Each language's rows called RULES, whichever of its modules holds them: {"avro": (Rule(…), …)}."""
    tables = {}
    for name, path in product().items():
        if name.startswith("languages/") and name.count("/") == 2:
            targets = [
                ast.unparse(target)
                for node in tree_of(path).body
                if isinstance(node, ast.Assign | ast.AnnAssign)
                for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            ]
            if "RULES" in targets:
                module = importlib.import_module("sigla." + name.removesuffix(".py").replace("/", "."))
                tables[name.split("/")[1]] = tuple(module.RULES)
    if not tables:
        pytest.skip("no language has a table of rules yet")
    return tables


def api_page() -> str:
    """docs/api.md; the tests that read it say what it must hold."""
    page = ROOT / "docs" / "api.md"
    if not page.exists():
        pytest.skip("docs/api.md is not written yet")
    return text_of(page)


def test_the_environment_is_read_in_wiring_alone() -> None:
    """Adapters are handed a mapping, so that a test, a Lambda and a laptop configure them the same way."""
    readers = {"os.environ", "os.environb", "os.getenv", "os.putenv"}
    found = [
        f"{name}:{line}"
        for name, path in product().items()
        if name != "wiring.py"
        for line, use in dotted_uses(path)
        if use in readers
    ]
    assert not found, f"hand the mapping over from wiring.py: {found}"


def test_boto3_is_named_in_the_rooms_of_aws_alone() -> None:
    """The playground must run where no AWS package is installed, so also lazy imports count."""
    found = [
        f"{name}:{line}"
        for name, path in product().items()
        if not name.startswith(("aws/", "stores/dynamodb/", "stores/s3/", "functions/"))
        for line, module in imported(path)
        if module.split(".")[0] in {"boto3", "botocore", "aws_lambda_powertools"}
    ]
    assert not found, found


def test_confluents_spelling_stays_at_the_edge() -> None:
    """Inside, a thing has our name; `web/api/wire/` and `records.py` translate, the tables of OpenAPI describe."""
    found = [
        f"{name}:{line} {text!r}"
        for name, path in product().items()
        if not any(Path(name).match(pattern) for pattern in SPEAKS_WIRE)
        for line, text in code_strings(path)
        # A sentence may name a field to the person who sent it; a bare word is code that reads or writes it.
        if WIRE_WORDS.fullmatch(text)
    ]
    assert not found, f"translate in web/api/wire/ or records.py: {found}"


def test_the_time_is_asked_of_the_clock_alone() -> None:
    """Time that comes in by a port can be stopped in a test."""
    clocks = {"time.time", "time.time_ns", "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.date.today"}
    clocks |= {"datetime.now", "datetime.utcnow", "time.sleep"}
    found = [
        f"{name}:{line} {use}"
        for name, path in product().items()
        if Path(name).name != "clock.py"
        for line, use in dotted_uses(path)
        if use in clocks
    ]
    assert not found, f"only stores/clock.py asks the machine: {found}"


def test_the_core_knows_no_machine() -> None:
    """Rules and languages are values in, values out: no files, no sockets, no threads, no chance."""
    worldly = {
        "asyncio",
        "http",
        "multiprocessing",
        "os",
        "pathlib",
        "random",
        "secrets",
        "shutil",
        "socket",
        "sqlite3",
    }
    worldly |= {"subprocess", "tempfile", "threading", "time", "urllib"}
    pure = ("rules/", "languages/", "model.py", "errors.py", "keys.py", "ports/")
    found = [
        f"{name}:{line} {module}"
        for name, path in product().items()
        if name.startswith(pure)
        for line, module in imported(path)
        if module.split(".")[0] in worldly and not module.startswith("urllib.parse")
    ]
    assert not found, found


def test_sigla_knows_nothing_of_who_uses_it() -> None:
    """Functions, pipelines, infrastructure and tests import sigla; the other way round there is no arrow."""
    users = {"functions", "infra", "sigla_pipelines", "localstack", "benchmarks", "tests"}
    found = [
        f"{name}:{line} {module}"
        for name, path in product().items()
        for line, module in imported(path)
        if module.split(".")[0] in users
    ]
    assert not found, found


def test_pipelines_use_the_core_and_never_the_web() -> None:
    """A job on a Spark worker needs what schemas mean, not how HTTP says it."""
    found = [
        f"{path.relative_to(ROOT)}:{line} {module}"
        for path in python_files("pipelines")
        for line, module in imported(path)
        if re.match(r"sigla\.(web|cli|wiring|cache)\b", module)
    ]
    assert not found, found


def test_every_refusal_has_a_number_that_tells_its_status() -> None:
    """Confluent's scheme: three digits of HTTP status, two of reason."""
    wrong = [
        f"{kind.__name__} {kind.code}"
        for kind in refusals()
        if not (re.fullmatch(r"(403|404|409|422|500)\d\d|4\d\d|50[03]", str(kind.code)))
    ]
    assert refusals()
    assert not wrong, wrong


def test_refusals_with_one_number_are_one_family() -> None:
    """A client that knows a number knows what happened; two strangers under one number would lie to it."""
    kinds = refusals()
    for number in {kind.code for kind in kinds}:
        family = [kind for kind in kinds if kind.code == number]
        roots = [kind for kind in family if not any(parent in family for parent in kind.__mro__[1:])]
        shared = set.intersection(*(set(kind.__mro__) for kind in roots)) - set(errors.Refusal.__mro__)
        assert len(roots) == 1 or shared, f"{number} is used by {[kind.__name__ for kind in roots]}"


def test_every_refusal_is_worded_in_the_table() -> None:
    """Two tables of sentences: a refusal that is made elsewhere would miss the documentation and its tests."""
    kinds = {kind.__name__ for kind in refusals()} | {"Refusal"}
    found = [
        f"{name}:{node.lineno} {node.name}"
        for name, path in product().items()
        if name not in REFUSAL_TABLES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef)
        and any(ast.unparse(base).removeprefix("errors.") in kinds for base in node.bases)
    ]
    assert not found, found


def test_every_refusal_is_documented() -> None:
    """docs/api.md has a row for each: number, status and sentence, as a client meets them."""
    page = api_page()
    rows = [f"| {kind.code} | {str(kind.code)[:3]} | `{kind.text}` |" for kind in refusals()]
    missing = [row for row in dict.fromkeys(rows) if row not in page]
    assert not missing, "rows missing in docs/api.md:\n" + "\n".join(missing)


def test_every_route_is_documented() -> None:
    """docs/api.md names every row of ROUTES as `METHOD /path`."""
    if importlib.util.find_spec("sigla.web") is None or not (SIGLA / "web" / "api" / "routes.py").exists():
        pytest.skip("sigla.web.api.routes is not written yet")
    page = api_page()
    routes = importlib.import_module("sigla.web.api.routes").ROUTES
    missing = [f"`{route.method} {route.path}`" for route in routes if f"`{route.method} {route.path}`" not in page]
    assert not missing, "routes missing in docs/api.md:\n" + "\n".join(missing)


def test_every_rule_has_a_corpus_folder() -> None:
    """A rule is shown by schemas that a person can read: tests/corpus/<language>/<RULE_ID>/."""
    missing = [
        f"tests/corpus/{language}/{rule.id}/"
        for language, rules in rule_tables().items()
        for rule in rules
        if not any((ROOT / "tests" / "corpus" / language / rule.id).glob("*"))
    ]
    assert not missing, "\n".join(missing)


def test_every_rule_has_an_id_and_a_source() -> None:
    """An id is a promise to those who read findings; the source says who made it first. Rows may share an id."""
    for language, rules in rule_tables().items():
        wrong = [rule for rule in rules if not re.fullmatch(r"[A-Z][A-Z0-9_]+", rule.id) or not rule.source]
        assert not wrong, f"{language}: {wrong}"


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
        for number, line in enumerate(text_of(path).splitlines(), 1):
            if any(host in line for host in REGISTRY_HOSTS) or MACHINE_PATHS.search(line):
                found.append(f"{name}:{number} {line.strip()[:100]}")
    assert not found, "\n".join(found)


def test_a_silenced_tool_is_told_why() -> None:
    """`# noqa: X - reason` or `# type: ignore[x]  # reason`: a silence without a reason outlives what it was for."""
    silence = re.compile(r"#\s*(?:type:\s*ignore|noqa|pragma:\s*no (?:cover|branch)|mypy:|pyright:)(?P<rest>.*)")
    reasoned = re.compile(r".*(?: - |\s# )\w.*")
    found = []
    for path in python_files():
        if path == Path(__file__):
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
