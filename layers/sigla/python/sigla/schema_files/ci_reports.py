"""What became of files, in the forms that CI shows beside a change."""

from collections.abc import Iterator, Sequence
from typing import Any, Final
from urllib.parse import quote
from xml.etree import ElementTree as ET

import orjson

from sigla import __version__
from sigla.rules.problems import Problem
from sigla.schema_files.check import Checked, FileVerdict, reads
from sigla.schema_files.reports import text_report

NOT_CHECKED: Final = "NOT_CHECKED"
"""The rule of files that rest on refused ones."""

Place = tuple[str, int]
"""A file and a line."""

SARIF_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def github_report(found: Sequence[Checked], source: str, *, remarks: Sequence[str] = ()) -> str:
    """Commands of GitHub's workflows: an annotation for each problem, file not checked and remark; then the text."""
    lines = [_annotation(each, problem) for each in found for problem in each.problems]
    lines += [
        f"::notice file={_command_property(each.file.name)},line=1,title={NOT_CHECKED}::{_command_text(_why_not(each))}"
        for each in found
        if each.verdict is FileVerdict.NOT_CHECKED
    ]
    lines += [f"::notice::{_command_text(remark)}" for remark in remarks]
    return "\n".join([*lines, text_report(found, source)])


def github_unchecked(why: str, place: Place | None) -> str:
    """An annotation when no file was checked: of the place, or of the whole run. why: a sentence."""
    where = f"file={_command_property(place[0])},line={place[1]}," if place else ""
    return f"::error {where}title=sigla check::{_command_text(why)}"


def _why_not(each: Checked) -> str:
    return f"not checked: it references {', '.join(each.rests_on)}"


def _annotation(each: Checked, problem: Problem) -> str:
    place = f"file={_command_property(each.file.name)},line={problem.position.line},col={problem.position.column}"
    return f"::error {place},title={_command_property(problem.rule)}::{_command_text(_problem_sentence(problem))}"


def _command_text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _command_property(text: str) -> str:
    return _command_text(text).replace(":", "%3A").replace(",", "%2C")


def _problem_sentence(problem: Problem) -> str:
    why = reads(problem)
    return f"{problem.message}; {why}" if why else problem.message


def sarif_report(found: Sequence[Checked], source: str, *, remarks: Sequence[str] = ()) -> str:
    """SARIF 2.1.0, which code scanning reads: a result for each problem, remarks as notifications."""
    results = [_sarif_result(each, problem) for each in found for problem in each.problems]
    results += [_sarif_not_checked(each) for each in found if each.verdict is FileVerdict.NOT_CHECKED]
    rules = sorted({result["ruleId"] for result in results})
    notified = [{"level": "note", "message": {"text": remark}} for remark in remarks]
    return _sarif(
        rules,
        {
            "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notified}],
            "properties": {"against": source},
            "columnKind": "unicodeCodePoints",
            "results": results,
        },
    )


def sarif_unchecked(why: str, place: Place | None) -> str:
    """A run that failed, when no file was checked. It has no results: an empty list would close what there were."""
    notified: dict[str, Any] = {"level": "error", "message": {"text": why}}
    if place:
        notified["locations"] = [_sarif_location(place[0], place[1])]
    return _sarif([], {"invocations": [{"executionSuccessful": False, "toolExecutionNotifications": [notified]}]})


def _sarif(rules: Sequence[str], run: dict[str, Any]) -> str:
    driver = {"name": "sigla check", "version": __version__, "rules": [{"id": rule} for rule in rules]}
    runs = [{"tool": {"driver": driver}, **run}]
    return orjson.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": runs}).decode()


def _sarif_result(each: Checked, problem: Problem) -> dict[str, Any]:
    return {
        "ruleId": problem.rule,
        "level": "error",
        "message": {"text": _problem_sentence(problem)},
        "locations": [_sarif_location(each.file.name, *problem.position)],
        "properties": {"errorCode": problem.code, "subject": each.file.subject.qualified, "detail": problem.detail},
    }


def _sarif_not_checked(each: Checked) -> dict[str, Any]:
    return {
        "ruleId": NOT_CHECKED,
        "level": "note",
        "message": {"text": _why_not(each)},
        "locations": [_sarif_location(each.file.name, 1)],
        "properties": {"subject": each.file.subject.qualified},
    }


def _sarif_location(file: str, line: int, column: int = 1) -> dict[str, Any]:
    region = {"startLine": line, "startColumn": column}
    return {"physicalLocation": {"artifactLocation": {"uri": quote(file)}, "region": region}}


def junit_report(found: Sequence[Checked], source: str, *, remarks: Sequence[str] = ()) -> str:
    """JUnit's XML, which most servers of CI show: a test for each file."""
    refused = sum(each.verdict is FileVerdict.REFUSED for each in found)
    skipped = sum(each.verdict is FileVerdict.NOT_CHECKED for each in found)
    counts = {"tests": str(len(found)), "failures": str(refused), "errors": "0", "skipped": str(skipped)}
    suites = ET.Element("testsuites", counts)
    suite = ET.SubElement(suites, "testsuite", {"name": "sigla check", **counts})
    properties = ET.SubElement(suite, "properties")
    ET.SubElement(properties, "property", {"name": "against", "value": source})
    for each in found:
        case = {"classname": each.file.subject.qualified, "name": each.file.name, "file": each.file.name}
        _add_result(ET.SubElement(suite, "testcase", {name: _writable(text) for name, text in case.items()}), each)
    if remarks:
        ET.SubElement(suite, "system-out").text = "\n".join(remarks)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True)


def junit_unchecked(why: str, place: Place | None) -> str:
    """One test that could not be run, when no file was checked. why: a sentence. place: file and line."""
    counts = {"tests": "1", "failures": "0", "errors": "1", "skipped": "0"}
    suites = ET.Element("testsuites", counts)
    suite = ET.SubElement(suites, "testsuite", {"name": "sigla check", **counts})
    where = {"file": _writable(place[0]), "line": str(place[1])} if place else {}
    case = ET.SubElement(suite, "testcase", {"classname": "sigla check", "name": "nothing was checked", **where})
    ET.SubElement(case, "error", {"message": _writable(why)})
    return ET.tostring(suites, encoding="unicode", xml_declaration=True)


def _add_result(case: ET.Element, each: Checked) -> None:
    if each.verdict is FileVerdict.NOT_CHECKED:
        ET.SubElement(case, "skipped", {"message": f"it references {', '.join(each.rests_on)}"})
    if each.problems:
        rules = ", ".join(dict.fromkeys(problem.rule for problem in each.problems))
        failure = ET.SubElement(case, "failure", {"type": str(each.problems[0].code), "message": rules})
        failure.text = _writable("\n".join(_places(each)))


def _places(each: Checked) -> Iterator[str]:
    for problem in each.problems:
        line, column = problem.position
        yield f"{each.file.name}:{line}:{column}: {problem.rule}: {_problem_sentence(problem)}"


def _writable(text: str) -> str:
    """XML has no control characters, not even escaped ones."""
    return "".join(sign if sign >= " " or sign in "\t\n\r" else "\N{REPLACEMENT CHARACTER}" for sign in text)
