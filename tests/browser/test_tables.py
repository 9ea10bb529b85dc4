"""What stands in tables: in words, whole, and where it belongs."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NARROW_AND_DARK, Look, Opens, settled
from tests.browser.filled import field, record, register
from tests.protocol.clients.server import Server, serving

pytestmark = pytest.mark.process

BEYOND = "each => each.scrollWidth - each.clientWidth"


def test_the_log_says_in_words_what_was_done_and_for_good(opened: Opens) -> None:
    with serving() as server:
        register(server, ":.eu:a", '"int"')
        server.ask("DELETE", "/subjects/:.eu:a/versions/1")
        server.ask("DELETE", "/subjects/:.eu:a/versions/1?permanent=true")
        kek = {"name": "customers", "kmsType": "local-kms", "kmsKeyId": "masters/1"}
        assert server.ask("POST", "/dek-registry/v1/keks", kek).status == 200
        dek = {"subject": "a", "encryptedKeyMaterial": "AAAA"}
        assert server.ask("POST", "/dek-registry/v1/keks/customers/deks", dek).status == 200
        to = {"name": "copy", "config": {"schema.registry.url": "http://127.0.0.1:1"}}
        assert server.ask("POST", "/exporters", to).status == 200
        page = opened(server, "log")
        did = page.get_by_role("region", name="Log").locator("td.did")
        expect(did).to_have_text(
            [
                "changed the exporter",
                "changed a DEK under the KEK",
                "changed the KEK",
                "deleted version 1 for good",
                "deleted version 1",
                "made the contextregistered version 1",
            ]
        )


def test_a_name_without_an_end_leaves_a_table_within_its_window(opened: Opens, look: Look) -> None:
    with serving() as server:
        name = "a" * 240
        register(server, name, record("Long", field("b" * 240, "string")))
        for path, label in (("log", "Log"), ("subjects", "Subjects"), (f"subjects/{name}", "Fields")):
            page = opened(server, path, look)
            table = page.locator(f".scroll[aria-label={label}]")
            expect(table).to_contain_text(name[:1] * 240 if label != "Fields" else "b" * 240)
            assert table.evaluate(BEYOND) == 0, path


def test_what_a_button_of_a_row_does_stands_in_one_line(registry: Server, opened: Opens) -> None:
    page = opened(registry, "contexts", Look(900, 800, "light"))
    settled(page)
    button = page.get_by_role("button", name="Change config").first
    assert button.evaluate("each => each.clientHeight / parseFloat(getComputedStyle(each).lineHeight)") < 1.5


def test_on_a_telephone_what_is_said_of_a_field_is_below_its_name(registry: Server, opened: Opens) -> None:
    page = opened(registry, "subjects/customers-value", NARROW_AND_DARK)
    settled(page)
    left = "each => each.getBoundingClientRect().left + parseFloat(getComputedStyle(each).paddingLeft)"
    record_name = page.get_by_role("row", name="com.acme.Customer record").locator("th").evaluate(left)
    field_row = page.get_by_role("row", name="name string")
    name, type = (field_row.locator(cell).first.evaluate(left) for cell in ("th", "td"))
    assert record_name < name == type


def test_a_schema_of_more_fields_than_are_told_is_not_said_to_have_none_of_a_name(
    registry: Server, opened: Opens
) -> None:
    page = opened(registry, None)
    told = [{"depth": 0, "name": f"f{at}", "what": "field", "path": f"f{at}", "since": 1} for at in range(5000)]
    page.route("**/fields/1", lambda route: route.fulfill(json={"found": told}))
    page.goto(f"{registry.url}/console/subjects/orders-value/versions/1")
    expect(page.get_by_text("500 of more than 5000 are shown.")).to_be_visible()
    page.get_by_label("Find a field").fill("f5000")
    expect(page.get_by_text("None of the first 5000 fields has that in its name.")).to_be_visible()
