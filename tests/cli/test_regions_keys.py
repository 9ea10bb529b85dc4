"""`sigla promote --force`, `rejoin` and `regions abandon`, of tables: no key that was acknowledged is left behind."""

import json
from collections.abc import Iterator
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from sigla.cli import main, rejoin
from sigla.keys import handed_object
from sigla.regions.handed_keys import KeysInStep
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.registry import Registry
from sigla.settings import Address
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb import fence
from sigla.stores.dynamodb.opening import writing
from sigla.stores.dynamodb.store import AwsStore
from tests.attack.keys import dek, kek, keys_of
from tests.attack.world import Verb
from tests.cli.test_regions import Urls, silent
from tests.contract.aws import make_table, of_two_parts
from tests.contract.engines import BUCKET, REGION, in_process

Captured = pytest.CaptureFixture[str]
KEYS = {"k": ("id", None, False), ("k", "s", "AES256_GCM", 1): ("m1", False)}


@pytest.fixture
def urls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Urls]:
    """The follower and its primary."""
    monkeypatch.chdir(tmp_path)
    of_two_parts(monkeypatch)
    monkeypatch.setattr(fence, "COPIES", 2)
    monkeypatch.setattr(rejoin, "HEARD_S", 0)
    with in_process() as clients:
        clients.s3.create_bucket(Bucket="other")
        there, here = make_table(clients.dynamodb), make_table(clients.dynamodb)
        region = f"?region={REGION}"
        urls = f"dynamodb+s3://{here}/other{region}", f"dynamodb+s3://{there}/{BUCKET}{region}"
        roles = (
            Role(1, RegionKind.FOLLOWER, peer=KnownBy(url=urls[1]), name="B"),
            Role(1, RegionKind.PRIMARY, peer=KnownBy("B"), name="A"),
        )
        for url, role in zip(urls, roles, strict=True):
            with writing(Address.read(url)) as store:
                assert store.region.set_role(None, role)
        yield urls


def ask(own: AwsStore, other: AwsStore, *verbs: Verb) -> None:
    """As the function of the primary does it."""
    clock = SystemClock()
    in_step = KeysInStep(
        own.catalog, own.key_commits, own.key_adoption, other.handed_keys, region="other", clock=clock, patience_s=30
    )
    with closing(in_step):
        for verb in verbs:
            verb(Registry(in_step, own.bodies, clock))


def made(urls: Urls, *verbs: Verb) -> None:
    here, there = map(Address.read, urls)
    with writing(here) as follower, writing(there) as primary:
        ask(primary, follower, *verbs)


def keys(url: str) -> dict[object, object]:
    with writing(Address.read(url)) as store:
        return {
            (*name[:2], name[2].value, name[3]) if isinstance(name, tuple) else name: value
            for name, value in keys_of(store.catalog).items()
        }


def test_a_forced_promotion_carries_out_what_was_handed_over(urls: Urls, capsys: Captured) -> None:
    here, _ = urls
    made(urls, kek("k"), dek("k", "s"))
    assert not keys(here)
    assert main(["promote", here, "--force", "--yes"]) == 0
    told = capsys.readouterr().out
    assert "2 commits of keys for field encryption that had not come were carried out." in told
    assert keys(here) == KEYS
    assert main(["promote", here, "--force", "--yes"]) == 0
    assert capsys.readouterr().out.endswith("is the primary of epoch 2 already: nothing to do.\n")


@pytest.mark.parametrize("back", [True, False], ids=["rejoin", "abandon"])
def test_what_a_primary_went_on_to_acknowledge_is_there_when_it_is_reconciled(
    urls: Urls, capsys: Captured, back: bool
) -> None:
    """It did not hear of the promotion, and the survivor was not asked for these keys."""
    here, there = urls
    assert main(["promote", here, "--force", "--yes"]) == 0
    made(urls, kek("k"), dek("k", "s"))
    assert not keys(here)
    capsys.readouterr()
    words = ["rejoin", there, "--primary", here, "--yes"] if back else ["regions", "abandon", here, "--yes"]
    with nullcontext() if back else silent(there):
        main(words)
    assert "2 commits of keys" in capsys.readouterr().out
    assert keys(here) == KEYS


def test_a_damaged_object_that_holds_up_a_kek_of_the_primary_is_named(urls: Urls, capsys: Captured) -> None:
    """Whoever was refused a change asks an operator, who need not search the log for it."""
    here, there = urls
    made(urls, kek("k"))
    with writing(Address.read(here)) as follower:
        follower.handed_keys._objects.create(handed_object("default", 1, "k", 2), b"{")
    told = f"KEK k, until {handed_object('default', 1, 'k', 2)} is deleted from the follower's bucket"
    for pair in (here, there), (there, here):
        assert main(["regions", *pair]) == 0
        assert f"The primary refuses all changes under {told}" in capsys.readouterr().out
    assert main(["regions", here, there, "--json"]) == 0
    (sentence,) = json.loads(capsys.readouterr().out)["held_up"]
    assert sentence.startswith(told)
    assert main(["regions", here]) == 0
    assert "refuses" not in capsys.readouterr().out
