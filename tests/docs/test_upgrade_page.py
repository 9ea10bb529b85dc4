"""docs/upgrade.md quotes what an operator reads in a hurry: word for word what the code says."""

import re
import sqlite3
from pathlib import Path

import pytest

from sigla import forms
from sigla.stores.sqlite.database import TooNew
from sigla.stores.sqlite.store import DataInUse, EmbeddedStore
from tests.protocol.restarts import released

PAGE = (Path(__file__).parents[2] / "docs" / "upgrade.md").read_text(encoding="utf-8")


def test_the_second_process_on_a_directory_says_what_the_page_quotes(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path), pytest.raises(DataInUse) as refused:
        EmbeddedStore(tmp_path)
    assert str(refused.value).replace(str(tmp_path), "/var/lib/sigla") in PAGE


def test_an_older_release_says_of_a_newer_form_what_the_page_quotes() -> None:
    said = re.sub(r"\d+", "…", forms.too_new(2, 1))
    assert f"… {said}`" in PAGE


def test_an_older_release_says_of_newer_tables_what_the_page_quotes(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path):
        pass
    with sqlite3.connect(tmp_path / "catalog.sqlite") as database:
        database.execute("UPDATE state SET layout = 99")
    database.close()
    with pytest.raises(TooNew) as refused:
        EmbeddedStore(tmp_path)
    said = re.sub(r"\d+", "…", str(refused.value).replace(str(tmp_path), "…"))
    (quoted,) = re.findall(r"`(The data in .*?; )…`", PAGE)
    assert said.startswith(quoted.rstrip())


@pytest.mark.process
def test_a_release_without_a_tag_has_no_code_to_start(tmp_path: Path) -> None:
    """The test of upgrades then starts the code that is here, and says so."""
    assert released("0.0.0", tmp_path) is None
