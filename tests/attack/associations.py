"""Verbs about associations, for stories and for meetings."""

from typing import Any

from sigla.associations.nouns import CREATE, UPSERT, Request, Selection, Wanted
from sigla.associations.verbs import deleting, writing
from sigla.associations.verbs.writing import Manner
from sigla.model import Draft
from tests.attack.stories import ONE, TWO, register
from tests.attack.world import Verb


def weak(topic: str, subject: str, type: str = "value", *, id: str = "") -> Verb:
    return _written(topic, Wanted(CREATE, subject=subject, type=type), id=id)


def strong(topic: str, *texts: str, id: str = "") -> Verb:
    """With a schema for its value, and one for its key."""
    wanted = (Wanted(CREATE, type=type, draft=Draft(text)) for type, text in zip(("value", "key"), texts, strict=False))
    return _written(topic, *wanted, id=id)


def evolved(topic: str, text: str) -> Verb:
    return _written(topic, Wanted(UPSERT, draft=Draft(text)))


def ended(topic: str, *, cascade: bool = False) -> Verb:
    def delete(registry: Any) -> Any:
        return [str(one.subject) for one in deleting.delete(registry, f"id-{topic}", Selection(), cascade=cascade)]

    return delete


def _written(topic: str, *wanted: Wanted, id: str = "") -> Verb:
    request = Request(topic, "lkc", id or f"id-{topic}", None, wanted)

    def write(registry: Any) -> Any:
        became = writing.write(registry, request, Manner())
        versions = {type: record.version for type, record in became.schemas.items()}
        return [(str(one.subject), one.lifecycle) for one in became.written], versions

    return write


WEAK_ORDERS = (register("orders", ONE), weak("a", "orders"), weak("b", "orders", "key"))
"""A subject that two topics use."""
STRONG_ORDERS = (strong("t", ONE, TWO),)
"""A topic with a subject for its value and one for its key."""
GONE_WITH_TOPIC = (ended("t", cascade=True),)
