"""watching/: every figure and every label that the dashboard and the alerts name is told by a registry that runs."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser as promql
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.certificates import Authority
from tests.protocol.clients.server import serving
from tests.test_docs import ROOT, rows, text_of

WATCHING = ROOT / "watching"
SCRAPED = {"job", "instance"}
"""Labels that Prometheus gives to whatever it reads."""
OF_PROMETHEUS = {"up"}
GRAFANAS = {"$__rate_interval": "5m", "$instance": ".*", "$job": "sigla"}
"""What Grafana writes in the place of its own variables, for example."""


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load(text_of(WATCHING / "alerts.yml"))["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def panels() -> list[dict[str, Any]]:
    found = json.loads(text_of(WATCHING / "dashboard.json"))["panels"]
    return [panel for panel in found if panel["type"] != "row"]


def expressions() -> Iterator[tuple[str, str]]:
    """Where each stands, and how Prometheus is asked it."""
    yield from ((rule["alert"], rule["expr"]) for rule in rules())
    for panel in panels():
        for target in panel["targets"]:
            asked = target["expr"]
            for variable, value in GRAFANAS.items():
                asked = asked.replace(variable, value)
            yield panel["title"], asked


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, str]]]:
    """The labels of every sample, by its name, of a registry with TLS, an exporter and a request."""
    folder: Path = tmp_path_factory.mktemp("told")
    authority = Authority.made(folder)
    pair = authority.pair(folder)
    options = ("--tls-cert", str(pair.cert), "--tls-key", str(pair.key))
    with serving(None, *options, authority=authority.file) as server:
        server.ask("GET", "/subjects")
        config = {"schema.registry.url": server.url}
        assert server.ask("POST", "/exporters", {"name": "copy", "config": config}).status == 200
        page = server.ask("GET", "/metrics").body.decode()
    found: dict[str, list[dict[str, str]]] = {}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            found.setdefault(sample.name, []).append(sample.labels)
    return found


def selectors(asked: str) -> list[Any]:
    """The series that an expression names. Raises ValueError where it is not one."""
    found: list[Any] = []

    def visit(node: Any) -> None:
        if isinstance(node, promql.VectorSelector):
            found.append(node)

    promql.walk(promql.parse(asked), visit)
    return found


def labels(node: Any) -> set[str]:
    return {matcher.name for matcher in node.matchers.matchers}


@pytest.mark.parametrize("where, asked", [*expressions()], ids=lambda value: value if " " not in str(value) else "")
def test_every_series_and_every_label_exists(where: str, asked: str, told: dict[str, list[dict[str, str]]]) -> None:
    """An alert on a name that nothing tells never fires, and nothing else says so."""
    named = selectors(asked)
    assert named, where
    for node in named:
        if node.name in OF_PROMETHEUS:
            continue
        assert node.name in told, f"{where}: {node.name}"
        known = {label for sample in told[node.name] for label in sample} | SCRAPED
        assert labels(node) <= known, f"{where}: {node.name}"
        grouped = {each for by in re.findall(r"\bby \(([^)]*)\)", asked) for each in by.split(", ")}
        assert grouped <= known, f"{where}: {node.name}"


def test_what_a_message_shows_is_there_when_it_is_sent(told: dict[str, list[dict[str, str]]]) -> None:
    """Prometheus writes nothing in the place of a label that the expression has summed away."""
    for rule in rules():
        shown = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
        summed = re.search(r"\bby \(([^)]*)\)", rule["expr"])
        names = {node.name for node in selectors(rule["expr"])} & {*told}
        kept = set(summed[1].split(", ")) if summed else {each for name in names for s in told[name] for each in s}
        assert shown <= kept | (SCRAPED if not summed else set()), rule["alert"]


def test_every_alert_is_explained_with_its_severity() -> None:
    """Whoever is woken looks here."""
    documented = {(row[0], row[1]) for row in rows(text_of(ROOT / "docs" / "watching.md"), "| alert |")}
    assert documented == {(rule["alert"], rule["labels"]["severity"]) for rule in rules()}


def test_every_panel_has_a_place_of_its_own() -> None:
    """Grafana draws two panels of one place over each other."""
    taken: set[tuple[int, int]] = set()
    for panel in json.loads(text_of(WATCHING / "dashboard.json"))["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not taken & cells, panel["title"]
        assert at["x"] + at["w"] <= 24, panel["title"]
        taken |= cells


def test_the_settings_of_prometheus_name_the_job_that_alerts_look_for() -> None:
    (shown,) = re.findall(r"^```yaml\n(.*?)^```$", text_of(ROOT / "docs" / "watching.md"), re.MULTILINE | re.DOTALL)
    (scraped,) = yaml.safe_load(shown)["scrape_configs"]
    assert scraped["job_name"] == "sigla"
    assert all('job="sigla"' in rule["expr"] for rule in rules())
