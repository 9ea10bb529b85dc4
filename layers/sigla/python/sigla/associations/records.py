"""Associations as records of the topic `_schemas` and as rows of a store."""

from collections.abc import Mapping
from typing import Any

from sigla.associations.nouns import Association, AssociationKey, Resource
from sigla.model import Subject
from sigla.rules import names
from sigla.shapes import fits

Json = dict[str, Any]
_TENANT = "default"


def key(one: Association) -> Json:
    """The order of the fields is part of the format: topics are compacted by the bytes of their keys."""
    return {
        "keytype": "ASSOC",
        "tenant": _TENANT,
        "resourceName": one.resource.name,
        "resourceNamespace": one.resource.namespace,
        "resourceType": one.resource.type,
        "associationType": one.type,
        "subject": one.subject.qualified,
        "magic": 0,
    }


def key_of(form: Mapping[str, Any]) -> AssociationKey:
    """What a key of the topic tells apart. Raises KeyError."""
    named = names.subject(form["subject"])
    texts = (form["resourceName"], form["resourceNamespace"], form["resourceType"], form["associationType"])
    return (*texts, Subject(named.context, named.name))


def value(one: Association) -> Json:
    return {
        "guid": one.guid,
        "tenant": _TENANT,
        "resourceName": one.resource.name,
        "resourceNamespace": one.resource.namespace,
        "resourceId": one.resource.id,
        "resourceType": one.resource.type,
        "associationType": one.type,
        "subject": one.subject.qualified,
        "lifecycle": one.lifecycle,
        "frozen": one.strong,
    }


def row(one: Association) -> Json:
    """The row that a store keeps."""
    times = {"createTs": one.created, "updateTs": one.updated}
    return value(one) | {"context": one.subject.context, "name": one.subject.name} | times


def from_row(form: Mapping[str, Any]) -> Association:
    """Raises LookupError, TypeError."""
    subject = Subject(form["context"], form["name"])
    return _association(form, subject, form["createTs"], form["updateTs"])


def from_value(form: Mapping[str, Any], created: int, updated: int) -> Association:
    """What a record of a topic says. Raises LookupError, TypeError."""
    named = names.subject(form["subject"])
    return _association(form, Subject(named.context, named.name), created, updated)


def _association(form: Mapping[str, Any], subject: Subject, created: int, updated: int) -> Association:
    resource = Resource(form["resourceName"], form["resourceNamespace"], form["resourceId"], form["resourceType"])
    one = Association(subject, form["guid"], resource, form["associationType"], form["lifecycle"], created, updated)
    if not fits(one, Association):
        raise TypeError(form)
    return one
