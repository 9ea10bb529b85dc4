"""What a registry may hold and how much it answers: enough is enough, and what is there stays usable."""

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from sigla import instances
from sigla.auth import api_keys
from sigla.auth.credentials import BasicKeys
from sigla.auth.permissions import Principal
from sigla.errors import QuotaReached
from sigla.registry import Registry
from sigla.registry.steps.quota import COUNTED_MS, Quota, Quotas
from sigla.settings import InvalidSetting, Settings
from sigla.stores.sqlite.keys import EmbeddedKeys
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from sigla.web.http.rate import Rate
from sigla.web.http.refusals import TooManyRequests
from tests.build import NOW, FixedClock
from tests.unit.web.conftest import Client


class Held:
    """What there is, and how often it was counted."""

    def __init__(self, count: int) -> None:
        self.count, self.asked = count, 0

    def __call__(self) -> int:
        self.asked += 1
        return self.count


def test_what_is_there_is_counted_once_and_then_only_where_it_may_be_too_much() -> None:
    """Counting looks at everything; a registration must not."""
    held, clock = Held(5), FixedClock()
    quota = Quota(10, "versions", held, clock)
    for _ in range(5):
        quota.spend(1)
    assert held.asked == 1
    held.count = 8
    clock.sleep(COUNTED_MS / 1000)
    quota.spend(1)
    assert held.asked == 2, "the estimate was too high, as some of what it has counted came to nothing"


def test_whoever_comes_again_and_again_has_it_counted_once_a_minute() -> None:
    """A client that tries for ever must not keep the registry counting; what was deleted counts a minute later."""
    held, clock = Held(10), FixedClock()
    quota = Quota(10, "versions", held, clock)
    for _ in range(100):
        with pytest.raises(QuotaReached):
            quota.spend(1)
    assert held.asked == 1
    held.count = 9
    clock.sleep(COUNTED_MS / 1000)
    quota.spend(1)
    with pytest.raises(QuotaReached):
        quota.spend(1)
    assert held.asked == 2


def test_so_many_requests_pass_and_the_others_hear_when_to_come_again() -> None:
    """As many as a second has may come at once; over any longer time no more than that pass."""
    clock = FixedClock()
    rate = Rate(4, clock)
    refused = 0
    for _ in range(100):
        try:
            rate.spend()
        except TooManyRequests:
            refused += 1
        clock.sleep(0.1)
    assert 40 <= 100 - refused <= 44
    slow = Rate(0.1, clock)
    slow.spend()
    with pytest.raises(TooManyRequests) as soon:
        slow.spend()
    assert soon.value.facts["again_s"] == 10
    clock.sleep(10)
    slow.spend()


@pytest.fixture
def store() -> Iterator[EmbeddedStore]:
    with EmbeddedStore() as store:
        yield store


def a_client(store: EmbeddedStore, quotas: Quotas, **options: object) -> Client:
    registry = Registry(store.catalog, store.bodies, FixedClock(), quotas=quotas)
    return Client(app.build(registry, options=app.HttpOptions(**options)))  # type: ignore[arg-type]  # as the test says


def text(name: str) -> dict[str, str]:
    return {"schema": f'{{"type":"record","name":"{name}","fields":[]}}'}


def test_a_full_registry_takes_what_it_has_and_nothing_new(store: EmbeddedStore) -> None:
    """Producers register on every start: that must go on, and neither an id nor a file may be spent on a refusal."""
    held = Held(1)
    ask = a_client(store, Quotas(Quota(2, "versions", held, FixedClock())))
    assert ask("POST", "/subjects/s/versions", text("A")).json["id"] == 1
    assert held.asked == 1
    refused = ask("POST", "/subjects/t/versions", text("B"))
    assert refused.refusal == (429, 429, "The registry may hold 2 versions, and has no room for more: ask its operator")
    assert refused.headers["retry-after"] == "60"
    assert refused.headers["content-type"] == "application/vnd.schemaregistry.v1+json"
    counted = held.asked
    for path, body in (("/subjects/s/versions", text("A")), ("/subjects/s", text("A"))):
        assert ask("POST", path, body).json["id"] == 1
    for path in ("/subjects", "/schemas/ids/1", "/subjects/s/versions/latest", "/config"):
        assert ask("GET", path).status == 200
    assert ask("POST", "/compatibility/subjects/s/versions", text("B")).status == 200
    assert ask("DELETE", "/subjects/s").status == 200
    assert held.asked == counted, "reads, deletes and what is registered already count nothing"
    assert store.catalog.max_id(".") == 1
    assert [path.name for path in store.path.rglob("*.json") if path.parent.name == "_"] == ["0000000001.json"]


def test_bytes_are_those_of_schemas_and_stay_with_their_ids(store: EmbeddedStore) -> None:
    """A body outlives its last version, so that deleting makes no room for bytes; the quota says so by refusing."""
    clock = FixedClock()
    ask = a_client(store, Quotas(bytes=Quota(2_000, "bytes of schemas", store.count_bytes, clock)))
    assert ask("POST", "/subjects/s/versions", text("A")).status == 200
    assert 0 < store.count_bytes() < 1_000
    assert ask("POST", "/subjects/t/versions", text("A" * 2_000)).status == 429
    assert ask("DELETE", "/subjects/s").status == 200
    assert ask("DELETE", "/subjects/s?permanent=true").status == 200
    assert store.count_bytes() > 0


def test_versions_that_are_deleted_for_good_make_room(store: EmbeddedStore) -> None:
    """Soft-deleted ones are still there."""
    clock = FixedClock()
    ask = a_client(store, Quotas(Quota(1, "versions", store.count, clock)))
    assert ask("POST", "/subjects/s/versions", text("A")).status == 200
    assert ask("DELETE", "/subjects/s").status == 200
    clock.sleep(COUNTED_MS / 1000)
    assert ask("POST", "/subjects/t/versions", text("B")).status == 429
    assert ask("DELETE", "/subjects/s?permanent=true").status == 200
    clock.sleep(COUNTED_MS / 1000)
    assert ask("POST", "/subjects/t/versions", text("B")).status == 200


def test_strangers_use_up_no_requests_of_those_who_may_ask(store: EmbeddedStore, tmp_path: Path) -> None:
    """Else whoever has no key could keep out all who have one. What needs no key is answered however many ask."""
    keys = EmbeddedKeys(tmp_path)
    _, secret = api_keys.create(keys, "etl", "reader", (), now=NOW)
    good = {"authorization": "Basic " + base64.b64encode(f"etl:{secret}".encode()).decode()}
    clock = FixedClock()
    ask = a_client(store, Quotas(), authenticate=BasicKeys(keys, clock), rate=Rate(2, clock))
    for _ in range(5):
        assert ask("GET", "/subjects").status == 401
        assert ask("GET", "/schemas/types").status == 200
    assert [ask("GET", "/subjects", None, good).status for _ in range(3)] == [200, 200, 429]
    refused = ask("GET", "/subjects", None, good)
    assert refused.refusal == (
        429,
        429,
        "The registry answers 2 requests a second, and more have come: try again",
    )
    assert refused.headers["retry-after"] == "1"
    clock.sleep(1)
    assert ask("GET", "/subjects", None, good).status == 200


def test_what_a_key_is_denied_counts_as_what_it_is_not(store: EmbeddedStore, tmp_path: Path) -> None:
    """Else a small key could ask without end for what it may not have, and each denial is a line of the log."""
    keys, clock = EmbeddedKeys(tmp_path), FixedClock()
    _, secret = api_keys.create(keys, "etl", "reader", ("a-",), now=NOW)
    known = {"authorization": "Basic " + base64.b64encode(f"etl:{secret}".encode()).decode()}
    mapped_to_nothing = {"authorization": "stranger"}

    class Authenticate(BasicKeys):
        def __call__(self, header: bytes | None) -> Principal | None:
            return Principal("stranger", ()) if header == b"stranger" else super().__call__(header)

    ask = a_client(store, Quotas(), authenticate=Authenticate(keys, clock), rate=Rate(2, clock))
    assert [ask("GET", "/subjects", None, mapped_to_nothing).status for _ in range(5)] == [403] * 5
    statuses = [ask("DELETE", path, None, known).status for path in ("/subjects/b-one", "/mode", "/subjects/a-one")]
    assert statuses == [403, 403, 429]


def test_without_quotas_nothing_is_counted(store: EmbeddedStore) -> None:
    """The settings are 0, and a registration asks what it always asked."""
    quotas = instances.quotas_of(store, Settings())
    assert (quotas._versions, quotas._bytes) == (None, None)
    assert instances.web_options(Settings(), None, app.HttpOptions()).rate is None
    limited = Settings.read({"SIGLA_QUOTA_VERSIONS": "3", "SIGLA_QUOTA_REQUESTS_PER_SECOND": "0.5"})
    assert instances.quotas_of(store, limited)._versions is not None
    assert instances.web_options(limited, None, app.HttpOptions()).rate is not None


def test_a_quota_that_nothing_could_count_is_refused() -> None:
    """A bucket does not say at once how much it holds; a quota that does nothing would be a trap."""
    settings = Settings.read({"SIGLA_TABLE": "t", "SIGLA_BUCKET": "b", "SIGLA_QUOTA_BYTES": "5"})
    with pytest.raises(InvalidSetting, match="QUOTA_BYTES is of directories"), instances.instance(settings):
        pass
