"""Names carry a noun: a reader meets them away from their module, and one word there means one thing."""

import ast
import re
from collections import defaultdict

import pytest

from tests.house import python_files, tree_of

# Functions of one name in more than six modules, each with who calls them by that name, whatever the module.
WIDESPREAD = {
    "add_to": "the table of commands, `sigla.cli`",
    "digest": "the record of a language, and who makes one of files",
    "install": "LocalStack, of each part of the plug-in; what fetches a tool",
    "main": "the interpreter, of each program",
    "read": "what reads the thing that its module is named after, as in `files.read`",
    "run": "the table of commands; what runs the one thing of its module",
    "stored": "values as they are stored, by stores",
    "tagged": "the record of a language",
    "write": "the other way of `read`",
}

# Classes of one name in three modules or more.
COMMON_CLASSES = {
    "Comparison": "each language has one",
    "Document": "each language has one",
    "Enum": "each language has one, and its name is the language's own word",
    "Reader": "what reads a text, a descriptor, a database or a topic",
    "Rule": "of compatibility, of a rule set, and of topics by a pattern",
    "Service": "of a registry in AWS, of Protobuf's language, and what an endpoint may ask of its server",
    "Settings": "of a subject, of a server, and of a deployment",
}


# There a class is called what it describes: the Ring of a stack, and the Ring that a deployer chooses.
DESCRIBES = re.compile(r"/sigla/(cdk|deployment)/").search


def defined(kind: type[ast.AST] | tuple[type[ast.AST], ...], *rooms: str) -> dict[str, set[str]]:
    """The modules that define each name of a kind, at their top level."""
    homes = defaultdict(set)
    for path in python_files(*rooms):
        for node in tree_of(path).body:
            if isinstance(node, kind):
                homes[node.name.strip("_")].add(path.as_posix())  # type: ignore[attr-defined]  # definitions have one
    return homes


def test_few_functions_have_one_name_in_many_modules() -> None:
    """A search for the name of a function should find the function, and not thirty of them."""
    homes = defined((ast.FunctionDef, ast.AsyncFunctionDef), "layers", "pipelines", "infra", "functions", "localstack")
    many = {name for name, modules in homes.items() if len(modules) > 6}
    assert not many - set(WIDESPREAD), "give it the noun of what it makes, or list it with who calls it by this name"
    assert len(WIDESPREAD) <= 12


def test_few_classes_have_one_name_in_three_modules() -> None:
    """In a trace or a review only the name is seen."""
    homes = defined(ast.ClassDef, "layers", "pipelines")
    many = {name for name, modules in homes.items() if len([each for each in modules if not DESCRIBES(each)]) >= 3}
    assert not many - set(COMMON_CLASSES), "say in its name what it is of, or list it with a reason"
    assert len(COMMON_CLASSES) <= 8


@pytest.mark.parametrize("room, most", [("pipelines", 0.53), ("layers", 0.60)])
def test_most_of_a_room_s_functions_are_not_a_word_alone(room: str, most: float) -> None:
    """Methods do not count: their object carries the noun. One word is enough where the module makes it one thing."""
    names = [
        node.name
        for path in python_files(room)
        for node in tree_of(path).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    words = sum("_" not in name.strip("_") for name in names)
    assert 0 < words <= most * len(names), f"{words} of {len(names)} names in {room} are one word"
