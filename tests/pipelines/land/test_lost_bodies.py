"""Records whose schema was lost in storage are quarantined whole, and are read when it is back."""

from uuid import UUID

import pytest

from sigla import keys
from sigla.decoding.decoder import Unreadable
from sigla.decoding.reasons import Reason
from sigla.errors import FormTooNew
from sigla.model import BodyKey, SchemaId
from sigla.stores.sqlite.store import EmbeddedStore
from sigla_pipelines.land.schemas import Schemas
from tests.build import a_body, a_text

ONE = BodyKey(".", SchemaId(1))
BODY = a_body(a_text())


def test_a_schema_that_a_newer_release_wrote_quarantines_no_record() -> None:
    """An installation makes it readable: landing ends with the sentence that says so."""
    with EmbeddedStore() as store:
        store.bodies.put(ONE, BODY)
        file = store.path / keys.body_file("default", ONE)
        file.write_bytes(file.read_bytes().replace(b'"form":1', b'"form":2', 1))
        schemas = Schemas(store.bodies, ".")
        with pytest.raises(FormTooNew, match=r"body of id 1 .* install that release or a later one"):
            schemas.by_id(1)
        with pytest.raises(FormTooNew):
            schemas.by_guid(UUID(BODY.guid))


@pytest.mark.parametrize(
    "content,by_id,by_guid",
    [(None, Reason.UNKNOWN_ID, Reason.UNKNOWN_GUID), (b"damaged", Reason.BAD_SCHEMA, Reason.BAD_SCHEMA)],
    ids=["missing", "damaged"],
)
def test_what_a_lost_schema_wrote_waits_until_it_is_back(content: bytes | None, by_id: Reason, by_guid: Reason) -> None:
    """One lost body stops no landing, and the next batch looks again; never is a record read as something else."""
    with EmbeddedStore() as store:
        store.bodies.put(ONE, BODY)
        file = store.path / keys.body_file("default", ONE)
        stored = file.read_bytes()
        file.unlink()
        if content is not None:
            file.write_bytes(content)
        schemas = Schemas(store.bodies, ".")
        for _ in range(2):
            with pytest.raises(Unreadable) as told:
                schemas.by_id(1)
            assert told.value.reason is by_id
            with pytest.raises(Unreadable) as told:
                schemas.by_guid(UUID(BODY.guid))
            assert told.value.reason is by_guid
        file.write_bytes(stored)
        schemas.forget_absent()
        assert schemas.by_id(1).guid == schemas.by_guid(UUID(BODY.guid)).guid == BODY.guid
