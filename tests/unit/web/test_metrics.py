import re

from sigla.keks.nouns import DekDraft, KekDraft
from sigla.keks.verbs.deks import create_dek
from sigla.keks.verbs.keks import create_kek
from sigla.model import Subject
from sigla.observe import Seen
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web.local.metrics import Counters, key_lines, of_registries
from tests.build import FixedClock

KEY_COUNTS = ("num_keks", "num_keks_shared", "num_deks")


def seen(
    method: str = "GET", route: str = "/subjects", status: int = 200, took_ns: int = 1_500_000, deleted: int = 0
) -> Seen:
    return Seen(method, route, status, took_ns, b"id", 2, deleted=deleted)


def value(text: str, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    assert found, f"{name} is not told:\n{text}"
    return float(found[1])


def test_existing_dashboards_find_their_names() -> None:
    """Those of a JMX exporter over the reference."""
    counters = Counters()
    for one in (
        seen("POST", "/subjects/{subject}/versions"),
        seen("POST", "/subjects/{subject}/versions", 409),
        seen("DELETE", "/subjects/{subject}/versions/{version}", deleted=1),
        seen("DELETE", "/subjects/{subject}", deleted=3),
        seen(status=304),
        seen(status=500),
    ):
        counters(one)
    text = counters.text()
    told = {
        name: value(text, f"kafka_schema_registry_{name}")
        for name in (
            "registered_count",
            "deleted_count",
            "api_success_count",
            "api_failure_count",
            "master_slave_role",
            "node_count",
        )
    }
    assert told == {
        "registered_count": 1,
        "deleted_count": 4,
        "api_success_count": 4,
        "api_failure_count": 2,
        "master_slave_role": 1,
        "node_count": 1,
    }


def test_the_store_says_how_many_are_registered() -> None:
    """So that a restart does not begin at zero."""
    assert value(Counters(stored=lambda: 42).text(), "kafka_schema_registry_registered_count") == 42


def test_the_store_says_how_many_keys_there_are() -> None:
    """By the names of the reference, soft-deleted ones included."""
    with EmbeddedStore() as store:
        registry = Registry(store.catalog, store.bodies, FixedClock())
        create_kek(registry, KekDraft("k", "local-kms", "id"))
        create_kek(registry, KekDraft("shared", "local-kms", "id", shared=True, deleted=True))
        create_dek(registry, "k", Subject(".", "s"), DekDraft(material="m"))
        text = "\n".join(key_lines(store.count_keys))
    told = {name: value(text, f"kafka_schema_registry_dek_registry_{name}") for name in KEY_COUNTS}
    assert told == {"num_keks": 2, "num_keks_shared": 1, "num_deks": 1}


def test_requests_are_counted_by_route_and_status() -> None:
    """And timed, in buckets that add up."""
    counters = Counters()
    counters(seen())
    counters(seen(took_ns=60_000_000_000))
    text = counters.text()
    labels = 'method="GET",route="/subjects"'
    assert value(text, f'sigla_requests_total{{{labels},status="200"}}') == 2
    assert value(text, f'sigla_request_duration_seconds_bucket{{{labels},le="0.001"}}') == 0
    assert value(text, f'sigla_request_duration_seconds_bucket{{{labels},le="0.0025"}}') == 1
    assert value(text, f'sigla_request_duration_seconds_bucket{{{labels},le="10.0"}}') == 1
    assert value(text, f'sigla_request_duration_seconds_bucket{{{labels},le="+Inf"}}') == 2
    assert value(text, f"sigla_request_duration_seconds_count{{{labels}}}") == 2
    assert value(text, f"sigla_request_duration_seconds_sum{{{labels}}}") == 60.0015


def test_a_strange_method_breaks_no_label() -> None:
    """A method is whatever a client sends."""
    counters = Counters()
    counters(seen(method='X"\n'))
    assert 'method="other"' in counters.text()


def test_series_of_several_registries_stand_under_one_name_each() -> None:
    """Prometheus refuses a page that tells of one metric in two places; labels tell whose a series is."""
    told = {
        "a": [
            "# HELP m About.",
            "# TYPE m counter",
            "m 1",
            'm{route="/x y"} 2',
            "# HELP n N.",
            "# TYPE n gauge",
            "n 3",
        ],
        "b": ["# HELP m About.", "# TYPE m counter", 'm{route="/z"} 4'],
        "": ["# HELP p P.", "# TYPE p gauge", "p 5"],
    }
    assert list(of_registries(told.items())) == [
        "# HELP m About.",
        "# TYPE m counter",
        'm{registry="a"} 1',
        'm{registry="a",route="/x y"} 2',
        'm{registry="b",route="/z"} 4',
        "# HELP n N.",
        "# TYPE n gauge",
        'n{registry="a"} 3',
        "# HELP p P.",
        "# TYPE p gauge",
        "p 5",
    ]
