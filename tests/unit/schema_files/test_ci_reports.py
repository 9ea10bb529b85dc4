"""Reports for CI: each form as its readers take it, also with names and sentences that the form has signs for."""

import json
from xml.etree import ElementTree as ET

import pytest

from sigla.model import Subject
from sigla.rules.positions import Position
from sigla.rules.problems import Problem
from sigla.schema_files.check import Checked, FileVerdict
from sigla.schema_files.ci_reports import github_report, junit_report, sarif_report
from sigla.schema_files.files import SchemaFile

ODD = "a,b:c/100%.avsc"


@pytest.fixture
def found() -> list[Checked]:
    def a_file(name: str) -> SchemaFile:
        return SchemaFile(name, Subject(".", "orders-value"), "AVRO", "{}")

    problem = Problem("TYPE_MISMATCH", "It <is>\nnot \x01 that", "{…}", 40901, Position(3, 7), "/fields/0", "new", 2)
    return [
        Checked(a_file(ODD), FileVerdict.REFUSED, problems=(problem,)),
        Checked(a_file("b.avsc"), FileVerdict.NOT_CHECKED, rests_on=(ODD,)),
        Checked(a_file("c.avsc"), FileVerdict.NEW, 3),
    ]


def test_github_annotates_the_line_of_a_problem(found: list[Checked]) -> None:
    """A comma in a name would end it, and a line break the whole command."""
    first, second, third, *_ = github_report(found, "R", remarks=["50% sure"]).splitlines()
    assert first == (
        "::error file=a%2Cb%3Ac/100%25.avsc,line=3,col=7,title=TYPE_MISMATCH::It <is>%0Anot \x01 that;"
        " this schema cannot read data of version 2"
    )
    assert second == "::notice file=b.avsc,line=1,title=NOT_CHECKED::not checked: it references a,b:c/100%25.avsc"
    assert third == "::notice::50%25 sure"


def test_sarif_names_rules_files_and_regions(found: list[Checked]) -> None:
    """Code scanning shows a result where its region is, and groups results by rules that the tool lists."""
    (run,) = json.loads(sarif_report(found, "R", remarks=["so"]))["runs"]
    result, not_checked = run["results"]
    assert run["tool"]["driver"]["rules"] == [{"id": "NOT_CHECKED"}, {"id": "TYPE_MISMATCH"}]
    assert (not_checked["ruleId"], not_checked["level"]) == ("NOT_CHECKED", "note")
    assert not_checked["message"] == {"text": f"not checked: it references {ODD}"}
    assert result["ruleId"] == "TYPE_MISMATCH"
    place = result["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "a%2Cb%3Ac/100%25.avsc"},
        "region": {"startLine": 3, "startColumn": 7},
    }
    assert run["invocations"][0]["toolExecutionNotifications"] == [{"level": "note", "message": {"text": "so"}}]


def test_junit_has_a_test_for_each_file(found: list[Checked]) -> None:
    """What XML cannot say, a control character of a schema, must not cost the whole report."""
    suites = ET.fromstring(junit_report(found, "R", remarks=["so"]))
    assert suites.attrib == {"tests": "3", "failures": "1", "errors": "0", "skipped": "1"}
    refused, skipped, accepted = suites.iter("testcase")
    failure = refused.find("failure")
    assert failure is not None
    assert failure.attrib == {"type": "40901", "message": "TYPE_MISMATCH"}
    assert (failure.text or "").startswith(f"{ODD}:3:7: TYPE_MISMATCH: It <is>\nnot \N{REPLACEMENT CHARACTER} that")
    assert skipped.find("skipped") is not None
    assert len(accepted) == 0
