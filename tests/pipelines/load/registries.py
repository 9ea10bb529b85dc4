"""All that can be read of a registry, to compare two of them that came to it on different ways."""

from dataclasses import replace
from typing import Any

from sigla.errors import BodyMissing
from sigla.model import BodyKey, SchemaId, Search
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog

EVERYWHERE = Search(context=None)


def everything(catalog: Catalog, bodies: Bodies) -> dict[str, Any]:
    rows = list(catalog.versions(EVERYWHERE, deleted=True, latest_only=False))
    ids = {BodyKey(subject.context, row.id) for subject, row in rows}
    contexts = sorted({subject.context for subject, _ in rows})
    kept = [key for context in contexts for key in _ids(bodies, context)]
    return {
        "versions": [(subject, replace(row, revision=0)) for subject, row in rows],
        "settings": [(scope, replace(each, revision="")) for scope, each in catalog.settings(EVERYWHERE)],
        "contexts": catalog.contexts(),
        "speakers": {key: _named(catalog.speaker(key)) for key in ids},
        "contents": {(s.context, row.guid): catalog.id_of(s.context, row.guid) for s, row in rows},
        "referrers": {s: [*catalog.referrers(s)] for s, _ in rows},
        "highest": {context: catalog.max_id(context) for context in contexts},
        "keys": [
            (replace(kek, revision=""), {replace(dek, revision="") for dek in catalog.deks(kek.name)})
            for kek in catalog.keks()
        ],
        "associations": [*catalog.associations_named()],
        "meanings": {key: _meaning(bodies, key) for key in kept},
    }


def _ids(bodies: Bodies, context: str) -> list[BodyKey]:
    keys = (BodyKey(context, SchemaId(number)) for number in range(bodies.last(context) + 1))
    return [key for key in keys if _meaning(bodies, key) is not None]


def _meaning(bodies: Bodies, key: BodyKey) -> Any:
    try:
        body = bodies.get(key)
    except BodyMissing:
        return None
    return body.schema, body.targets, body.guid, body.gone, body.compiled


def _named(speaker: Any) -> Any:
    return None if speaker is None else (speaker.subject, speaker.version, speaker.deleted)
