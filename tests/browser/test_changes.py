"""What people come to change: each task by mouse on a wide light page, and by keyboard on a narrow dark one."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Come, Opens, shown
from tests.browser.filled import Registry, field, record, register
from tests.protocol.clients.server import Server, serving

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def bench() -> Iterator[Server]:
    """One registry for all of them: each task has subjects of its own."""
    with serving() as server:
        yield server


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A subject of this task alone, with words of its own."""
    return re.sub(r"\W+", "-", request.node.name.removeprefix("test_")).strip("-")


def asked(server: Registry, path: str) -> Any:
    return json.loads(server.ask("GET", path).body)


def named(subject: str) -> str:
    """A record of this task alone: what another has registered keeps its id."""
    return subject.replace("-", "_")


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def question(page: Page) -> Locator:
    return page.get_by_role("dialog")


def text(page: Page) -> Locator:
    return page.get_by_label("Text of the schema")


SELECTED = "field => field.value.slice(field.selectionStart, field.selectionEnd)"
TWO = (field("id", "string"), field("zip", "string"))


def test_a_new_version_is_refused_mended_and_registered(come: Come, bench: Registry, name: str) -> None:
    register(bench, name, record(named(name), *TWO))
    way = come(bench, f"subjects/{name}")
    page = way.page
    way.choose(page.get_by_role("link", name="New version"))
    way.write(text(page), record(named(name), *TWO, field("note", "string")))
    verdict = page.get_by_role("region", name="Verdict")
    expect(verdict).to_contain_text("Refused: 1 problem")
    expect(verdict).to_contain_text("READER_FIELD_MISSING_DEFAULT_VALUE")
    expect(verdict).to_contain_text("Give the field note a default.")
    expect(button(page, "Register")).to_be_disabled()
    way.write(
        text(page),
        record(named(name), *TWO, field("note", "string")).replace(', {"name": "note"', ',\n{\n"name": "note"'),
    )
    expect(button(page, "Line 3, column 1")).to_be_visible()
    expect(page.locator(".gutter .marked")).to_have_text("3")
    way.write(text(page), record(named(name), *TWO, field("note", "string", default="")))
    expect(verdict).to_contain_text("It would be accepted, as version 2, with a new id")
    way.choose(button(page, "Register"))
    way.choose(question(page).get_by_role("button", name="Register"))
    expect(page.get_by_text("Version 2 is registered, with the id")).to_be_visible()
    expect(page.get_by_role("heading", name="Version 2", exact=True)).to_be_visible()
    assert asked(bench, f"/subjects/{name}/versions") == [1, 2]


def test_may_i_remove_zip(come: Come, bench: Registry, name: str) -> None:
    """Asked of the editor, which writes nothing."""
    bench.ask("PUT", f"/config/{name}", {"compatibility": "FORWARD"})
    register(bench, name, record(named(name), *TWO))
    way = come(bench, f"subjects/{name}/edit")
    way.write(text(way.page), record(named(name), TWO[0]))
    verdict = way.page.get_by_role("region", name="Verdict")
    expect(verdict).to_contain_text("Version 1 cannot read data of this schema.")
    expect(verdict).to_contain_text("Keep the field zip")
    assert asked(bench, f"/subjects/{name}/versions") == [1]


def test_what_a_change_means_for_old_and_new_readers(come: Come, bench: Registry, name: str) -> None:
    """A level that permits a change does not make it safe for everybody: the verdict says for whom it is not."""
    register(bench, name, record(named(name), *TWO))
    way = come(bench, f"subjects/{name}/edit")
    verdict = way.page.get_by_role("region", name="Verdict")
    way.write(text(way.page), record(named(name), TWO[0]))
    expect(verdict).to_contain_text("It would be accepted, as version 2")
    expect(verdict).to_contain_text("BACKWARD, against version 1: the new schema must read what was written before.")
    expect(verdict).to_contain_text("New readers can read what version 1 wrote.")
    expect(verdict).to_contain_text("Old readers with version 1 may fail on what this schema writes.")
    expect(verdict).to_contain_text("BACKWARD permits it: move readers to this schema before writers.")
    expect(verdict).to_contain_text("READER_FIELD_MISSING_DEFAULT_VALUE")
    way.choose(verdict.get_by_role("button", name=re.compile(r"^Line \d+, column 7 of version 1$")))
    expect(way.page.locator("tr:focus code")).to_have_text('"name": "zip",')
    bench.ask("PUT", f"/config/{name}", {"compatibility": "NONE"})
    way.write(
        text(way.page),
        json.dumps(
            {**json.loads(record(named(name), TWO[0], field("note", "int"))), "doc": "🙂"}, ensure_ascii=False, indent=1
        ),
    )
    way.choose(verdict.get_by_role("button", name=re.compile(r"^Line \d+, column \d+$")))
    assert text(way.page).evaluate(SELECTED) == '"name": "note",'
    bench.ask("PUT", f"/config/{name}", {"compatibility": "FULL_TRANSITIVE"})
    way.write(text(way.page), record(named(name), TWO[0], field("note", "string")))
    expect(verdict).to_contain_text("Refused: 2 problems")
    expect(verdict).to_contain_text("FULL_TRANSITIVE, against all versions up to 1")
    expect(verdict).to_contain_text("New readers may fail on what version 1 wrote.")


def test_the_same_schema_with_other_metadata_is_said_to_be_that(opened: Opens, bench: Registry, name: str) -> None:
    """A config adds them, and what is written has none."""
    register(bench, name, record(named(name), *TWO))
    bench.ask("PUT", f"/config/{name}", {"defaultMetadata": {"properties": {"owner": "crm"}}})
    page = opened(bench, f"subjects/{name}/edit")
    verdict = page.get_by_role("region", name="Verdict")
    expect(verdict).to_contain_text("Its schema is that of version 1. It would have other metadata or rules")
    text(page).fill(record(named(name), *TWO, field("note", "string", default="")))
    expect(verdict).not_to_contain_text("Its schema is that of")
    expect(verdict).to_contain_text("It would be accepted, as version 2")


def test_the_place_of_a_problem_is_where_the_cursor_goes(come: Come, bench: Registry, name: str) -> None:
    way = come(bench, f"subjects/{name}/edit")
    way.write(text(way.page), '{"type": "record",\n "name": "R",\n "fields": nothing}')
    way.choose(way.page.get_by_role("button", name=re.compile("^Line 3, column")))
    assert text(way.page).evaluate("field => field.value.slice(0, field.selectionStart).split('\\n').length") == 3
    assert bench.ask("GET", f"/subjects/{name}/versions").status == 404


def test_a_new_subject_in_json_schema(come: Come, bench: Registry, name: str) -> None:
    way = come(bench, "subjects")
    page = way.page
    way.choose(page.get_by_role("link", name="New subject"))
    way.write(page.get_by_label("Name"), name)
    way.pick(page.get_by_label("Language"), "JSON")
    way.choose(button(page, "Write its schema"))
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("It would be accepted, as version 1")
    way.choose(button(page, "Register"))
    expect(question(page)).to_contain_text("It is the first version of a new subject.")
    way.choose(question(page).get_by_role("button", name="Register"))
    expect(page.get_by_role("heading", name="Version 1", exact=True)).to_be_visible()
    assert asked(bench, f"/subjects/{name}/versions/1")["schemaType"] == "JSON"


def test_a_protobuf_schema_in_normal_form_refers_to_one_that_is_picked(come: Come, bench: Registry, name: str) -> None:
    money = f"money-{name}"
    register(bench, money, 'syntax = "proto3"; package m; message Money { int64 cents = 1; }', schemaType="PROTOBUF")
    way = come(bench, f"subjects/{name}/edit?type=PROTOBUF")
    page = way.page
    schema = f'syntax = "proto3";\nimport "{money}";\nmessage Paid {{ m.Money sum = 2; string id = 1; }}\n'
    way.write(text(page), schema)
    verdict = page.get_by_role("region", name="Verdict")
    expect(verdict).to_contain_text("Refused")
    way.write(page.get_by_label("Find a schema to refer to"), money[:20])
    way.choose(page.get_by_role("button", name=f"{money} version 1"))
    expect(verdict).to_contain_text("It would be accepted, as version 1")
    way.choose(page.get_by_label("Normalise"))
    way.choose(button(page, "Show the normal form"))
    expect(text(page)).to_have_value(re.compile("string id = 1;.*sum = 2;", re.DOTALL))
    way.choose(button(page, "Register"))
    expect(question(page)).to_contain_text("It refers to 1 other schema.")
    way.choose(question(page).get_by_role("button", name="Register"))
    expect(page.get_by_role("link", name=f"{money} version 1").first).to_be_visible()
    assert asked(bench, f"/subjects/{name}/versions/1")["references"] == [
        {"name": money, "subject": money, "version": 1}
    ]


def test_a_version_is_deleted_and_restored(come: Come, bench: Registry, name: str) -> None:
    register(bench, name, record(named(name), *TWO))
    id = register(bench, name, record(named(name), *TWO, field("note", "string", default="")))["id"]
    way = come(bench, f"subjects/{name}/versions/2")
    page = way.page
    way.choose(button(page, "Delete version 2"))
    expect(question(page)).to_contain_text("1 version of the subject stays.")
    expect(question(page)).to_contain_text("No other schema refers to it.")
    way.choose(question(page).get_by_role("button", name="Delete"))
    expect(page.get_by_text("is soft-deleted.", exact=False).first).to_be_visible()
    assert asked(bench, f"/subjects/{name}/versions") == [1]
    way.choose(page.get_by_role("status").get_by_role("button", name="Restore version 2"))
    expect(page.get_by_text("Restore version 2: done.")).to_be_visible()
    assert asked(bench, f"/subjects/{name}/versions/latest")["id"] == id


def test_what_is_referred_to_cannot_be_deleted_and_it_is_told_by_whom(come: Come, bench: Registry, name: str) -> None:
    register(bench, name, record("Part", *TWO, namespace=named(name)))
    for at in range(2):
        whole = f"whole-{at}-{name}"
        register(bench, whole, record(f"W{at}", field("part", f"{named(name)}.Part")),
                 references=[{"name": f"{named(name)}.Part", "subject": name, "version": 1}])  # fmt: skip
    way = come(bench, f"subjects/{name}")
    way.choose(button(way.page, "Delete subject"))
    expect(question(way.page)).to_contain_text("2 subjects refer to it, with 2 versions.")
    expect(question(way.page).get_by_role("button", name="Delete")).to_be_disabled()
    way.choose(question(way.page).get_by_role("link", name=f"whole-1-{name} version 1"))
    expect(way.page.locator("h1")).to_have_text(f"whole-1-{name}")


def test_a_subject_is_restored(come: Come, bench: Registry, name: str) -> None:
    """Its versions keep their ids: what was deleted by mistake can be read again by name as well."""
    ids = [
        register(bench, name, record(named(name), *TWO, *more))["id"]
        for more in ((), (field("n", "string", default=""),))
    ]
    bench.ask("DELETE", f"/subjects/{name}")
    way = come(bench, f"subjects/{name}")
    way.choose(button(way.page, "Restore subject"))
    expect(question(way.page)).to_contain_text("2 versions will be registered again, oldest first.")
    way.choose(question(way.page).get_by_role("button", name="Restore"))
    expect(way.page.get_by_text("2 versions of", exact=False).first).to_be_visible()
    versions = asked(bench, f"/subjects/{name}/versions")
    assert [asked(bench, f"/subjects/{name}/versions/{each}")["id"] for each in versions] == ids


def test_a_subject_is_deleted_for_good(come: Come, bench: Registry, name: str) -> None:
    register(bench, name, record(named(name), *TWO))
    bench.ask("DELETE", f"/subjects/{name}")
    way = come(bench, f"subjects?deleted=true&q={name}")
    way.choose(way.page.get_by_role("link", name=name))
    way.choose(button(way.page, "Delete subject for good"))
    expect(question(way.page)).to_contain_text("1 version goes, with the subject's own config and mode.")
    expect(question(way.page)).to_contain_text("This cannot be undone.")
    way.choose(question(way.page).get_by_role("button", name="Delete for good"))
    expect(way.page.get_by_text(f"{name} is gone for good")).to_be_visible()
    assert bench.ask("GET", f"/subjects/{name}/versions?deleted=true").status == 404


def test_a_level_is_changed_and_changed_back(come: Come, bench: Registry, name: str) -> None:
    register(bench, name, record(named(name), *TWO))
    way = come(bench, f"subjects/{name}")
    page = way.page
    shown(way, "compatibility and mode")
    way.choose(button(page, "Change config"))
    way.choose(question(page).get_by_role("button", name="Cancel"))
    expect(button(page, "Change config")).to_be_focused()
    way.choose(button(page, "Change config"))
    expect(question(page)).to_contain_text("It holds for this subject alone.")
    way.pick(question(page).get_by_label("Compatibility"), "FULL")
    way.choose(question(page).get_by_role("button", name="Change"))
    expect(page.get_by_role("region", name="Compatibility")).to_contain_text("FULL")
    expect(page.get_by_role("region", name="Compatibility")).to_contain_text("set for this subject")
    assert asked(bench, f"/config/{name}") == {"compatibilityLevel": "FULL"}
    expect(button(page, "Change config")).to_be_focused()
    expect(button(page, "Change it back")).to_be_in_viewport()
    way.choose(button(page, "Change it back"))
    expect(page.get_by_role("region", name="Compatibility")).to_contain_text("as the registry has it from the start")
    assert bench.ask("GET", f"/config/{name}").status == 404


def test_a_context_is_made_read_only(come: Come, bench: Registry, name: str) -> None:
    context = f".{name[-20:]}"
    register(bench, f":{context}:a", record(named(name), *TWO))
    register(bench, f":{context}:b", record(named(name), *TWO))
    bench.ask("PUT", f"/mode/:{context}:b", {"mode": "READWRITE"})
    way = come(bench, "contexts")
    page = way.page
    way.choose(page.get_by_role("row", name=context).get_by_role("button", name="Change mode"))
    expect(question(page)).to_contain_text("It holds for 2 subjects, except where 1 scope has a setting of its own.")
    way.pick(question(page).get_by_label("Mode"), "READONLY")
    way.choose(question(page).get_by_role("button", name="Change"))
    expect(page.get_by_text(f"The mode of the context {context} is READONLY now.")).to_be_visible()
    assert asked(bench, f"/mode/:{context}:") == {"mode": "READONLY"}


def test_a_refusal_is_told_in_the_question_and_nothing_is_lost(come: Come, bench: Registry, name: str) -> None:
    """Another change was faster: what was written stays, and what the registry said of it stands beside it."""
    register(bench, name, record(named(name), *TWO))
    way = come(bench, f"subjects/{name}/edit")
    page = way.page
    wanted = record(named(name), *TWO, field("note", "string", default=""))
    way.write(text(page), wanted)
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("It would be accepted, as version 2")
    way.choose(button(page, "Register"))
    bench.ask("PUT", f"/mode/{name}", {"mode": "READONLY"})
    way.choose(question(page).get_by_role("button", name="Register"))
    expect(question(page).get_by_role("alert")).to_contain_text("42205")
    page.keyboard.press("Escape")
    expect(text(page)).to_have_value(wanted)


def test_versions_that_are_far_back_are_listed_and_opened(come: Come, bench: Registry, name: str) -> None:
    """The newest ones at first; and a question counts all of them."""
    bench.ask("PUT", f"/config/{name}", {"compatibility": "NONE"})
    for at in range(23):
        register(bench, name, record(named(name), field(f"f{at}", "string")))
    way = come(bench, f"subjects/{name}")
    page = way.page
    listed = page.get_by_role("navigation", name="Versions").get_by_role("listitem")
    expect(listed).to_have_count(20)
    way.choose(button(page, "Show more"))
    expect(listed).to_have_count(23)
    way.choose(page.get_by_role("link", name="Version 2", exact=True))
    expect(page.get_by_role("heading", name="Version 2", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="What has changed since version 1")).to_be_visible()
    way.choose(button(page, "Delete subject"))
    # Where each read costs money the newest 20 are counted.
    told = re.compile("(23 versions|All versions up to version 23, at least 20 of them,) will be soft-deleted")
    expect(question(page)).to_contain_text(told)
    page.goto(f"{bench.url}/console/subjects/{name}/versions/24")
    expect(page.get_by_role("alert")).to_have_text("There is no version 24 of this subject.")


PART_OF_MANY: Any = {
    "latest": 4711,
    "versions": {"stored": 20, "active": 18, "highest": 4712, "more": True},
    "referrers": {"found": [], "more": False},
    "reads": {"versions": 7, "readers": 0, "since": "2026-11-28"},
}
"""What hangs on a subject where each read costs money."""


@pytest.mark.parametrize(
    "asks, changed, says",
    [
        ("Delete subject", {}, "All versions up to version 4711, at least 18 of them, will be soft-deleted."),
        ("Delete subject", {}, "Nobody has read the newest 7 versions by their ids since 2026-11-28"),
        ("Delete subject", {"active": 0}, "All versions up to version 4711 will be soft-deleted."),
        ("Delete version 2", {}, "At least 18 versions of the subject stay."),
        ("Delete version 2", {"active": 0}, "At least 1 version of the subject stays."),
        ("Delete version 2", {}, "Nobody has read it by its ids since 2026-11-28"),
    ],
)
def test_a_question_about_many_versions_says_what_it_knows(
    opened: Opens, registry: Server, asks: str, changed: dict[str, int], says: str
) -> None:
    told = {**PART_OF_MANY, "subject": "customers-value", "versions": {**PART_OF_MANY["versions"], **changed}}
    page = opened(registry, None)
    page.route(re.compile(r"/stakes(\?.*)?$"), lambda route: route.fulfill(json=told))
    page.goto(f"{registry.url}/console/subjects/customers-value")
    button(page, asks).click()
    expect(question(page)).to_contain_text(says)
