"""What a check says is what registering says: for whatever was ever recorded, however the registry is read."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from sigla.journal.replay import replayed
from sigla.ports.progress import unseen
from sigla.registry import Registry
from sigla.remote.client import Remote
from sigla.schema_files.dump_facts import DumpedRegistry
from sigla.schema_files.facts import RegistryFacts
from sigla.schema_files.remote_facts import RemoteRegistry
from sigla.schema_files.store_facts import StoredRegistry
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.upkeep.exporting import topic
from tests.protocol.conversations import sessions
from tests.unit.cli import answering
from tests.unit.schema_files.foretold import foretold

TRANSCRIPTS, IMPORTS = "transcripts.jsonl.gz", "imports.jsonl.gz"
REGISTRATIONS = {TRANSCRIPTS: 4_508, IMPORTS: 1_097}


@contextmanager
def from_the_store(store: EmbeddedStore) -> Iterator[RegistryFacts]:
    yield StoredRegistry(store.catalog, store.bodies, "the store")


@contextmanager
def from_a_dump(store: EmbeddedStore) -> Iterator[RegistryFacts]:
    yield DumpedRegistry(replayed(topic(store, unseen)), "the dump")


@contextmanager
def over_http(store: EmbeddedStore) -> Iterator[RegistryFacts]:
    served = Registry(store.catalog, store.bodies, SystemClock())
    with answering.behind_a_url(answering.registry(served)) as url, closing(Remote(url, "", SystemClock())) as remote:
        yield RemoteRegistry(remote)


WRITTEN_OVER = (700_002, 700_015, 700_024, 700_056)
"""Conversations in which that matters; in the third one the context has an alias as well."""
NUMBERED = {"store", "dump"}
"""An API tells how far ids were given out for each context alone, and a check does not need it."""

READS = {"store": from_the_store, "dump": from_a_dump, "HTTP": over_http}


@pytest.mark.parametrize("read", READS)
def test_recorded_registrations_are_foretold(read: str) -> None:
    """A check that is right most of the time is asked no more: mode, ids, references, rules and defaults count."""
    told = foretold(sessions(TRANSCRIPTS)[::60], READS[read], numbering=read in NUMBERED)
    assert told.wrong == []
    assert told.registrations > 60


@pytest.mark.parametrize("read", READS)
def test_recorded_imports_are_foretold(read: str) -> None:
    """In IMPORT mode ids are brought along, and what they mean is known by the registry alone."""
    told = foretold(sessions(IMPORTS)[::20], READS[read], numbering=read in NUMBERED)
    assert [wrong for wrong in told.wrong if not is_beyond_http(read, wrong[2])] == []
    assert told.registrations > 40


def test_what_imports_have_written_over_is_told_by_contents_and_ids() -> None:
    """No version has it any more, and yet it is known: as a version, or as what its id means."""
    found = [each for each in sessions(IMPORTS) if each["n"] in WRITTEN_OVER]
    told = foretold(found, READS["HTTP"], numbering=False)
    assert [wrong for wrong in told.wrong if not is_beyond_http("HTTP", wrong[2])] == []
    assert told.registrations > 30


@pytest.mark.soak
@pytest.mark.parametrize("name", REGISTRATIONS)
@pytest.mark.parametrize("read", READS)
def test_every_recorded_registration_is_foretold(read: str, name: str) -> None:
    """The whole of it, with the figure."""
    told = foretold(sessions(name), READS[read], numbering=read in NUMBERED)
    right = told.registrations - len(told.wrong)
    print(f"\n{name}, read from {read}: {right}/{told.registrations} foretold, {dict(told.answers)}")
    assert [wrong for wrong in told.wrong if not is_beyond_http(read, wrong[2])] == []
    assert told.registrations == REGISTRATIONS[name]


def is_beyond_http(read: str, answer: object) -> bool:
    """What an id meant that was deleted for good is told by no API: such an import is refused all the same."""
    return read == "HTTP" and "It belonged to another schema, which was deleted for good" in str(answer)
