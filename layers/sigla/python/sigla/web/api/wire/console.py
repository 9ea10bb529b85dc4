"""Bodies of what `/console/api/` answers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sigla.contract import CONFIG
from sigla.decoding.explain import Explained
from sigla.decoding.pasted import BASE64, HEX, bytes_of
from sigla.model import DEFAULT_CONTEXT, Version
from sigla.ports.lists import Looked
from sigla.ports.region_views import OtherRegionView, RegionView
from sigla.registry.explaining import MOST_BYTES
from sigla.registry.fields import FieldsSeen, SchemaField
from sigla.registry.graphs import Graph
from sigla.registry.settings import InForce
from sigla.registry.stakes import Stakes
from sigla.registry.usages import form_of_read
from sigla.registry.verdicts import Applied, DraftVerdict
from sigla.rules.difference import form_of_reading
from sigla.rules.problems import Problem
from sigla.rules.settings import MODE
from sigla.web.api.wire import bind, text
from sigla.web.api.wire.answers import config, found_subject
from sigla.web.api.wire.parts import graph_end, told_referrer
from sigla.web.http.refusals import BadRequest

Json = dict[str, Any]


def looked(found: Looked) -> Json:
    """Tells what a search has met; without `through` it has come to its end."""
    told: Json = {"found": [found_subject(*each) for each in found.found], "searched": found.searched}
    return told | ({"through": found.through.qualified} if found.through is not None else {})


def in_force(found: InForce) -> Json:
    """Tells of each setting, by its name in the API, from which scope it is; what is the server's is from none."""
    told = config(found.config)
    names = {field.wire: field.name for field in CONFIG if field.wire in told} | {MODE: MODE}
    origins = {wire: found.origins[name].qualified for wire, name in names.items() if name in found.origins}
    return {"subject": found.scope.qualified, "config": told, "mode": found.mode, "from": origins}


def draft_verdict(found: DraftVerdict) -> Json:
    """Without an id, a new version would get a new one."""
    record, problems = found.record, [_problem(each) for each in found.problems]
    applied: Json = {"applied": _applied(found.applied)} if found.applied else {}
    if record is None:
        return {"accepted": False, "problems": problems, **applied}
    told: Json = {
        **applied,
        "accepted": True,
        "new": found.is_new,
        "version": record.version,
        "guid": record.guid,
        "schema": record.schema.text,
        "problems": problems,
    }
    if record.subject is not None:
        told["subject"] = record.subject.qualified
    if record.id is not None:
        told["id"] = record.id
    return told


def _applied(rule: Applied) -> Json:
    told: Json = {"level": rule.level, "against": rule.against.value}
    origin = None if rule.origin is None else rule.origin.qualified
    more = {"from": origin, "group": rule.group, "version": rule.newest}
    told |= {name: value for name, value in more.items() if value is not None}
    read = {"backward": rule.backward, "forward": rule.forward}
    return told | {name: form_of_reading(value) for name, value in read.items() if value is not None}


def _problem(each: Problem) -> Json:
    told: Json = {
        "rule": each.rule,
        "code": each.code,
        "message": each.message,
        "detail": each.detail,
        "line": each.position.line,
        "column": each.position.column,
    }
    more = {"path": each.path, "reader": each.reader, "against": each.against, "remedy": each.remedy}
    return told | {name: value for name, value in more.items() if value}


@dataclass(frozen=True, slots=True)
class RecordToDecode:
    """id: of a payload without a frame."""

    part: bytes
    id: int | None
    context: str


def read_record(body: bytes, operation: str) -> RecordToDecode:
    """Raises BadRequest for what is neither hex nor base64, or longer than is decoded here."""
    return text.read(body, _record, operation=operation)


def _record(tree: Any) -> RecordToDecode:
    sent = bind.members(tree, "RecordToDecode")
    said, form = bind.text(sent.get("record")) or "", bind.choice(sent.get("form"), "form", (HEX, BASE64))
    part = bytes_of(said, form)
    if part is None:
        raise BadRequest(reason=f"The record is not {form}." if form else "The record is neither hex nor base64.")
    if len(part) > MOST_BYTES:
        raise BadRequest(reason=f"The record has more than {MOST_BYTES} bytes: use sigla explain.")
    context = bind.text(sent.get("context")) or DEFAULT_CONTEXT
    return RecordToDecode(part, bind.integer(sent.get("id")), context)


def explained_record(found: Explained, part: bytes) -> Json:
    """The value is a text of JSON: numbers may be longer than a browser's. at: the byte of the whole part."""
    told: Json = {"bytes": part.hex()}
    if found.frame is not None:
        told["frame"] = found.frame
    if found.schema is not None:
        told["schema"] = found.schema
    if found.failure is None:
        value = json.dumps(found.value, ensure_ascii=False, indent=2, default=str)
        return {**told, "value": value.encode(errors="backslashreplace").decode()}
    at = found.failure["at"]
    before = 0 if found.in_frame or found.payload is None else len(part) - len(found.payload)
    place = {} if at is None else {"at": at + before}
    return {**told, "failure": {"reason": found.failure["reason"], "detail": found.failure["detail"], **place}}


def stakes(found: Stakes, version: Version | None, names: Mapping[str, str]) -> Json:
    """version: which was asked for. names: behind the token of the last reader."""
    rows = found.versions.found
    told: Json = {
        "subject": found.subject.qualified,
        "versions": {
            "stored": len(rows),
            "active": sum(not row.deleted and row.version != version for row in rows),
            "highest": rows[0].version if rows else 0,
            "more": found.versions.goes_on,
        },
        "referrers": {
            "found": [told_referrer(each) for each in found.referrers.found],
            "more": found.referrers.goes_on,
        },
        "reads": {"versions": found.looked, "readers": len(found.readers)},
    }
    if found.latest is not None:
        told["latest"] = found.latest
    if found.has_more_readers:
        told["reads"]["more"] = True
    if found.since:
        told["reads"]["since"] = found.since
    for last in found.readers[:1]:
        told["reads"]["last"] = form_of_read(last, names)
    return told


def schema_fields(found: FieldsSeen) -> Json:
    told: Json = {"found": [_schema_field(each) for each in found.fields]}
    return told if found.through is None else {**told, "after": str(found.through)}


def _schema_field(found: SchemaField) -> Json:
    told: Json = {"depth": found.depth, "name": found.name, "what": found.noun, "path": found.path}
    more = {"type": found.text, "doc": found.doc, "since": found.since}
    return told | {name: value for name, value in more.items() if value}


def region_shown(found: RegionView) -> Json:
    """Times in milliseconds since the epoch; what is not known is left out."""
    role = found.role
    told: Json = {
        "role": role.kind.value,
        "epoch": role.epoch,
        "writes": role.writes,
        "reconciled": role.reconciled,
        "out": [{"name": each.name} | ({"url": each.url} if each.url else {}) for each in role.out],
        "waiting": [
            {"why": why, "number": number, "more": more, "oldest": oldest, "subjects": [*subjects]}
            for why, number, more, oldest, subjects in found.waiting
        ],
        "moreContexts": found.more_contexts,
    }
    named = {
        "url": found.url,
        "registry": found.registry,
        "name": role.name,
        "peer": str(role.peer),
        "problem": found.problem,
        "setting": found.setting,
    }
    told |= {name: value for name, value in named.items() if value}
    counted = {"behind": found.behind, "commits": found.commits, "newest": found.newest or None}
    told |= {name: value for name, value in counted.items() if value is not None}
    if found.ids is not None:
        told["ids"] = [{"context": context, "given": each.next, "ceiling": each.ceiling} for context, each in found.ids]
    return told


def other_region_shown(found: OtherRegionView) -> Json:
    told: Json = {} if found.region is None else {"region": region_shown(found.region)}
    told |= {name: value for name, value in (("url", found.url), ("why", found.why)) if value}
    return told if found.lacking is None else {**told, "lacking": [*found.lacking]}


def graph(found: Graph, *, tells_ends: bool) -> Json:
    """Edges name nodes by their places in the list."""
    places = {key: at for at, key in enumerate(found.nodes)}
    told: Json = {
        "subject": found.subject.qualified,
        "nodes": [
            {"subject": key.subject.qualified, "version": key.version}
            | ({} if id is None else {"id": id})
            | ({} if deleted is None else {"deleted": deleted})
            for key, id, deleted in found.nodes.values()
        ],
        "edges": [
            {"from": places[source], "to": places[target]} | ({"name": name} if name else {})
            for source, target, name in found.edges.values()
        ],
        "more": bool(found.ends),
    }
    return told | ({"ends": [graph_end(each) for each in found.ends]} if tells_ends else {})
