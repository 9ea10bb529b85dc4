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

SARIF_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def github_report(found: Sequence[Checked], source: str, *, remarks: Sequence[str] = ()) -> str:
    """Commands of GitHub's workflows: an annotation for each problem, and for each remark; then the text."""
    lines = [_annotation(each, problem) for each in found for problem in each.problems]
    lines += [f"::notice::{_command_text(remark)}" for remark in remarks]
    return "\n".join([*lines, text_report(found, source)])


def github_unchecked(why: str) -> str:
    """An annotation of the whole run, when no file was checked. why: a sentence."""
    return f"::error title=sigla check::{_command_text(why)}"


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
    problems = [(each, problem) for each in found for problem in each.problems]
    rules = sorted({problem.rule for _, problem in problems})
    notified = [{"level": "note", "message": {"text": remark}} for remark in remarks]
    run: dict[str, Any] = {
        "tool": {"driver": {"name": "sigla check", "version": __version__, "rules": [{"id": rule} for rule in rules]}},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notified}],
        "properties": {"against": source},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(each, problem) for each, problem in problems],
    }
    return orjson.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}).decode()


def _sarif_result(each: Checked, problem: Problem) -> dict[str, Any]:
    line, column = problem.position
    return {
        "ruleId": problem.rule,
        "level": "error",
        "message": {"text": _problem_sentence(problem)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(each.file.name)},
                    "region": {"startLine": line, "startColumn": column},
                }
            }
        ],
        "properties": {"errorCode": problem.code, "subject": each.file.subject.qualified, "detail": problem.detail},
    }


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


def junit_unchecked(why: str) -> str:
    """One test that could not be run, when no file was checked. why: a sentence."""
    counts = {"tests": "1", "failures": "0", "errors": "1", "skipped": "0"}
    suites = ET.Element("testsuites", counts)
    suite = ET.SubElement(suites, "testsuite", {"name": "sigla check", **counts})
    case = ET.SubElement(suite, "testcase", {"classname": "sigla check", "name": "nothing was checked"})
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
