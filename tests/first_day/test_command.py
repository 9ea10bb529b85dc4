"""`make first-day`, as its user meets it: what it prints, how it ends, and that nothing is left."""

import re
from pathlib import Path

import pytest

from infra.first_day import __main__ as first_day
from infra.first_day import places
from infra.first_day.asking import Door
from infra.first_day.checks import CHECKS
from infra.first_day.day import CONTEXT, PREFIX, Account, Check, Day
from infra.first_day.places import Place
from tests.first_day.conftest import Crook, Sent, a_day, crooked

ROOT = Path(__file__).parents[2]


def held(registry: Door) -> tuple[object, object]:
    """Every subject, deleted ones too, and every context."""
    subjects = registry.ask("GET", "/subjects?subjectPrefix=:*:&deleted=true").json()
    return subjects, registry.ask("GET", "/contexts").json()


def test_a_registry_that_is_well_is_told_so_and_left_as_it_was(
    registry: Door, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line for each check, figures, and a sum; what a URL cannot show is said, with the reason."""
    before = held(registry)
    status = first_day.main(["--url", registry.url, "--user", registry.key, "--samples", "8"])
    said = capsys.readouterr().out
    assert status == 0, said
    assert f"url        {registry.url} (a server)" in said
    assert "pass  url       a subject's name arrives as it was sent: 16 names" in said
    assert "  -   account   no alarm rings: not asked, it needs a stack" in said
    assert re.search(r"^url +reads by id +8 +\d+ +\d+ +\d+$", said, re.MULTILINE)
    assert re.search(r"^12 passed, 0 failed, \d+ not asked\.$", said, re.MULTILINE)
    assert held(registry) == before


def test_a_registry_that_is_not_well_ends_with_1(registry: Door, capsys: pytest.CaptureFixture[str]) -> None:
    """For scripts; and what was written goes all the same."""
    before = held(registry)
    with crooked(registry, Crook(answer=lambda _, told: told.without("etag"))) as door:
        assert first_day.main(["--url", door.url, "--user", door.key, "--samples", "4"]) == 1
    said = capsys.readouterr().out
    assert "FAIL  url       a client that has the answer already gets 304: the answer has no ETag" in said
    assert "11 passed, 1 failed" in said
    assert held(registry) == before


def test_ctrl_c_clears_up(registry: Door, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever has seen enough leaves nothing behind, either."""
    before = held(registry)

    def enough(day: Day, door: Door) -> str:
        day.register(door, "half-done", day.schema("half-done")).expect(200)
        assert held(registry) != before
        raise KeyboardInterrupt

    status = first_day.run(a_day(registry), Place((registry,), None), [Check("enough", enough, each_door=True)])
    assert status == 130
    assert "Interrupted." in capsys.readouterr().err
    assert held(registry) == before


def test_what_cannot_be_removed_is_told(registry: Door, capsys: pytest.CaptureFixture[str]) -> None:
    """And how to remove it by hand."""

    def writes(day: Day, door: Door) -> str:
        day.register(door, "stays", day.schema("stays")).expect(200)
        return ""

    no_deletes = Crook(
        answer=lambda asked, told: Sent("403", {}, b"no") if asked.line.startswith("DELETE") else told,
    )
    with crooked(registry, no_deletes) as door:
        day = a_day(door)
        assert first_day.run(day, Place((door,), None), [Check("it writes", writes, each_door=True)]) == 1
    said = capsys.readouterr().out
    assert f"FAIL  what was written is still in the context {CONTEXT}" in said
    assert f"delete the subjects that begin with {PREFIX}" in said


def test_a_key_for_its_own_context_is_enough(registry: Door, limited: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It need not be lent the whole registry."""
    before = held(registry)
    status = first_day.main(["--url", registry.url, "--user", limited, "--samples", "4"])
    assert status == 0, capsys.readouterr().out
    assert held(registry) == before


@pytest.mark.parametrize(
    "outputs, doors, unreached",
    [
        ({"DomainUrl": "{url}/"}, ["rest", "domain"], ""),
        (
            {"DomainUrl": "http://127.0.0.1:1", "DomainTarget": "d-1.example"},
            ["rest"],
            "domain     http://127.0.0.1:1 cannot be reached: point its DNS record at d-1.example",
        ),
        (
            {"ZonePrivateUrlUse1Az1": "http://127.0.0.1:1"},
            ["rest"],
            "private    http://127.0.0.1:1 cannot be reached from here: run this in its network as well, with --url",
        ),
    ],
    ids=["a name of one's own", "a name that leads nowhere yet", "a private door"],
)
def test_every_door_that_the_stack_tells_of_is_asked(
    registry: Door, outputs: dict[str, str], doors: list[str], unreached: str
) -> None:
    """A name of one's own is what clients are given, and it was left out."""
    told = {name: value.format(url=registry.url) for name, value in outputs.items()}
    place = places.behind(Account("stack", told, lambda _: None), registry.url, registry.key)
    assert [door.name for door in place.doors] == doors
    assert all(door.url == registry.url for door in place.doors)
    assert place.unreached == ((unreached,) if unreached else ())


@pytest.mark.parametrize(
    "words, said",
    [
        (["--url", "registry:8081"], "Invalid URL 'registry:8081': expected https://HOST or http://HOST:PORT"),
        (["--url", "http://127.0.0.1:1"], "http://127.0.0.1:1 does not answer"),
        (["--url", "http://127.0.0.1:1", "--user", "admin"], "Invalid key: expected its name and its secret"),
        (
            ["--stage", "nowhere"],
            "Stage file not found: stages/nowhere.toml: `sigla stage stages/nowhere.toml` writes a new",
        ),
        (["--localstack", "1"], "start one with make localstack"),
    ],
)
def test_what_cannot_be_asked_is_said_in_a_sentence(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 2, as a command that was called in a wrong way."""
    monkeypatch.delenv("SCHEMA_REGISTRY_USER", raising=False)
    assert first_day.main(words) == 2
    assert said in capsys.readouterr().err


def test_the_page_has_a_row_for_each_check() -> None:
    """Whoever reads FAIL looks there for what to do."""
    page = (ROOT / "docs" / "first-day.md").read_text()
    rows = [line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| ")]
    assert [row for row in rows if row in {check.name for check in CHECKS}] == [check.name for check in CHECKS]
