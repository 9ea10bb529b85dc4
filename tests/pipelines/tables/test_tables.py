"""Who did not land a table finds it: which tables there are, what is in them, how an engine reads them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.tables.lakes import Lake, command

pytestmark = pytest.mark.usefixtures("unsynced")


@pytest.fixture(scope="module", params=["parquet", "iceberg"])
def lake(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    home = tmp_path_factory.mktemp(request.param)
    catalog = {"type": "sql", "uri": f"sqlite:///{home}/catalog.db"}
    made = Lake(home, kind=request.param, **({"catalog": catalog} if request.param == "iceberg" else {}))
    made.two_tables()
    return made


def listed(lake: Lake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert command(monkeypatch, str(lake.config), *words, "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_a_list_says_of_each_table_what_is_in_it(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {each["table"]: each for each in listed(lake, monkeypatch, capsys)}
    assert {name: each["rows"] for name, each in found.items()} == {"orders": 2, "shop_refunds": 2, "_quarantine": 2}
    assert {name: each["files"] for name, each in found.items()} == {"orders": 2, "shop_refunds": 1, "_quarantine": 2}
    assert found["shop_refunds"]["name"] == "shop_refunds"
    assert found["orders"]["topics"] == ["orders"]
    assert found["shop_refunds"]["topics"] == ["shop.Refunds"]
    assert [found[name]["last_batch"]["number"] for name in ("orders", "_quarantine", "shop_refunds")] == [1, 1, 2]
    data = sum(path.stat().st_size for path in (lake.home / "lake" / "orders").rglob("*.parquet"))
    assert found["orders"]["bytes"] == data
    assert found["orders"]["location"].endswith("/lake/orders")


def test_the_list_for_a_person_has_a_line_for_each_table(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(monkeypatch, str(lake.config)) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["topic", "table", "rows", "files", "size", "last", "batch", "at", "where"]
    assert [row.split()[1] for row in rows] == ["_quarantine", "orders", "shop_refunds"]


def test_one_table_shows_every_column_with_its_type(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = listed(lake, monkeypatch, capsys, "orders")
    # Plain Parquet has the widest type from the first file on.
    decimal = "decimal(9, 2)" if lake.form["sink"]["kind"] == "iceberg" else "decimal(38, 2)"
    types = {each["name"]: each["type"] for each in found["columns"] if not each["name"].startswith("_sr_")}
    assert types == {
        "id": "string",
        "amount": decimal,
        "to": "struct",
        "to.zip": "string",
        "items": "array<string>",
    }
    assert found["partitions"] == (["day(_sr_ts)"] if lake.form["sink"]["kind"] == "iceberg" else [])
    assert command(monkeypatch, str(lake.config), "orders") == 0
    shown = capsys.readouterr().out
    assert "to.zip" in shown
    assert decimal in shown


def test_a_table_is_found_by_its_name_and_by_what_bind_calls_it(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever reads SQL knows the one, and who has written `land.yaml` the other."""
    for called in ("shop_refunds", "shop.Refunds"):
        assert listed(lake, monkeypatch, capsys, called)["table"] == "shop_refunds"


def test_an_unknown_table_is_a_sentence_that_names_the_others(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(monkeypatch, str(lake.config), "nothing") == 2
    assert capsys.readouterr().err == "Unknown table nothing. Tables: _quarantine, orders, shop_refunds.\n"


def test_a_lake_without_tables_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before the first batch."""
    assert command(monkeypatch, str(Lake(tmp_path).config)) == 0
    assert capsys.readouterr().err == "Found no tables: nothing has been landed yet.\n"


def test_tables_are_listed_without_spark() -> None:
    """Its JVM takes seconds to start, and a list is looked at often."""
    loaded = "import sys, sigla_pipelines.tables.job; print('pyspark' in sys.modules, 'pyiceberg' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


@pytest.mark.parametrize("lake", ["parquet"], indirect=True)
def test_a_reader_that_has_seen_enough_is_no_failure(lake: Lake) -> None:
    """As in `tables land.yaml | head -1`."""
    words = [sys.executable, "-m", "sigla_pipelines", "tables", str(lake.config)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as asked:
        assert asked.stdout
        assert asked.stderr
        asked.stdout.close()
        assert asked.stderr.read() == ""
    assert asked.returncode == 141
