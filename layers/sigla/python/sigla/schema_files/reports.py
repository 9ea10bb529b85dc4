"""What became of files: for people, and in the forms that other programs read."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from sigla.rules.problems import Problem
from sigla.schema_files.check import Checked, FileVerdict, reads

Json = dict[str, Any]


def text_report(found: Sequence[Checked], source: str, *, remarks: Sequence[str] = ()) -> str:
    """A line for each problem, then one for each file that is new, then what it comes to."""
    lines = [line for each in found for line in _lines_of(each)]
    lines += [*remarks, _summary(found, source)]
    return "\n".join(lines)


def _lines_of(each: Checked) -> Iterator[str]:
    for problem in each.problems:
        line, column = problem.position
        why = reads(problem)
        yield f"{each.file.name}:{line}:{column}: {problem.rule}: {problem.message}{f'; {why}' if why else ''}"
    if each.verdict is FileVerdict.NEW:
        yield f"{each.file.name}: would be version {each.version} of {each.file.subject.qualified}"
    if each.verdict is FileVerdict.NOT_CHECKED:
        yield f"{each.file.name}:1:1: not checked: it references {', '.join(each.rests_on)}"


def _summary(found: Sequence[Checked], source: str) -> str:
    counted = Counter(each.verdict for each in found)
    parts = [f"{counted[verdict]} {verdict.value}" for verdict in FileVerdict if counted[verdict]]
    return f"{len(found)} file{'s' * (len(found) != 1)} against {source}: {', '.join(parts) or 'nothing to check'}"


def json_report(found: Sequence[Checked], source: str, *, remarks: Sequence[str] = ()) -> str:
    form = {
        "against": source,
        "accepted": all(each.is_accepted for each in found),
        "remarks": list(remarks),
        "files": [checked_form(each) for each in found],
    }
    return orjson.dumps(form).decode()


def checked_form(each: Checked) -> Json:
    return {
        "file": each.file.name,
        "subject": each.file.subject.qualified,
        "type": each.file.type,
        "verdict": each.verdict.value,
        "version": each.version,
        "problems": [_problem_form(problem) for problem in each.problems],
        "restsOn": list(each.rests_on),
    }


def _problem_form(problem: Problem) -> Json:
    return {
        "rule": problem.rule,
        "message": problem.message,
        "detail": problem.detail,
        "errorCode": problem.code,
        "line": problem.position.line,
        "column": problem.position.column,
        "path": problem.path,
        "reader": problem.reader,
        "againstVersion": problem.against,
    }
