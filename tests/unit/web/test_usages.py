"""Who reads the versions of a subject, over HTTP: every read by id that was made is in the answer, with its limits."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import pytest

from sigla.auth.permissions import Principal, reach
from sigla.changes.kinds import DAY_MS
from sigla.errors import StoreError
from sigla.model import BodyKey, SchemaId
from sigla.ports.audits import FoundRecords, Occurrence
from sigla.ports.clock import day_of
from sigla.ports.reads import NoReads
from sigla.registry import Options, Registry
from sigla.registry.audits import packed
from sigla.registry.usages import (
    AUDIT_DAMAGED,
    AUDITED,
    BY_ID_ALONE,
    CACHING,
    LAST_WINDOW,
    NEVER_COUNTED,
    NO_AUDIT,
    NO_RETENTION,
    NOT_COUNTING,
    OWN_ALONE,
    PLACES_HIDDEN,
    SINCE,
)
from sigla.rules import names
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from sigla.web.threads.read_notes import ReadNotes
from tests.build import NOW, FixedClock, Recognises, a_draft, a_text
from tests.unit.auth.guarded import KINDS
from tests.unit.web.conftest import Client

TODAY = day_of(NOW)
ORDERS, PAYMENTS, ABROAD = (names.subject(name) for name in ("orders-value", "payments-value", ":.eu:orders-value"))
EVERY = (SINCE.format(since=TODAY, days=400), NO_AUDIT, LAST_WINDOW, BY_ID_ALONE, CACHING)


@dataclass
class Served:
    """A registry that asks for keys, and counts."""

    registry: Registry
    notes: ReadNotes
    clock: FixedClock

    def ask(self, who: str, target: str, method: str = "GET", **headers: str) -> Any:
        """who: a name, what it may, and the prefixes that it is good for; empty where no keys are asked for."""
        authenticate = Recognises(principal) if who else None
        client = Client(
            app.build(self.registry, options=app.HttpOptions(authenticate=authenticate, watchers=(self.notes,)))
        )
        answer = client(method, target, headers={"authorization": who, **headers})
        self.notes.settle(10)
        return answer

    def usage(self, target: str = "/subjects/orders-value/usage", who: str = "root admin") -> Any:
        return self.ask(who, target).json

    def reads(self, who: str = "root admin") -> list[Any]:
        """What is told of the one version of `orders-value`."""
        (version,) = self.usage(who=who)["versions"]
        return list(version["reads"])


def principal(header: bytes | None) -> Principal:
    name, kind, *prefixes = (header or b"").decode().split()
    return Principal(name, KINDS[kind], reach(prefixes))


@pytest.fixture
def served() -> Iterator[Served]:
    """Version 1 of `orders-value` has the id 1, which `payments-value` has, too."""
    clock = FixedClock()
    with EmbeddedStore() as store:
        options = Options(counts_reads=True)
        registry = Registry(
            store.catalog,
            store.bodies,
            clock,
            options,
            principals=store.principals,
            reads=store.reads,
            audits=store.audits,
        )
        for subject in (ORDERS, PAYMENTS):
            registry.register(subject, a_draft(a_text()))
        notes = ReadNotes(store.reads, clock, lambda _: None, names_ms=400 * DAY_MS, gathered_s=0)
        with closing(notes):
            yield Served(registry, notes, clock)


def test_who_looks_a_schema_up_on_a_page_of_the_registry_is_not_counted(served: Served) -> None:
    """Else a person who looks there would become the answer. A page of another site is a client as any other."""
    for target in ("/schemas/ids/1", "/schemas/ids/1/schema"):
        served.ask("ada admin", target, **{"sec-fetch-site": "same-origin"})
    assert served.reads() == []
    served.ask("shop reader", "/schemas/ids/1", **{"sec-fetch-site": "cross-site"})
    assert [each["name"] for each in served.reads()] == ["shop"]


def test_a_read_is_told_with_day_token_name_and_the_subject_that_was_named(served: Served) -> None:
    served.ask("billing reader", "/schemas/ids/1?subject=orders-value")
    (kept,) = served.registry.principals.names(NOW)
    assert served.usage() == {
        "subject": "orders-value",
        "counting": True,
        "since": TODAY,
        "versions": [
            {
                "version": 1,
                "id": 1,
                "deleted": False,
                "reads": [{"day": TODAY, "by": kept.token, "name": "billing", "subject": "orders-value"}],
                "records": [],
            }
        ],
        "limits": list(EVERY),
    }


@pytest.mark.parametrize(
    "target, named",
    [
        ("/schemas/ids/1", None),
        ("/schemas/ids/1?subject=orders-value", "orders-value"),
        ("/schemas/ids/1?subject=:.:orders-value", "orders-value"),
        ("/schemas/ids/1?subject=nobody-has-it", None),
        ("/schemas/ids/1?subject=orders-value&format=resolved", "orders-value"),
        ("/schemas/ids/1?fetchMaxId=true", None),
        ("/schemas/ids/1/schema", None),
        ("/schemas/ids/1/schema?subject=orders-value", "orders-value"),
        ("/contexts/.eu/schemas/ids/1?subject=orders-value", ":.eu:orders-value"),
    ],
)
def test_every_way_to_read_an_id_counts(served: Served, target: str, named: str | None) -> None:
    served.registry.register(ABROAD, a_draft(a_text("Abroad")))
    assert served.ask("ada reader", target).status == 200
    place = "/subjects/:.eu:orders-value/usage" if named == ABROAD.qualified else "/subjects/orders-value/usage"
    ((read,),) = [version["reads"] for version in served.usage(place)["versions"]]
    assert read.get("subject") == named


def test_a_read_by_guid_counts_for_the_id_that_answers(served: Served) -> None:
    guid = served.ask("ada reader", "/subjects/orders-value/versions/1").json["guid"]
    answer = served.ask("ada reader", f"/schemas/guids/{guid}").json
    assert not {"subject", "version", "id"} & set(answer)
    (read,) = served.reads()
    assert (read["name"], "subject" in read) == ("ada", False)


def test_an_answer_that_the_client_has_already_counts(served: Served) -> None:
    """It asked what the id means."""
    tag = served.ask("ada reader", "/schemas/ids/1").headers["etag"]
    assert served.ask("bob reader", "/schemas/ids/1", **{"if-none-match": tag}).status == 304
    assert {read["name"] for read in served.reads()} == {"ada", "bob"}


def test_reads_that_tell_no_schema_by_its_id_do_not_count(served: Served) -> None:
    """Tools list, and registrations go on: neither says that data of this schema are read."""
    for target in (
        "/schemas/ids/1/subjects",
        "/schemas/ids/1/versions",
        "/schemas/ids/7",
        "/subjects/orders-value/versions/1",
        "/subjects/orders-value/versions/latest",
        "/subjects/orders-value/usage",
        "/schemas",
    ):
        served.ask("ada admin", target)
    assert served.reads() == []


def test_a_read_that_is_refused_does_not_count(served: Served) -> None:
    for who, target, status in (
        ("eve reader payments-", "/schemas/ids/1?subject=orders-value", 403),
        ("eve reader other-", "/schemas/ids/1", 404),
    ):
        assert served.ask(who, target).status == status
    assert served.reads() == []


def test_whoever_is_asked_for_no_key_is_anyone(served: Served) -> None:
    served.ask("", "/schemas/ids/1")
    assert served.reads() == [{"day": TODAY, "by": "anyone"}]


def test_the_last_day_of_each_principal_is_told_the_latest_first(served: Served) -> None:
    for who in ("ada reader", "bob reader", "ada reader"):
        served.ask(who, "/schemas/ids/1")
        served.clock.time += DAY_MS
    assert [(read["name"], read["day"]) for read in served.reads()] == [
        ("ada", day_of(NOW + 2 * DAY_MS)),
        ("bob", day_of(NOW + DAY_MS)),
    ]


def test_versions_are_told_with_those_that_are_soft_deleted_or_one_of_them(served: Served) -> None:
    """What shall go for good was deleted softly before."""
    served.registry.change_config(ORDERS, {"level": "NONE"})
    served.registry.register(ORDERS, a_draft(a_text("Another")))
    served.registry.delete_version(ORDERS, names.version("1"))
    shown = [(each["version"], each["id"], each["deleted"]) for each in served.usage()["versions"]]
    assert shown == [(1, 1, True), (2, 2, False)]
    for asked, number in (("1", 1), ("2", 2), ("latest", 2), ("-1", 2)):
        (one,) = served.usage(f"/subjects/orders-value/usage?version={asked}")["versions"]
        assert one["version"] == number


def test_a_subject_or_a_version_that_is_not_there_is_refused(served: Served) -> None:
    for target, refusal in (
        ("/subjects/nope/usage", (404, 40401, "Subject 'nope' not found.")),
        ("/subjects/orders-value/usage?version=9", (404, 40402, "Version 9 not found.")),
    ):
        assert served.ask("root admin", target).refusal == refusal
    assert served.ask("root admin", "/subjects/orders-value/usage?version=x").refusal[:2] == (422, 42202)


def test_a_reader_is_told_its_own_name_alone(served: Served) -> None:
    """Others have a token, the same as in histories; administrators are told who it is."""
    for who in ("ada reader", "bob reader"):
        served.ask(who, "/schemas/ids/1")
    names_told = [read.get("name") for read in served.reads("ada reader orders-")]
    assert sorted(names_told, key=str) == [None, "ada"]
    assert {read["name"] for read in served.reads("eve admin orders-")} == {"ada", "bob"}


def test_a_narrow_key_is_not_told_for_which_subjects_outside_an_id_was_read(served: Served) -> None:
    """The id is in both: a read for the other one says that this one exists."""
    for subject in ("orders-value", "payments-value"):
        served.ask("ada reader", f"/schemas/ids/1?subject={subject}")
    assert [read["subject"] for read in served.reads()] == ["orders-value", "payments-value"]
    assert [read["subject"] for read in served.reads("eve admin orders-")] == ["orders-value"]
    assert OWN_ALONE in served.usage(who="eve admin orders-")["limits"]
    assert served.ask("eve admin orders-", "/subjects/payments-value/usage").status == 403


def test_a_forgotten_name_is_a_token(served: Served) -> None:
    served.ask("ada reader", "/schemas/ids/1")
    served.registry.principals.forget("ada")
    (read,) = served.reads()
    assert set(read) == {"day", "by"}


def test_an_alias_tells_of_its_target(served: Served) -> None:
    served.registry.change_config(names.subject("also-orders"), {"alias": "orders-value"})
    assert served.usage("/subjects/also-orders/usage")["subject"] == "orders-value"


def test_without_a_count_the_answer_says_so_and_never_that_nobody_reads(served: Served) -> None:
    told = served.usage()
    assert told["versions"][0]["reads"] == []
    assert "since" not in told
    assert told["limits"][0] == NEVER_COUNTED
    served.registry = Registry(served.registry.catalog, served.registry.bodies, served.clock)
    off = served.usage()
    assert (off["counting"], off["limits"][0]) == (False, NOT_COUNTING)


def delete(served: Served, target: str, who: str = "root admin") -> tuple[int, list[dict[str, object]]]:
    """The status, and what the log was told besides."""
    told: list[dict[str, object]] = []
    options = app.HttpOptions(authenticate=Recognises(principal), log_failure=told.append)
    client = Client(app.build(served.registry, options=options))
    return client("DELETE", target, headers={"authorization": who, "x-request-id": "one"}).status, told


@pytest.mark.parametrize("target", ["/subjects/orders-value", "/subjects/orders-value/versions/latest"])
def test_the_log_says_that_a_version_was_deleted_that_is_read(served: Served, target: str) -> None:
    """Softly, and once more when it goes for good: a reader that is started then fails."""
    served.ask("billing reader", "/schemas/ids/1?subject=orders-value")
    line = {
        "event": "deleted-in-use",
        "message": f"Of orders-value versions were deleted that are in use (1): last read by billing on {TODAY}.",
        "subject": "orders-value",
        "versions": [1],
        "last_read": TODAY,
        "request_id": "one",
    }
    assert delete(served, target) == (200, [line])
    assert delete(served, "/subjects/orders-value?permanent=true") == (200, [line])


def test_the_log_says_nothing_of_what_is_not_read_or_not_deleted(served: Served) -> None:
    assert delete(served, "/subjects/orders-value/versions/1") == (200, [])
    served.ask("billing reader", "/schemas/ids/1")
    assert delete(served, "/subjects/payments-value", "eve reader") == (403, [])
    assert delete(served, "/subjects/payments-value/versions/9") == (404, [])
    assert delete(served, "/subjects/nope") == (404, [])


def test_reads_that_cannot_be_told_hinder_no_delete(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(*_: object) -> Any:
        raise StoreError("the table does not answer")

    served.ask("billing reader", "/schemas/ids/1")
    monkeypatch.setattr(NoReads, "last", silent)
    served.registry = replace(served.registry, reads=NoReads())
    assert delete(served, "/subjects/orders-value/versions/1") == (200, [])


# --- what an audit found ---------------------------------------------------------------------------------------------

WEEK_MS = 7 * DAY_MS


def audited(served: Served, *found: tuple[str, int | None], retention: Mapping[str, int] | None = None) -> None:
    """An audit found three records of the id 1 in each of these topics, the last one at a time."""
    records = [Occurrence(BodyKey(".", SchemaId(1)), topic, 3, last) for topic, last in found]
    served.registry.audits.put(packed(FoundRecords(NOW, ("/lake",), records, retention or {})))


def test_records_of_it_are_told_with_their_topic_and_how_long_that_keeps_them(served: Served) -> None:
    audited(served, ("payments", None), ("orders", NOW - DAY_MS), retention={"orders": WEEK_MS})
    told = served.usage()
    assert told["audit"] == {"at": "2023-11-14T22:13:20.000Z", "places": ["/lake"]}
    assert told["versions"][0]["records"] == [
        {"topic": "orders", "rows": 3, "last": "2023-11-13T22:13:20.000Z", "retentionMs": WEEK_MS},
        {"topic": "payments", "rows": 3},
    ]
    assert AUDITED.format(day=TODAY, places="/lake") in told["limits"]
    assert [limit for limit in told["limits"] if "keeps records" in limit] == [NO_RETENTION.format(topic="payments")]


def test_a_narrow_key_is_told_of_topics_of_its_subjects_alone(served: Served) -> None:
    """The id is in both; who may not read `payments-value` is not told that there is such a topic."""
    audited(served, ("payments", NOW), ("orders", NOW))
    told = served.usage(who="eve admin orders-")
    assert [records["topic"] for records in told["versions"][0]["records"]] == ["orders"]
    assert "payments" not in " ".join(told["limits"])


def test_where_records_lie_is_told_to_administrators(served: Served) -> None:
    """Readers have no need of the names of buckets."""
    audited(served, ("orders", NOW))
    told = served.usage(who="ada reader")
    assert told["audit"]["places"] == []
    assert AUDITED.format(day=TODAY, places=PLACES_HIDDEN) in told["limits"]


def test_the_log_tells_of_records_of_what_was_deleted(served: Served) -> None:
    audited(served, ("orders", NOW))
    status, (line,) = delete(served, "/subjects/orders-value/versions/1")
    assert (status, line["topics"], "last_read" in line) == (200, ["orders"], False)
    assert line["message"] == "Of orders-value versions were deleted that are in use (1): found in records of orders."


def test_a_damaged_audit_is_named_and_hinders_nothing(served: Served) -> None:
    served.registry.audits.put(b"no audit")
    assert AUDIT_DAMAGED in served.usage()["limits"]
    assert delete(served, "/subjects/orders-value/versions/1") == (200, [])
