"""`sigla promote` and `sigla regions`, of directories and of tables."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from sigla import opening
from sigla.cli import main
from sigla.errors import StoreError
from sigla.ports.store import Store
from sigla.regions import rules
from sigla.regions.installed import Installed
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.registry import Registry
from sigla.settings import Address
from sigla.stores import kinds
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb import fence
from sigla.stores.dynamodb.actions import update
from sigla.stores.dynamodb.installed import tell_installed
from sigla.stores.dynamodb.regions import AwsRegion
from sigla.stores.dynamodb.store import AwsStore
from sigla.stores.sqlite.regions import EmbeddedRegion
from tests.build import a_draft, a_text
from tests.contract.aws import make_table, of_two_parts
from tests.contract.engines import BUCKET, REGION, in_process
from tests.unit.registry.tell import s

Captured = pytest.CaptureFixture[str]
Urls = tuple[str, str]


@pytest.fixture(params=["directories", "tables"])
def urls(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Urls]:
    """The follower and its primary; what that has written a moment ago was not told yet."""
    if request.param == "directories":
        yield written(f"file:{tmp_path}/b", f"file:{tmp_path}/a")
        return
    of_two_parts(monkeypatch)
    monkeypatch.setattr(fence, "COPIES", 2)
    with in_process() as clients:
        clients.s3.create_bucket(Bucket="other")
        there, here = make_table(clients.dynamodb), make_table(clients.dynamodb)
        region = f"?region={REGION}"
        yield written(f"dynamodb+s3://{here}/other{region}", f"dynamodb+s3://{there}/{BUCKET}{region}")


def written(here: str, there: str) -> Urls:
    for url, role in (
        (here, Role(1, RegionKind.FOLLOWER, peer=KnownBy(url=called(there)), name="B")),
        (there, Role(1, RegionKind.PRIMARY, peer=KnownBy("B"), at=here, name="A")),
    ):
        with store(url) as held:
            assert held.region.set_role(None, role)
    with store(there) as held:
        for name in ("orders", "late"):
            register(held, name)
    if here.startswith("dynamodb"):
        bring(here, there)
    return here, there


def called(there: str) -> str:
    """What the data of the follower call the primary."""
    return there if there.startswith("dynamodb") else "A"


def planned(here: str, there: str) -> list[str]:
    """The words of a planned promotion."""
    served = ["--url", "http://localhost:8082"] * here.startswith("file:")
    return ["promote", here, "--primary", there, *served, "--yes"]


def store(url: str) -> AbstractContextManager[Store]:
    address = Address.read(url)
    return kinds.store_kind(address).writing(address)


def register(held: Store, name: str) -> int | None:
    return Registry(held.catalog, held.bodies, SystemClock()).register(s(name), a_draft(a_text(name))).id


def bring(here: str, there: str) -> None:
    """As the function in the region of the follower does all the time."""
    with opening.regions(Address.read(here), Address.read(there)) as regions:
        regions.pair.drain.look()


@contextmanager
def silent(url: str, silence: type[StoreError] = StoreError) -> Iterator[None]:
    """While the region of a table does not answer."""
    role = AwsRegion.role

    def asked(region: AwsRegion) -> Role | None:
        if f"//{region._table.name}/" in url:
            raise silence("reading a role: no answer")
        return role(region)

    with pytest.MonkeyPatch.context() as lost:
        lost.setattr(AwsRegion, "role", asked)
        yield


def roles(*urls: str) -> list[tuple[str, int, bool]]:
    seen = []
    for url in urls:
        with store(url) as held:
            role = held.region.role()
            assert role
            seen.append((role.kind.value, role.epoch, role.writes))
    return seen


# --- promoted --------------------------------------------------------------------------------------------------------


def test_a_follower_is_promoted_and_then_there_is_nothing_to_do(urls: Urls, capsys: Captured) -> None:
    here, there = urls
    asked = planned(here, there)
    assert main(asked) == 0
    told = capsys.readouterr()
    assert "is the primary of epoch 2. Brought at the end: " in told.out
    assert "No region takes writes for some seconds" in told.err
    again = f"sigla regions follow '{there}' '{here}'"
    assert (again in told.out) == here.startswith("dynamodb")
    assert roles(here, there) == [("primary", 2, True), ("follower", 2, False)]
    with store(here) as held:
        assert [len(held.catalog.history(s(name))) for name in ("orders", "late")] == [1, 1]
        assert register(held, "after") == rules.BLOCK + 1
    bring(there, here)
    capsys.readouterr()
    assert main(asked[:-1]) == 0, "where nothing is to do, nothing is asked"
    told = capsys.readouterr()
    assert (told.out, told.err) == (f"{Address.read(here)} is the primary of epoch 2 already: nothing to do.\n", "")
    assert main(planned(there, here)) == 0
    assert roles(here, there) == [("follower", 3, False), ("primary", 3, True)]
    with store(there) as held:
        assert len(held.catalog.history(s("after"))) == 1


def test_a_promotion_that_was_cut_off_is_taken_back(
    urls: Urls, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store of the follower does not answer when it is its turn."""
    here, there = urls

    def silent(*_: object) -> bool:
        raise StoreError("DynamoDB does not answer")

    with monkeypatch.context() as broken:
        kind = AwsRegion if here.startswith("dynamodb") else EmbeddedRegion
        original: Any = kind.set_role

        def set_role(region: Any, seen: Role | None, role: Role) -> bool:
            return silent() if role.epoch == 2 else bool(original(region, seen, role))

        broken.setattr(kind, "set_role", set_role)
        assert main(planned(here, there)) == 1
    assert "does not answer" in capsys.readouterr().err
    assert roles(here, there) == [("follower", 1, False), ("primary", 1, False)]
    undo = ["promote", here, "--primary", there, "--undo"]
    assert main(undo) == 0
    assert capsys.readouterr().out.endswith("takes writes again.\n")
    assert roles(here, there) == [("follower", 1, False), ("primary", 1, True)]
    assert main(undo) == 0
    assert capsys.readouterr().out.endswith("takes writes: nothing to take back.\n")
    assert main(planned(here, there)) == 0
    assert main(undo) == 2
    assert "there is nothing to take back" in capsys.readouterr().err


def test_nobody_is_promoted_without_a_person_or_yes(urls: Urls, capsys: Captured) -> None:
    here, there = urls
    for words in (planned(here, there)[:-1], ["promote", here, "--primary", there, "--force"]):
        assert main(words) == 2
        assert "No person is there to answer: add --yes." in capsys.readouterr().err
    assert roles(here, there) == [("follower", 1, False), ("primary", 1, True)]


# --- who is what -----------------------------------------------------------------------------------------------------


def test_both_regions_are_shown_with_what_a_forced_promotion_would_lose(urls: Urls, capsys: Captured) -> None:
    here, there = urls
    with store(there) as held:
        register(held, "newest")
    assert main(["regions", here, there]) == 0
    told = capsys.readouterr().out
    assert f"follower of epoch 1, takes no writes; the other region is {called(there)}" in told
    assert "primary of epoch 1, takes writes; the other region is B" in told
    assert "would lose now:" in told
    assert main(["regions", here, there, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [each["role"] for each in report["regions"]] == ["follower", "primary"]
    assert len(report["missing"]) == 1
    assert main(["regions", there, here]) == 0
    assert "would lose now:" in capsys.readouterr().out, "whichever stands first"
    bring(here, there)
    assert main(["regions", here, there]) == 0
    assert "would lose nothing now" in capsys.readouterr().out


@pytest.mark.parametrize("urls", ["tables"], indirect=True)
def test_commits_that_cannot_be_read_are_told(urls: Urls, capsys: Captured) -> None:
    here, there = urls
    with store(there) as held:
        table = cast("AwsStore", held).tools.table
        before = {(item["pk"], item["sk"]) for item in table.scan()[0]}
        register(held, "unread")
        assert main(["regions", here, there]) == 0
        assert "cannot be read" not in capsys.readouterr().out
        after = {(item["pk"], item["sk"]) for item in table.scan()[0]}
        (row,) = (place for place in after - before if "#j#" in place[0])
        table.update(update(row, {"form": "{"}))
    assert main(["regions", here, there]) == 0
    assert "  1 commits of the other region cannot be read here.\n" in capsys.readouterr().out


@pytest.mark.parametrize("urls", ["tables"], indirect=True)
@pytest.mark.parametrize("lost", [RegionKind.PRIMARY, RegionKind.FOLLOWER])
def test_the_region_that_answers_is_shown_where_the_other_one_is_lost(
    urls: Urls, lost: RegionKind, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what to do about it."""
    here, there = urls
    role = AwsRegion.role

    def answers(region: AwsRegion) -> Role | None:
        found = role(region)
        if found and found.kind is lost:
            raise StoreError("reading a role: no answer")
        return found

    monkeypatch.setattr(AwsRegion, "role", answers)
    assert main(["regions", here, there]) == 1
    told = capsys.readouterr()
    lives, do = {
        RegionKind.PRIMARY: ("follower", f"sigla promote '{here}' --force"),
        RegionKind.FOLLOWER: ("primary", f"sigla regions dismiss '{there}'"),
    }[lost]
    assert f"{lives} of epoch 1" in told.out
    assert "would lose" not in told.out
    assert "reading a role: no answer" in told.err
    assert f"If that region is lost: {do}\n" in told.err


@pytest.mark.parametrize("urls", ["tables"], indirect=True)
def test_two_stacks_that_do_not_run_the_same_are_told_and_not_promoted_by_plan(urls: Urls, capsys: Captured) -> None:
    """Exactly what two servers are refused for."""
    here, there = urls
    assert main(["regions", here, there, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["differing"] is None
    runs(there, "1.0", SIGLA_DEFAULT_LEVEL="full")
    assert main(["regions", here, there]) == 0
    assert "do not run the same" not in capsys.readouterr().out
    runs(here, "1.1", SIGLA_DEFAULT_LEVEL="backward")
    differ = [
        "The primary runs release 1.0 and this region 1.1: install one at both.",
        "The primary has SIGLA_DEFAULT_LEVEL=full and this region backward: clients would be answered otherwise.",
    ]
    assert main(["regions", here, there]) == 0
    told = capsys.readouterr().out
    refused = "They do not run the same, and a planned promotion is refused until they do:"
    assert told.endswith("\n".join((refused, *(f"  {each}" for each in differ), "")))
    assert "  runs     release 1.1\n" in told
    assert main(["regions", here, there, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["differing"] == differ
    before = roles(here, there)
    assert main(planned(here, there)) == 2
    assert " ".join(differ) in capsys.readouterr().err
    assert roles(here, there) == before
    runs(here, "1.0", SIGLA_DEFAULT_LEVEL="full")
    assert main(planned(here, there)) == 0
    assert "has not said of late" not in capsys.readouterr().err


@pytest.mark.parametrize("urls", ["tables"], indirect=True)
def test_stacks_that_do_not_say_what_they_run_are_for_the_operator_to_compare(urls: Urls, capsys: Captured) -> None:
    here, there = urls
    runs(here, "1.0")
    assert main(planned(here, there)) == 0
    told = capsys.readouterr().err
    assert (
        f"{Address.read(there)} has not said of late what its stack runs: see to it that both run the same.\n" in told
    )
    assert f"{Address.read(here)} has not said" not in told


@pytest.mark.parametrize("urls", ["tables"], indirect=True)
def test_a_setting_that_names_another_region_than_the_data_is_told(urls: Urls, capsys: Captured) -> None:
    """Such a stack is kept in step with nothing, or with what was given up: it is deployed once more."""
    here, there = urls
    third = f"dynamodb+s3://third/bucket-of-the-third?region={REGION}"
    for named in (there, ""):
        runs(here, "1.0", named)
        assert main(["regions", here]) == 0
        assert "setting" not in capsys.readouterr().out
    for url, other in ((here, there), (there, here)):
        runs(url, "1.0", third)
        assert main(["regions", here, there]) == 0
        told = capsys.readouterr().out
        says = f"  setting  `regions.peer` names {third}, and the other region is {other}: deploy this stack"
        assert says in told
        assert told.count("setting") == 1
        assert main(["regions", url, "--json"]) == 0
        (report,) = json.loads(capsys.readouterr().out)["regions"]
        assert (report["setting"], report["elsewhere"]) == (third, other)
        runs(url, "1.0", other)
    assert main(planned(here, there)) == 0
    capsys.readouterr()
    assert main(["regions", there, here]) == 0
    assert "setting" not in capsys.readouterr().out, "a promotion deploys nothing"


def runs(url: str, release: str, peer: str = "", **options: str) -> None:
    """As the function of the two regions says of its stack."""
    with store(url) as held:
        tell_installed(cast("AwsStore", held).tools, Installed(release, options, peer))


def test_a_registry_without_a_second_region_has_no_role(tmp_path: Path, capsys: Captured) -> None:
    url = f"file:{tmp_path}/data"
    with store(url) as held:
        register(held, "orders")
    assert main(["regions", url]) == 0
    assert "none, as of a registry without" in capsys.readouterr().out
    assert main(["promote", url, "--force", "--yes"]) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert "has no second region" in told, "and nothing before it"


# --- misuse ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, word",
    [
        (["promote", "file:b"], "--primary is missing"),
        (["promote", "file:b", "--primary", "file:a", "--yes"], "--url is missing"),
        (["promote", "file:b", "--primary", "file:a", "--url", "localhost:8082", "--yes"], "Invalid --url"),
        (["promote", "memory:", "--force", "--yes"], "Nothing is kept in memory"),
        (["promote", "b", "--force", "--yes"], "Invalid URL b: that of a server is"),
        (["promote", "dynamodb+s3://t/b?regio=x", "--force", "--yes"], "Invalid address"),
        (["promote", "file:b", "--primary", "dynamodb+s3://t/b", "--yes"], "two kinds"),
        (["promote", "file:nowhere", "--force", "--yes"], "nowhere"),
        (["regions", "file:a", "file:b", "file:c"], "two regions"),
        (["regions", "abandon"], "the URL of the primary"),
        (["regions", "abandon", "file:nowhere", "--yes"], "nowhere"),
    ],
)
def test_misuse_is_refused_in_a_sentence(
    arguments: list[str], word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert word in told
    assert len(told.splitlines()[-1]) > len(word)
    assert list(tmp_path.iterdir()) == [], "nothing is made"


def test_a_directory_that_is_served_is_not_promoted(tmp_path: Path, capsys: Captured) -> None:
    here, there = written(f"file:{tmp_path}/b", f"file:{tmp_path}/a")
    with store(there):
        assert main(planned(here, there)) == 2
    assert "Another process is using the data" in capsys.readouterr().err
    assert roles(here, there) == [("follower", 1, False), ("primary", 1, True)]


def test_a_role_that_is_new_is_waited_for(urls: Urls, capsys: Captured) -> None:
    here, there = urls
    with store(there) as held:
        role = held.region.role()
        assert role
        held.region.set_role(role, replace(role, armed=held.clock.now()))
    assert main(planned(here, there)) == 2
    assert "promote it in 20 minutes" in capsys.readouterr().err
