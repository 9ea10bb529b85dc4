"""What docs/operations.md says of the functions in AWS is what they do."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sigla import wiring
from sigla.functions.journal import COUNTED
from sigla.functions.telemetry import METRICS, NAMESPACE
from tests.functions.conftest import loop
from tests.functions.test_registry import sent

__all__ = ["loop"]

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")


def first_cells(head: str) -> set[str]:
    """What the first column of a table names."""
    lines = PAGE[PAGE.index(head) :].splitlines()[2:]
    table = lines[: next(number for number, line in enumerate(lines) if not line.startswith("|"))]
    return {name for line in table for name in re.findall(r"`(\w+)`", line.split("|")[1])}


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[list[dict[str, Any]]]:
    """The lines of a function that keeps nothing: a registration and a refusal."""
    monkeypatch.setenv("SIGLA_AUTH", "none")
    monkeypatch.setenv("SIGLA_STACK", "prod")
    for name in ("SIGLA_TABLE", "SIGLA_BUCKET", "SIGLA_DATA", "SIGLA_LOG_REQUESTS"):
        monkeypatch.delenv(name, raising=False)
    handler: Any = wiring.lambda_handler()
    handler(sent("rest", "POST", "/subjects/orders-value/versions", {"schema": '"int"'}), None)
    handler(sent("rest", "GET", "/subjects/orders-value/versions/9"), None)
    yield [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    handler.close()


def test_every_field_of_the_functions_lines_is_documented(lines: list[dict[str, Any]]) -> None:
    """Queries are built from these tables."""
    requests = [line for line in lines if line.get("event") == "request"]
    assert len(requests) == 2
    documented = first_cells("| field |") | first_cells("| in the function |")
    assert {name for line in requests for name in line} <= documented
    assert "ts" not in requests[0].keys() <= documented


def test_every_metric_of_the_function_is_documented(lines: list[dict[str, Any]]) -> None:
    """And found by CloudWatch under that name."""
    assert first_cells("| metric |") == {metric.name for metric in METRICS}
    (directive,) = next(line for line in lines if "_aws" in line)["_aws"]["CloudWatchMetrics"]
    assert (directive["Namespace"], directive["Dimensions"]) == (NAMESPACE, [["stack", "service"]])
    assert f"In the namespace `{NAMESPACE}`, with two dimensions: `service`" in PAGE
    assert "and `stack`, the name of the CloudFormation stack" in PAGE


def test_every_field_of_the_journals_line_is_documented() -> None:
    documented = first_cells("| field of its line |")
    assert documented == {"event", "ts", "registry", "took_ms", "lag_ms", *COUNTED}
