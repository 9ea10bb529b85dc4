"""Commands of AWS that the pages show are ones that AWS has: who follows a run book at night has no time for a typo.

They are compared with the models of AWS's own library, from which its command line is made; nothing is asked of AWS.
"""

import json
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore import xform_name
from botocore.model import OperationModel, Shape, StructureShape
from botocore.validate import ParamValidator

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
GLOBAL = {
    "--query",
    "--output",
    "--max-items",
    "--region",
    "--profile",
    "--cli-binary-format",
    "--no-cli-pager",
    "--endpoint-url",
}
FILES = {"cp", "ls", "sync"}
"""An option of `aws s3`, which is written by hand and in no model."""


def commands(text: str) -> Iterator[str]:
    """Each `aws …` of a page's blocks, to its end over several lines, and of its sentences."""
    blocks = re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    for block in blocks:
        lines = iter(block.splitlines())
        for line in lines:
            if not line.startswith("aws "):
                continue
            whole = line
            while not complete(whole):
                whole += "\n" + next(lines)
            yield whole.replace("\\\n", " ")
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    yield from (found for found in re.findall(r"`(aws [^`]+)`", prose) if "…" not in found)


def complete(command: str) -> bool:
    try:
        return bool(shlex.split(command, comments=True)) and not command.endswith("\\")
    except ValueError:  # a quote is open
        return False


SHOWN = [
    pytest.param(command, id=f"{page.stem}-{number}-{'-'.join(command.split()[1:3])}")
    for page in PAGES
    for number, command in enumerate(commands(page.read_text(encoding="utf-8")))
]


@cache
def session() -> botocore.session.Session:
    return botocore.session.get_session()


def operation(service: str, name: str) -> OperationModel:
    model = session().get_service_model({"s3api": "s3"}.get(service, service))
    (found,) = [each for each in model.operation_names if dashed(each) == name]
    return model.operation_model(found)


def dashed(name: str) -> str:
    return str(xform_name(name, "-"))


@pytest.mark.parametrize("command", SHOWN)
def test_a_command_is_one_that_aws_has(command: str) -> None:
    """Its service, its name, all that it needs, and each of its options; JSON has the fields that are asked for."""
    _, service, name, *rest = shlex.split(command, comments=True)
    if service == "s3":
        assert name in FILES
        return
    if name == "wait":
        assert rest[0] in {dashed(each) for each in waiters(service)}
        return
    shape = operation(service, name).input_shape
    assert isinstance(shape, StructureShape)
    members = {f"--{dashed(member)}": member for member in shape.members}
    given = {word if word in GLOBAL else word.replace("--no-", "--"): value for word, value in options(rest)}
    assert not given.keys() - members.keys() - GLOBAL
    if members:
        assert {members[option] for option in given if option in members} >= set(shape.required_members)
    for option, value in given.items():
        field = shape.members.get(members.get(option, ""))
        if field and field.type_name != "blob" and value.startswith(("{", "[")):
            assert not wrong(json.loads(value), field)


def options(words: list[str]) -> Iterator[tuple[str, str]]:
    """Each with its first value; any other word is a file's name."""
    for at, word in enumerate(words):
        if word.startswith("--"):
            following = words[at + 1] if at + 1 < len(words) else "--"
            yield word, "" if following.startswith("--") else following


def wrong(value: Any, shape: Shape) -> str:
    """What the shape does not take, fields and words that it does not know included."""
    report = ParamValidator().validate(value, shape)
    return str(report.generate_report()) + ", ".join(sorted(unknown(value, shape)))


def unknown(value: Any, shape: Any) -> Iterator[str]:
    if shape.type_name == "string" and shape.enum and value not in shape.enum:
        yield str(value)
    if shape.type_name == "structure" and isinstance(value, dict):
        yield from value.keys() - shape.members.keys()
        for name in value.keys() & shape.members.keys():
            yield from unknown(value[name], shape.members[name])
    elif shape.type_name == "list" and isinstance(value, list):
        for each in value:
            yield from unknown(each, shape.member)


def waiters(service: str) -> set[str]:
    return set(session().get_waiter_model(service).waiter_names)


def test_there_are_commands_to_look_at() -> None:
    """A pattern that finds none would find no typo either."""
    assert len(SHOWN) > 20
