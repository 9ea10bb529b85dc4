"""A schema is refused for a name that no file of the set defines: who wrote the name is told where, and what to do."""

from collections.abc import Sequence
from dataclasses import replace

from sigla.errors import InvalidSchema
from sigla.rules.positions import BEGINNING, Position
from sigla.rules.problems import Problem
from sigla.schema_files.check import Checked
from sigla.schema_files.files import SchemaFile


def with_missing_names(checked: Checked, missing: Sequence[str], declaration: str) -> Checked:
    """missing: names that the file uses and that it is not given. declaration: the name of sigla.yaml."""
    return replace(
        checked,
        problems=tuple(_explained_problem(each, checked.file, missing, declaration) for each in checked.problems),
    )


def _explained_problem(problem: Problem, file: SchemaFile, missing: Sequence[str], declaration: str) -> Problem:
    if problem.code != InvalidSchema.code or problem.position != BEGINNING:
        return problem
    # Protobuf names the type, and not the file that it would be in.
    named = [name for name in missing if name in problem.detail or file.type == "PROTOBUF"]
    if not named:
        return problem
    name = named[0]
    return replace(
        problem,
        message=f"{problem.message}; no file of {declaration} is {name}: correct the name, add the file, or say its "
        "subject in `references`",
        position=position_of_name(file.text, name),
    )


def position_of_name(text: str, name: str) -> Position:
    """Where the name stands in quotes: an Avro name may be written without its namespace."""
    for written in (name, name.rpartition(".")[2]):
        for quote in "\"'":
            if (at := text.find(f"{quote}{written}")) >= 0:
                return Position(text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))
    return BEGINNING
