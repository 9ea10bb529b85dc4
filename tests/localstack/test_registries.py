"""Registries of one stack, behind URLs of their own or in a pool: what is of one does not exist in another."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from localstack.server import session
from tests.localstack.conftest import Deployed, Door, deployment, free_port
from tests.localstack.test_identity import outputs

pytestmark = pytest.mark.localstack


@pytest.fixture(scope="module")
def two() -> Iterator[Deployed]:
    """A deployment of its own: the one of the other files has zones, and registries are not in zones."""
    with deployment(free_port(), "-c", "registries=payments", "-c", "pool=ads") as deployed:
        yield deployed


@pytest.fixture(scope="module")
def own(two: Deployed) -> Door:
    """The stage's own registry, with its administrator's key."""
    return two.door("rest")


@pytest.fixture(scope="module")
def payments(two: Deployed) -> Door:
    """The further one, with a key that a person has made for it."""
    return Door(two.facts["payments"], ("clerk", key_of(two, "payments")))


@pytest.fixture(scope="module")
def clerk_of_ads(two: Deployed) -> tuple[str, str]:
    """A key of the one that the stage's own function serves as well, whose user names it."""
    return "clerk@ads", key_of(two, "ads")


@pytest.fixture(scope="module", params=["rest", "function"])
def ads(two: Deployed, clerk_of_ads: tuple[str, str], request: pytest.FixtureRequest) -> Door:
    """By either door."""
    return Door(two.facts[request.param], clerk_of_ads)


def key_of(two: Deployed, registry: str) -> str:
    """The secret of a key that a person makes."""
    with ExitStack() as opened:
        clients = session(two.server.endpoint)

        def aws(service: str) -> Any:
            return opened.enter_context(closing(clients.client(service)))

        bucket = outputs(aws)["BucketName"]
    created = sigla(two, "keys", "create", "clerk", "--role", "admin", "--bucket", bucket, "--registry", registry)
    return str(json.loads(created)["secret"])


def sigla(two: Deployed, *words: str) -> str:
    """What a command prints, with `--json`."""
    from localstack.up import Account

    environ = Account.of(two.server, {}, ()).environ
    command = [str(Path(sys.executable).with_name("sigla")), *words, "--json"]
    return subprocess.run(command, env=dict(environ), capture_output=True, text=True, check=True).stdout


def fixed(name: str) -> dict[str, str]:
    """A schema of this name."""
    return {"schema": json.dumps({"type": "fixed", "name": name, "size": 12})}


def test_ids_subjects_guids_and_contexts_of_one_do_not_exist_in_the_other(own: Door, payments: Door) -> None:
    """Word for word what is answered of something that was never there."""
    assert payments.ask("GET", "/subjects") == (200, [])
    for path in ("/subjects/orders/versions", "/subjects/:.eu:orders/versions"):
        assert own.ask("POST", path, fixed("Orders"))[0] == 200
    assert own.ask("POST", "/subjects/other/versions", fixed("Other"))[1]["id"] == 2
    told = own.ask("GET", "/subjects/orders/versions/1")[1]
    guid = told["guid"]
    never = "00000000-0000-4000-8000-000000000000"
    for theirs, nobodys in (
        ("/schemas/ids/2", "/schemas/ids/77"),
        (f"/schemas/guids/{guid}", f"/schemas/guids/{never}"),
        ("/subjects/orders/versions", "/subjects/nothing/versions"),
        ("/subjects/:.eu:orders/versions/latest", "/subjects/:.us:orders/versions/latest"),
    ):
        status, found = payments.ask("GET", theirs)
        assert (status, found) == replaced(payments.ask("GET", nobodys), nobodys, theirs)
        assert status == 404
    assert payments.ask("GET", "/contexts") == (200, ["."])


def replaced(answer: tuple[int, Any], asked: str, of: str) -> tuple[int, Any]:
    """The answer as it would be of another name, id or GUID."""
    status, body = answer
    words = dict(zip(asked.split("/"), of.split("/"), strict=True))
    for word, other in words.items():
        if word and word != other:
            body = json.loads(json.dumps(body).replace(word, other))
    return status, body


def test_a_key_of_one_is_unknown_in_the_other(own: Door, payments: Door) -> None:
    """As a name that was never given, in both directions."""
    for door, foreign in ((payments, own.key), (own, payments.key)):
        assert door.ask("GET", "/subjects")[0] == 200
        unknown = replace(door, key=("nobody-at-all", "wrong")).ask("GET", "/subjects")
        assert replace(door, key=foreign).ask("GET", "/subjects") == unknown
        assert unknown[0] == 401


def test_what_is_written_and_deleted_in_one_changes_nothing_in_the_other(own: Door, payments: Door) -> None:
    """The same subject, the same schema, ids of each from 1, settings of each."""
    assert payments.ask("POST", "/subjects/orders/versions", fixed("Orders"))[1]["id"] == 1
    assert payments.ask("PUT", "/config", {"compatibility": "NONE"})[0] == 200
    before = own.ask("GET", "/subjects/orders/versions/1")
    assert payments.ask("DELETE", "/subjects/orders")[0] == 200
    assert payments.ask("DELETE", "/subjects/orders?permanent=true")[0] == 200
    assert own.ask("GET", "/subjects/orders/versions/1") == before
    assert own.ask("GET", "/config")[1]["compatibilityLevel"] == "BACKWARD"


def test_one_function_serves_a_pool_and_keeps_its_registries_apart(own: Door, payments: Door, ads: Door) -> None:
    """The key of each opens its own; the stage's own registry and the one with walls have nothing of it."""
    status, told = ads.ask("POST", "/subjects/of-ads/versions", fixed("OfAds"))
    assert (status, told["id"]) == (200, 1)
    assert ads.ask("GET", "/subjects") == (200, ["of-ads"])
    for door in (own, payments):
        assert door.ask("GET", "/subjects/of-ads/versions")[0] == 404
    assert ads.key is not None
    name, secret = ads.key
    unknown = replace(ads, key=("nobody-at-all@ads", "wrong")).ask("GET", "/subjects")
    for said in (("clerk@default", secret), ("clerk@payments", secret), ("clerk@nowhere", secret), (name, "wrong")):
        assert replace(ads, key=said).ask("GET", "/subjects") == unknown
    assert unknown[0] == 401
    assert (
        "name the registry behind the user" in replace(ads, key=("clerk", secret)).ask("GET", "/subjects")[1]["message"]
    )
