"""Every table of the house is kept to its end: refusals, routes and rules, with their pages and their corpus."""

import ast
import importlib
import importlib.util
import re
from typing import Any

import pytest

from sigla import errors
from tests.house import ROOT, SIGLA, nodes_of, product, text_of, tree_of

# Where refusals are worded: what the core refuses, what an aggregate does, and HTTP before the core is asked.
REFUSAL_TABLES = (
    "associations/refusals.py",
    "auth/refusals.py",
    "errors.py",
    "exporters/refusals.py",
    "keks/refusals.py",
    "regions/refusals.py",
    "web/http/refusals.py",
)


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
    """Few tables of sentences: a refusal that is made elsewhere would miss the documentation and its tests."""
    kinds = {kind.__name__ for kind in refusals()} | {"Refusal"}
    found = [
        f"{name}:{node.lineno} {node.name}"
        for name, path in product().items()
        if name not in REFUSAL_TABLES
        for node in nodes_of(path)
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
