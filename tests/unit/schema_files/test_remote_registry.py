"""A registry behind a URL: what is asked of it, and how often."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from sigla.model import Draft, Subject
from sigla.registry import Registry
from sigla.remote.client import Remote
from sigla.schema_files import remote_facts
from sigla.schema_files.outcomes import outcome
from sigla.schema_files.remote_facts import RemoteRegistry
from sigla.schema_files.scratch import scratch
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock
from tests.unit.cli import answering

SUBJECTS = [Subject(".", f"s{number:03}-value") for number in range(400)]


def text(subject: Subject, version: int) -> str:
    return f'{{"type":"enum","name":"{subject.name[:4]}","symbols":["A{"B" * version}"]}}'


@pytest.fixture(scope="module")
def filled() -> Iterator[Registry]:
    """Three versions of each subject, whose level is NONE for every second."""
    with EmbeddedStore() as store:
        registry = Registry(store.catalog, store.bodies, FixedClock())
        with store.group():
            for number, subject in enumerate(SUBJECTS):
                registry.change_config(subject, {"level": "NONE"})
                for version in (1, 2, 3):
                    registry.register(subject, Draft(text(subject, version)))
                if number % 2:
                    registry.drop_config(subject)
        yield registry


@contextmanager
def behind_a_url(registry: Registry, asked: list[str]) -> Iterator[RemoteRegistry]:
    answer = answering.registry(registry)

    def counted(path: str, credentials: str) -> tuple[int, str]:
        asked.append(path.partition("?")[0])
        return answer(path, credentials)

    with answering.behind_a_url(counted) as url, closing(Remote(url, "", SystemClock())) as remote:
        yield RemoteRegistry(remote)


def codes(registry: RemoteRegistry, subjects: list[Subject]) -> list[int]:
    """What each answers to its third version again, and to a fourth one."""
    with scratch(registry) as scratched:
        scratched.expect(subjects)
        drafts = [(subject, Draft(text(subject, version))) for subject in subjects for version in (3, 4)]
        found = [outcome(scratched, *each) for each in drafts]
    return [each.refusal.code if each.refusal else (each.record and each.record.version) or 0 for each in found]


def expected(subjects: list[Subject]) -> list[int]:
    return [code for each in subjects for code in (3, 40901 if SUBJECTS.index(each) % 2 else 4)]


def test_hundreds_of_subjects_come_in_a_few_requests(filled: Registry) -> None:
    """A repository of a thousand schemas is checked with each push: a request for each file would be a flood."""
    asked: list[str] = []
    with behind_a_url(filled, asked) as registry:
        assert codes(registry, SUBJECTS) == expected(SUBJECTS)
    assert sorted(asked) == ["/schemas", "/schemas", "/settings"]


def test_a_few_of_very_many_are_not_looked_for_page_by_page(filled: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list is given up once it takes more pages than there are subjects; what it had is complete all the same."""
    monkeypatch.setattr(remote_facts, "PAGE", 20)
    some = [SUBJECTS[number] for number in (1, 6, 32, 33, 39, 398)]
    asked: list[str] = []
    with behind_a_url(filled, asked) as registry:
        assert codes(registry, some) == expected(some)
    assert asked.count("/schemas") <= 2 * len(some)


def test_what_is_behind_the_last_subject_is_not_read(filled: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists come in the order of names."""
    monkeypatch.setattr(remote_facts, "PAGE", 20)
    asked: list[str] = []
    with behind_a_url(filled, asked) as registry:
        assert codes(registry, SUBJECTS[:30]) == expected(SUBJECTS[:30])
    assert asked.count("/schemas") <= 5
