"""Associations in a catalog: one commit for all that goes together, seen by whoever decides about a subject."""

from dataclasses import replace
from typing import Any

from sigla.associations.nouns import Resource, in_order
from sigla.changes import Head, SubjectDeleted, SubjectPurged
from sigla.model import BodyKey, SchemaId, Show, Subject, Target, Version
from sigla.ports.catalog import Catalog
from tests.associated import TOPIC, a_change, a_strong, a_weak, an_association
from tests.build import NOW, a_nonce, a_registered, registered
from tests.contract.conftest import Stores
from tests.contract.observing import EVERYWHERE, ORDERS, PAYMENTS, head, refer, refused

OWN = Subject(".lkc-1", "orders-value")
OWN_KEY = Subject(".lkc-1", "orders-key")


def test_an_association_is_found_by_its_resource_its_subject_and_its_name(catalog: Catalog) -> None:
    """Clients ask by name before the first message, whoever deletes a topic by its id."""
    registered(catalog, ORDERS)
    change = a_weak(head(catalog))
    catalog.commit(change)
    assert catalog.associations_of_resource(TOPIC.id) == change.written
    assert catalog.associations_of_subject(ORDERS) == change.written
    for name, namespace in (("orders", "lkc-1"), ("orders", None), (None, "lkc-1"), (None, None)):
        assert tuple(catalog.associations_named(name, namespace)) == change.written
    assert list(catalog.associations_named("orders", "lkc-2")) == []
    assert catalog.associations_of_subject(PAYMENTS) == catalog.associations_of_resource("topic-2") == ()


def test_lists_of_associations_have_one_order(catalog: Catalog) -> None:
    """By the names of the resource, then by type: both stores alike (ASC-14)."""
    registered(catalog, ORDERS)
    resources = [Resource(name, ns, f"{name}-{ns}") for name in ("b", "a", "A") for ns in ("y", "x")]
    for resource in resources:
        for type in ("value", "key"):
            seen = catalog.associations_of_resource(resource.id)
            catalog.commit(a_weak(head(catalog), resource, seen=seen, type=type))
    found = tuple(catalog.associations_named())
    assert found == in_order(found) == catalog.associations_of_subject(ORDERS)
    assert [(one.resource.name, one.type) for one in found[:2]] == [("A", "key"), ("A", "value")]
    assert head(catalog).associations == 12


def test_a_head_says_how_its_subject_is_associated(catalog: Catalog) -> None:
    """Deletes and registrations see it in the question that they ask anyway."""
    registered(catalog, ORDERS)
    catalog.commit(a_weak(head(catalog)))
    seen = head(catalog)
    assert (seen.revision, seen.associations, seen.strong) == (2, 1, False)
    catalog.commit(a_strong(Head(OWN), a_registered(Head(OWN), id=5, text="own"), replace(TOPIC, id="topic-2")))
    assert (head(catalog, OWN).associations, head(catalog, OWN).strong) == (1, True)
    registered(catalog, OWN, id=6, text="next")
    assert (head(catalog, OWN).associations, head(catalog, OWN).strong) == (1, True)


def test_a_strong_association_is_born_with_its_schemas(catalog: Catalog) -> None:
    """One commit: two subjects that share a content, in a context that is new."""
    changes = [a_registered(Head(subject), id=5, text="own") for subject in (OWN_KEY, OWN)]
    written = [
        an_association(Head(subject), type=type, lifecycle="STRONG")
        for subject, type in ((OWN_KEY, "key"), (OWN, "value"))
    ]
    catalog.commit(a_change(Head(OWN_KEY), Head(OWN), written=written, registered=changes))
    assert list(catalog.subjects(EVERYWHERE, Show.ACTIVE)) == [OWN_KEY, OWN]
    assert [each.subject for each in catalog.holders(BodyKey(".lkc-1", SchemaId(5)))] == [OWN_KEY, OWN]
    assert catalog.contexts() == (".lkc-1",)
    assert catalog.associations_of_resource(TOPIC.id) == tuple(written)


def test_strong_associations_take_their_subjects_along(stores: Stores) -> None:
    """No version stays, no name in a list; the id that both had is buried once the last of them is gone."""
    catalog = stores.catalog
    changes = [a_registered(Head(subject), id=5, text="own") for subject in (OWN_KEY, OWN)]
    written = tuple(
        an_association(Head(each.scope), type=str(at), lifecycle="STRONG") for at, each in enumerate(changes)
    )
    catalog.commit(a_change(Head(OWN_KEY), Head(OWN), written=written, registered=changes))
    heads = [head(catalog, subject) for subject in (OWN_KEY, OWN)]
    purged = [SubjectPurged(each, catalog.history(each.subject), NOW, "n") for each in heads]
    buried = catalog.commit(a_change(*heads, seen=written, removed=written, purged=purged))
    assert buried == (BodyKey(".lkc-1", SchemaId(5)),)
    assert list(catalog.subjects(EVERYWHERE)) == []
    assert list(catalog.associations_named()) == []
    assert [(head(catalog, each).associations, head(catalog, each).strong) for each in (OWN, OWN_KEY)] == [
        (0, False)
    ] * 2
    assert catalog.associations_of_resource(TOPIC.id) == catalog.associations_of_subject(OWN) == ()


def test_what_a_resource_has_is_part_of_what_a_commit_rests_on(stores: Stores) -> None:
    """Two requests for one topic: its associations share a lifecycle, so the second has to look again."""
    catalog = stores.catalog
    for id, subject in enumerate((ORDERS, PAYMENTS), 1):
        registered(catalog, subject, id=id, text=str(id))
    first, second = a_weak(head(catalog)), a_weak(head(catalog, PAYMENTS), type="key")
    catalog.commit(first)
    refused(stores, second)
    catalog.commit(a_weak(head(catalog, PAYMENTS), seen=first.written, type="key"))
    refused(stores, a_change(head(catalog), seen=first.written, removed=first.written))


def test_a_delete_that_did_not_see_an_association_comes_too_late(stores: Stores) -> None:
    """And an association that did not see a delete: whoever comes second asks anew (ASC-8)."""
    catalog = stores.catalog
    registered(catalog, ORDERS)
    seen = head(catalog)
    catalog.commit(a_weak(seen))
    refused(stores, SubjectDeleted(seen, Version(1), NOW, a_nonce()))
    catalog.commit(SubjectDeleted(head(catalog), Version(1), NOW, a_nonce()))
    refused(stores, a_weak(seen, replace(TOPIC, id="topic-2")))


def test_a_registration_that_refers_to_a_subject_sees_that_it_became_a_topics_own(stores: Stores) -> None:
    """Nothing references what belongs to a topic alone, and the other way round (ASC-9, E42206)."""
    catalog = stores.catalog
    registered(catalog, OWN)
    seen = head(catalog, OWN)
    refer(catalog, Subject(".lkc-1", "b"), OWN, id=2)
    refused(stores, a_strong(seen))
    catalog.commit(a_strong(head(catalog, OWN)))
    refused(stores, a_registered(Head(ORDERS), id=3, text="3", seen=(seen,)))


def test_an_import_may_refer_to_a_subject_before_it_is_there(stores: Stores) -> None:
    """What makes it a topic's own has to see the reference."""
    catalog, seen = stores.catalog, Head(OWN)
    missing = Target(OWN.context, OWN.name, Version(1), SchemaId(-1))
    registered(catalog, ORDERS, id=1, targets=(missing,), seen=(seen,))
    refused(stores, a_strong(seen, a_registered(seen, id=5, text="own")))
    catalog.commit(a_strong(head(catalog, OWN), a_registered(head(catalog, OWN), id=5, text="own")))
    assert head(catalog, OWN).strong


def test_the_journal_tells_schemas_before_their_associations_and_associations_before_their_subjects(
    stores: Stores,
) -> None:
    """As the reference writes them: whoever reads the topic meets each where its owner is there."""
    catalog = stores.catalog
    change = a_strong(Head(OWN), a_registered(Head(OWN), id=5, text="own"))
    catalog.commit(change)
    seen = head(catalog, OWN)
    purged = [SubjectPurged(seen, catalog.history(OWN), NOW, "n")]
    catalog.commit(a_change(seen, seen=change.written, removed=change.written, purged=purged))
    rows: list[Any] = [row["entries"] for _, row in stores.journal.read()]
    told = [
        [(entry["type"], entry.get("association", entry.get("id", "")) is None) for entry in entries]
        for entries in rows
    ]
    assert told == [
        [("CONTEXT", False), ("SCHEMA", False), ("ASSOC", False)],
        [("ASSOC", True), ("DELETE_SUBJECT", False), ("SCHEMA", True)],
    ]
