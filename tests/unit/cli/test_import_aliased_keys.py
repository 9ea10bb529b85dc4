"""Keys of a subject that has an alias: an API answers with those of the other one, so they cannot be read."""

from pathlib import Path

import pytest

from sigla.cli import main
from sigla.stores.sqlite.store import EmbeddedStore
from tests.unit.cli.answering import behind_a_url, registry
from tests.unit.exporting.places import Place, places
from tests.unit.exporting.stories import KEKS, Step, configure, kek, wrap


@pytest.mark.parametrize("other", [(), (wrap("k", "other", material="AAED"),)], ids=["none there", "another one there"])
def test_they_are_told_and_those_of_the_other_one_are_not_taken_for_them(
    other: tuple[Step, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    with places(1) as (source,):
        for step in (kek("k"), wrap("k", "s"), wrap("k", "plain"), *other, configure("s", alias="other")):
            step(source)
        with behind_a_url(registry(source.registry)) as url:
            assert main(["import", url, "--data", str(data)]) == 1
            told = capsys.readouterr().out
            assert '"kekName":"k","subject":"s"' in told
            source("DELETE", "/config/s")
            assert main(["import", url, "--data", str(tmp_path / "whole")]) == 0
        wanted = source("GET", f"{KEKS}/k/deks")
    with EmbeddedStore(data) as store:
        assert Place(store)("GET", f"{KEKS}/k/deks") == [each for each in wanted if each != "s"]
    with EmbeddedStore(tmp_path / "whole") as store:
        assert Place(store)("GET", f"{KEKS}/k/deks") == wanted
