"""Bodies of what `/console/api/` answers."""

from typing import Any

from sigla.registry.graphs import Graph
from sigla.registry.verdicts import DraftVerdict
from sigla.rules.problems import Problem

Json = dict[str, Any]


def draft_verdict(found: DraftVerdict) -> Json:
    """Without an id, a new version would get a new one."""
    record, problems = found.record, [_problem(each) for each in found.problems]
    if record is None:
        return {"accepted": False, "problems": problems}
    told: Json = {
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


def graph(found: Graph) -> Json:
    """Edges name nodes by their places in the list."""
    places = {key: at for at, key in enumerate(found.nodes)}
    return {
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
        "more": found.more,
    }
