"""The page that leads from a broker to a query is run as it stands, on a broker and a registry of these tests."""

import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from sigla_pipelines.land import settings
from sigla_pipelines.land.driver import driver
from sigla_pipelines.land.job import run
from sigla_pipelines.land.report import Sum
from sigla_pipelines.land.sources import Stopping
from tests.pipelines.broker import Broker
from tests.pipelines.tables.lakes import command
from tests.protocol.clients.server import serving

# PySpark leaves its sockets to the collector.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]

PAGE = (Path(__file__).parents[3] / "docs" / "first-table.md").read_text("utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


VARY = r"[\d.]+ KiB|[\d-]+ [\d:]+Z|file:\S+(?=/lake)"
"""What is another one in each run: sizes, times, and where it is."""


def facts(listed: str) -> list[list[str]]:
    """The words of a list of tables, line by line."""
    return [re.sub(VARY, "…", line).split() for line in listed.splitlines()]


def printed(program: str, folder: Path) -> list[str]:
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_page_leads_from_a_broker_to_a_query(
    tmp_path: Path,
    spark: SparkSession,
    kafka: Broker,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its two programs, its settings, and what it shows of the job and of the tables."""
    produce, query = blocks("py")
    [land] = blocks("yaml")
    landed, listed = blocks("text")[-2:]
    monkeypatch.chdir(tmp_path)
    with serving(tmp_path / "data") as server:
        program = produce.replace("http://127.0.0.1:8081", server.url).replace("127.0.0.1:9092", kafka.address)
        assert printed(program, tmp_path) == []
    config = tmp_path / "land.yaml"
    # Workers of these tests were begun elsewhere: those of a command are in its folder.
    config.write_text(land.replace("127.0.0.1:9092", kafka.address).replace("./", f"{tmp_path}/"))
    total = Sum()
    with closing(driver(settings.read_settings(config))) as opened:
        run(spark, opened, total, Stopping())
    said = capsys.readouterr().err.splitlines()[-1]
    assert [said, *total.lines()] == landed.splitlines()
    assert command(monkeypatch, "land.yaml") == 0
    assert facts(capsys.readouterr().out) == facts(listed)
    assert printed(query, tmp_path) == re.findall(r"^print\(.*\)  # (.*)$", query, re.MULTILINE)
