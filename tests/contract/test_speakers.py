"""Who answers for an id in the name of one subject: what deserializers ask."""

from sigla.changes import ConfigChanged, SubjectDeleted, SubjectPurged
from sigla.model import BodyKey, Config, SchemaId, Settings
from sigla.ports.catalog import Catalog
from tests.build import NOW, a_nonce, a_subject, registered

ONE = BodyKey(".", SchemaId(1))
A, B, ABROAD = a_subject("a"), a_subject("b"), a_subject("a", ".eu")


def test_a_subject_answers_with_its_version_written_last(catalog: Catalog) -> None:
    """Not with the smallest one's, and whether it has deleted it or not."""
    assert catalog.speaker(ONE, B) is None
    registered(catalog, A, text="t")
    for _ in range(2):
        row = registered(catalog, B, text="t")
    speaker = catalog.speaker(ONE, B)
    assert speaker is not None
    assert (speaker.subject, speaker.version, speaker.deleted) == (B, 2, False)
    catalog.commit(SubjectDeleted(catalog.snapshot(B).head, row.version, NOW, a_nonce()))
    speaker = catalog.speaker(ONE, B)
    assert speaker is not None
    assert (speaker.version, speaker.deleted) == (2, True)
    catalog.commit(SubjectPurged(catalog.snapshot(B).head, catalog.history(B), NOW, a_nonce()))
    assert catalog.speaker(ONE, B) is None
    assert catalog.speaker(ONE, A)


def test_a_subject_answers_for_ids_of_its_own_context(catalog: Catalog) -> None:
    """The same name abroad is another subject."""
    registered(catalog, ABROAD)
    assert catalog.speaker(BodyKey(".eu", SchemaId(1)), ABROAD)
    assert catalog.speaker(ONE, A) is None


def test_a_subject_that_is_another_name_does_not_answer(catalog: Catalog) -> None:
    """Whoever its alias leads to does; a config without an alias changes nothing."""
    registered(catalog, A)
    catalog.commit(ConfigChanged(A, Settings(), Config(level="FULL"), NOW, "n1"))
    assert catalog.speaker(ONE, A)
    seen = catalog.snapshot(A).chain.own
    catalog.commit(ConfigChanged(A, seen, Config(alias="b"), NOW, "n2"))
    assert catalog.speaker(ONE, A) is None
