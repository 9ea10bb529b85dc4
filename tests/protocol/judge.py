"""Holds our answers against recorded ones.

Recorded are whole conversations: requests in order, each with the answer that a Confluent registry gave. Ours may
number schemas differently, but one to one within a context, and never give one id two meanings; timestamps are
compared by
presence; lists without an order as sets. Error texts are compared word for word where they are contract.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

Json = Any

UNORDERED = re.compile(r"/schemas/ids/[^/]+/(subjects|versions)(\?|$)|/schemas/types$|/schemas/guids/[^/]+/ids$")
LISTS_OF_IDS = re.compile(r"/referencedby(\?|$)")
ID_HOLE = re.compile(r"\{\{id:(?P<context>[^:}]*):(?P<id>-?\d+)\}\}")
TIMES = frozenset({"ts", "createTs", "updateTs"})
ID_FIELDS = frozenset({"id", "maxId"})
FREE_TEXT = frozenset({400, 422, 500, 40901, 42201, 50070})
"""Errors whose sentence is a parser's or a checker's own."""
KIND = re.compile(r"errorType:\s*['\"]([A-Za-z0-9_]+)['\"]")


@dataclass(slots=True)
class Ids:
    """Recorded ids and ours, one to one within each context."""

    ours: dict[tuple[str, int], int] = field(default_factory=dict)
    recorded: dict[tuple[str, int], int] = field(default_factory=dict)
    made: dict[tuple[str, str], str] = field(default_factory=dict)
    """Key material that a registry makes, by field, theirs to ours and ours to theirs."""
    associations: dict[str, str] = field(default_factory=dict)
    """GUIDs of associations, which are drawn by lot."""

    def match(self, context: str, recorded: int, ours: Json) -> bool:
        if not isinstance(ours, int) or isinstance(ours, bool):
            return False
        known = self.ours.setdefault((context, recorded), ours)
        return known == ours and self.recorded.setdefault((context, ours), recorded) == recorded

    def match_made(self, field: str, recorded: Json, ours: Json) -> bool:
        """One to one, of the same length; of a raw key the first letters tell what it is for."""
        if not isinstance(ours, str) or len(ours) != len(recorded):
            return False
        known = self.made.setdefault((f"our {field}", recorded), ours)
        back = self.made.setdefault((f"their {field}", ours), recorded)
        return known == ours and back == recorded and (field != "keyMaterial" or ours[:2] == recorded[:2])

    def fill(self, text: str) -> str:
        """The text with our ids where the recording left holes."""

        def ours(hole: re.Match[str]) -> str:
            number = int(hole["id"])
            return str(self.ours.get((hole["context"], number), number))

        return ID_HOLE.sub(ours, text)


def difference(step: Json, status: int, text: str, ids: Ids) -> str | None:
    """The first difference between a recorded step's answer and ours, as a sentence; None if they agree."""
    wanted = step["answer"]
    body = _read(text)
    if status != wanted["status"]:
        return f"status: recorded {wanted['status']} {wanted['body']}, ours {status} {text[:300]}"
    if status >= 400:
        return _refusal(wanted["body"], body)
    if wanted.get("text"):
        return None if text == wanted["body"] else f"text: recorded {wanted['body']!r}, ours {text!r}"
    recorded = wanted["body"]
    if isinstance(recorded, dict) and isinstance(body, dict) and "messages" in recorded and "messages" in body:
        recorded, body = dict(recorded), dict(body)
        if _kinds(theirs := recorded.pop("messages")) != _kinds(ours := body.pop("messages")):
            return f"messages: recorded {theirs}, ours {ours}"
    if "own" in step and isinstance(body, list):  # of the whole registry: the names of this session alone count
        body = [name for name in body if name.startswith(step["own"])]
    return _differs(step, recorded, body, ids, "$")


def _read(text: str) -> Json:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text


def _refusal(recorded: Json, ours: Json) -> str | None:
    if not isinstance(ours, dict) or set(ours) != {"error_code", "message"}:
        return f"no error envelope: {ours}"
    if ours["error_code"] != recorded["error_code"]:
        return f"error_code: recorded {recorded}, ours {ours}"
    if recorded["error_code"] in FREE_TEXT or _numberless(ours["message"]) == _numberless(recorded["message"]):
        return None
    return f"message: recorded {recorded['message']!r}, ours {ours['message']!r}"


def _numberless(text: str) -> str:
    return re.sub(r"\d+", "#", text)


def _kinds(messages: list[str]) -> list[list[str]]:
    return [KIND.findall(message) for message in messages if KIND.search(message)]


def _differs(step: Json, recorded: Json, ours: Json, ids: Ids, where: str) -> str | None:
    key = where.rsplit(".", 1)[-1]
    if key in TIMES:
        return None if isinstance(ours, int) else f"{where}: no time, but {ours}"
    if key in step.get("made", ()):
        return None if ids.match_made(key, recorded, ours) else f"{where}: recorded {recorded}, ours {ours}"
    if _is_id(step, where, key, recorded):
        same = ids.match(step.get("ctx", ""), recorded, ours)
        return None if same else f"{where}: recorded id {recorded}, ours {ours}"
    if isinstance(recorded, dict) and isinstance(ours, dict):
        return _objects_differ(step, recorded, ours, ids, where)
    if isinstance(recorded, list) and isinstance(ours, list):
        return _lists_differ(step, recorded, ours, ids, where)
    if isinstance(recorded, bool) != isinstance(ours, bool) or recorded != ours:
        return f"{where}: recorded {recorded!r}, ours {ours!r}"
    return None


def _context(step: Json, recorded: Json) -> str:
    """Where the ids of an object count: the step's context, or that of the subject which it names."""
    subject = recorded.get("subject")
    named = isinstance(subject, str) and subject.startswith(":.")
    return step.get("ctx", "") or (subject[1:].split(":")[0] if named else "")


def _is_id(step: Json, where: str, key: str, recorded: Json) -> bool:
    in_list = where.count("[") == 1 and LISTS_OF_IDS.search(step["path"]) is not None
    return isinstance(recorded, int) and (key in ID_FIELDS or in_list)


def _objects_differ(step: Json, recorded: Json, ours: Json, ids: Ids, where: str) -> str | None:
    if set(recorded) != set(ours):
        missing, more = sorted(set(recorded) - set(ours)), sorted(set(ours) - set(recorded))
        return f"{where}: fields missing {missing}, too many {more}"
    if set(recorded) == {"error_code", "message"}:  # within a batch
        return None if recorded["error_code"] == ours["error_code"] else f"{where}: recorded {recorded}, ours {ours}"
    if "resourceId" in recorded and "guid" in recorded:
        recorded, ours = dict(recorded), dict(ours)
        guid, here = recorded.pop("guid"), ours.pop("guid")
        if ids.associations.setdefault(guid, here) != here:
            return f"{where}.guid: recorded {guid}, ours {here}"
    step = {**step, "ctx": _context(step, recorded)}
    found = (_differs(step, recorded[name], ours[name], ids, f"{where}.{name}") for name in sorted(recorded))
    return next((each for each in found if each), None)


def _lists_differ(step: Json, recorded: Json, ours: Json, ids: Ids, where: str) -> str | None:
    if len(recorded) != len(ours):
        return f"{where}: recorded {recorded}, ours {ours}"
    if UNORDERED.search(step["path"]) or where.endswith(".aliases"):
        recorded, ours = sorted(recorded, key=_sorted_text), sorted(ours, key=_sorted_text)
    pairs = enumerate(zip(recorded, ours, strict=True))
    found = (_differs(step, a, b, ids, f"{where}[{n}]") for n, (a, b) in pairs)
    return next((each for each in found if each), None)


def _sorted_text(value: Json) -> str:
    return json.dumps(value, sort_keys=True)
