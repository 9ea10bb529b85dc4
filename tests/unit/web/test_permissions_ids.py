"""How far an id that is brought along may be above the others: ids belong to everybody in a context."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sigla.model import SchemaId
from tests.build import a_text
from tests.unit.auth.guarded import DOORS, Guarded, cut, guarded

FAR = 2**31 - 1
FURTHEST = 1_000_000


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Guarded]:
    keys, secrets = cut(tmp_path)
    with guarded(keys, secrets) as world:
        yield world


def importing(subject: str, id: int, text: str = "", version: int = 1) -> tuple[str, str, dict[str, Any]]:
    body = {"schema": text or a_text(subject.replace("-", "")), "id": id, "version": version}
    return "POST", f"/subjects/{subject}/versions", body


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("who, scope, mode", [("admin-of-a", "/a-new", "IMPORT"), ("admin", "/:.__GLOBAL:", "FORWARD")])
def test_who_may_change_some_subjects_does_not_end_the_ids_of_all(
    world: Guarded, door: str, who: str, scope: str, mode: str
) -> None:
    """One registration with the highest id there is, and no client in the context could register any more."""
    highest = world.store.catalog.max_id(".")
    with DOORS[door](world) as ask:
        assert ask(who, "PUT", f"/mode{scope}", {"mode": mode}).status == 200
        refused = ask("admin-of-a", *importing("a-new", FAR))
        assert (refused.status, refused.json["error_code"]) == (403, 40301)
        assert refused.json["message"] == (
            f"User is denied operation Write on Subject: a-new: id {FAR} is more than {FURTHEST} above {highest}, the "
            "highest id of its context; only a key for all subjects may import it"
        )
        assert world.store.catalog.max_id(".") == highest
        assert world.store.bodies.last(".") < FURTHEST, "nothing was written"
        assert ask("writer-of-a", *importing("a-new", highest + FURTHEST + 1)).status == 403
        assert ask("writer-of-a", *importing("a-new", highest + FURTHEST)).status == 200


def test_whoever_answers_for_the_whole_registry_imports_any_id(world: Guarded) -> None:
    """A registry whose ids are high comes in by an import."""
    with DOORS["local"](world) as ask:
        assert ask("admin", "PUT", "/mode/a-new", {"mode": "IMPORT"}).status == 200
        assert ask("writer", *importing("a-new", FAR)).json["id"] == FAR


def test_many_leaps_do_not_end_the_ids_of_all_either(world: Guarded) -> None:
    """Two thousand registrations, each a million farther, took some ten seconds."""
    half = 2**30 - 1
    world.store.catalog.raise_counter(".", SchemaId(half - 1))
    with DOORS["local"](world) as ask:
        assert ask("admin-of-a", "PUT", "/mode/a-new", {"mode": "IMPORT"}).status == 200
        assert ask("writer-of-a", *importing("a-new", half)).status == 200
        refused = ask("writer-of-a", *importing("a-new", half + 1, a_text("B"), 2))
        assert refused.json["error_code"] == 40301
        assert f"id {half + 1} is more than 0 above {half}, the highest id" in refused.json["message"]
        assert ask("writer-of-a", *importing("a-new", 77, a_text("B"), 2)).status == 200
        assert ask("writer", "POST", "/subjects/b-new/versions", {"schema": a_text("New")}).json["id"] == half + 1


def test_an_id_that_was_written_over_is_there_for_those_alone_who_had_it(world: Guarded) -> None:
    """No version has it any more; for whom it is there, says the subject that registered it first (PERM-4)."""
    with DOORS["local"](world) as ask:
        for subject, id in (("a-new", 50), ("b-new", 60)):
            assert ask("admin", "PUT", f"/mode/{subject}", {"mode": "IMPORT"}).status == 200
            for at, text in enumerate(("First", "Second")):
                assert ask("admin", *importing(subject, id + at, a_text(subject[0] + text))).status == 200
        for id, owner in ((50, "a"), (60, "b")):
            for who in ("admin", "reader-of-a", "reader-of-z"):
                seen = 200 if who == "admin" or (owner == "a" and who == "reader-of-a") else 404
                guid = ask("admin", "GET", f"/schemas/ids/{id}").json["guid"]
                for target in (
                    f"ids/{id}",
                    f"ids/{id}/schema",
                    f"ids/{id}/subjects?deleted=true",
                    f"ids/{id}/versions?deleted=true",
                    f"guids/{guid}",
                ):
                    assert ask(who, "GET", f"/schemas/{target}").status == seen, (who, target)
                known = ask(who, "GET", f"/schemas/guids?guids={guid}").json
                assert len(known) == (seen == 200), who


def test_a_verdict_does_not_tell_that_others_have_the_words(world: Guarded) -> None:
    """Who registers them gets their id (PERM-7): who only asks, and may not write, could try what others have."""
    with DOORS["local"](world) as ask:
        for who, sees in (("admin", 2), ("reader-of-a", None), ("writer-of-a", None)):
            told = ask(who, "POST", "/console/api/subjects/a-new/verdict", {"schema": a_text("B")})
            assert (told.status, told.json["accepted"], told.json.get("id")) == (200, True, sees), who
        own = ask("reader-of-a", "POST", "/console/api/subjects/a-new/verdict", {"schema": a_text("A")})
        assert own.json["id"] == 1
