"""Registries whose API is smaller: Karapace, and Confluent's of years ago."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from sigla.journal.replay import State
from sigla.model import GLOBAL
from sigla.remote import state
from sigla.remote.failures import RemoteMisused
from tests.build import FixedClock
from tests.unit.cli.answering import Answer, behind_a_url

FIRST, SECOND, OTHER = '"string"', '["null","string"]', '"int"'

STORED: Mapping[tuple[str, int], tuple[int, str, bool]] = {
    ("orders-value", 1): (1, FIRST, True),
    ("orders-value", 2): (7, SECOND, False),
    ("a/b", 1): (3, OTHER, False),
}
"""Subject and version → id, text, and whether it is soft-deleted."""

NO_SUBJECT = (404, {"error_code": 40401, "message": "Subject not found."})
NO_PAGE = (404, {"error_code": 404, "message": "HTTP 404 Not Found"})
Told = tuple[int, Any]


class OldRegistry:
    """Answers as they do: no contexts, parameters of later releases ignored, and no version says that it is deleted."""

    def __init__(self, *, lists: bool = True, modes: bool = True, own_modes: str = "", mode: str = "READWRITE") -> None:
        self.lists = lists
        self.modes = modes
        self.own_modes = own_modes
        self.mode = mode

    def __call__(self, target: str, _: str) -> tuple[int, str]:
        parts = urlsplit(target)
        deleted = dict(parse_qsl(parts.query)).get("deleted") == "true"
        status, told = self.answer([part.replace("%2F", "/") for part in parts.path.strip("/").split("/")], deleted)
        return status, json.dumps(told)

    def answer(self, path: list[str], deleted: bool) -> Told:
        seen = {place: stored for place, stored in STORED.items() if deleted or not stored[2]}
        subjects = {subject for subject, _ in seen}
        match path:
            case ["schemas"] if self.lists:
                return 200, [self.version(*place) for place in seen]
            case ["schemas", "ids", id]:
                return 200, {"schema": "", "maxId": 9 if id == "7" else 0}
            case ["subjects"]:
                return 200, sorted(subjects)
            case ["subjects", subject, "versions"]:
                numbers = [number for name, number in seen if name == subject]
                return (200, numbers) if numbers else NO_SUBJECT
            case ["subjects", subject, "versions", number]:
                return 200, self.version(subject, int(number))
            case ["config"]:
                return 200, {"compatibilityLevel": "BACKWARD"}
            case ["config", "orders-value"]:
                return 200, {"compatibilityLevel": "FULL"}
            case ["config", _]:
                return NO_SUBJECT
            case ["mode"] if self.modes:
                return 200, {"mode": self.mode}
            case ["mode", subject] if self.modes:
                return (200, {"mode": self.own_modes}) if subject in subjects and self.own_modes else NO_SUBJECT
        return NO_PAGE

    def version(self, subject: str, number: int) -> dict[str, Any]:
        id, text, _ = STORED[subject, number]
        return {"subject": subject, "version": number, "id": id, "schema": text, "references": None}


OLD = {
    "karapace": OldRegistry(own_modes="READWRITE"),
    "confluent 5.5": OldRegistry(),
    "confluent 5.0": OldRegistry(lists=False, modes=False),
}


def read(answer: Answer) -> State:
    with behind_a_url(answer) as url:
        return state.read(url, "", FixedClock(), lambda *_: None)


@pytest.mark.parametrize("answer", OLD.values(), ids=OLD)
def test_a_registry_without_contexts_or_modes_is_imported(answer: OldRegistry) -> None:
    """All that it has is in the default context and may be written to; what was deleted stays deleted."""
    state = read(answer)
    found = {
        (str(put.subject), put.version): (put.id, put.schema.text, put.deleted)
        for puts in state.subjects.values()
        for put in puts
    }
    assert found == STORED
    assert state.highest == {GLOBAL.context: 9}
    levels = {str(scope): each.config and each.config.level for scope, each in state.settings.items()}
    assert levels == {"orders-value": "FULL"}
    assert state.contexts == ()


def test_a_mode_that_every_subject_answers_with_is_not_its_own() -> None:
    """Else making the registry READONLY would change nothing for what was imported from Karapace."""
    assert [each.mode for each in read(OldRegistry(own_modes="READWRITE")).settings.values()] == [None]


def test_a_mode_that_differs_is_kept() -> None:
    modes = {str(scope): each.mode for scope, each in read(OldRegistry(own_modes="READONLY")).settings.items()}
    assert modes == {"orders-value": "READONLY", "a/b": "READONLY"}
    exempt = {
        str(scope): each.mode
        for scope, each in read(OldRegistry(own_modes="READWRITE", mode="READONLY")).settings.items()
    }
    assert exempt == {"": "READONLY", "orders-value": "READWRITE", "a/b": "READWRITE"}


def test_a_page_that_any_server_may_lack_does_not_make_it_a_registry() -> None:
    with pytest.raises(RemoteMisused, match="answers /subjects with status 404"):
        read(lambda *_: (404, json.dumps(NO_PAGE[1])))
