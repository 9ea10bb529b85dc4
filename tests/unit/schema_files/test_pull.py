"""A registry that was pulled is as the files say, whatever was ever recorded of one."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pytest

from sigla.errors import Refusal
from sigla.model import LATEST, Draft, OfferedReference, Subject
from sigla.ports.progress import unseen
from sigla.registry import Registry
from sigla.schema_files.declaration import read_declaration
from sigla.schema_files.facts import RegistryFacts
from sigla.schema_files.file_sets import declared_files
from sigla.schema_files.foreseeing import foresee
from sigla.schema_files.plan_reports import step_line
from sigla.schema_files.pulling import Pulled, StandingFiles, Wanted, pull
from sigla.schema_files.scratch import rehearsed, scratch
from sigla.schema_files.steps import VersionStep
from sigla.schema_files.trees import Overlay
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web.app import build
from tests.protocol.conversations import replay, sessions
from tests.protocol.judge import Json
from tests.unit.schema_files.test_registrations import IMPORTS, READS, TRANSCRIPTS


class Nothing:
    """A `Tree` without files."""

    def paths(self, pattern: str) -> Iterable[str]:  # noqa: ARG002 - as a `Tree` has it
        return ()

    def read(self, path: str) -> bytes:
        raise FileNotFoundError(path)


def tree_of(texts: Mapping[str, str | None]) -> Overlay:
    return Overlay(Nothing(), texts)


def pulled(facts: RegistryFacts, texts: Mapping[str, str | None], said: str = "") -> Pulled:
    tree = tree_of(texts)
    standing = StandingFiles(tree)
    if said:
        declaration = read_declaration(said.encode())
        standing = StandingFiles(tree, declared_files(declaration, tree), declaration)
    with scratch(facts) as scratched:
        return pull(scratched, facts, Wanted(), standing)


def left_to_do(registry: Registry, facts: RegistryFacts, texts: Mapping[str, str | None], said: str) -> list[str]:
    """What a plan would do, or why it cannot be done; but for what the registry itself would take anew as it stands."""
    declaration = read_declaration(said.encode())
    files = declared_files(declaration, tree_of(texts))
    found = rehearsed(facts, None, unseen, lambda scratched: foresee(scratched, declaration, files))
    refused = [each for each in found.files if not each.is_accepted and is_known(registry, each.file.subject)]
    steps = [step for step in found.steps if not isinstance(step, VersionStep) or is_known(registry, step.scope)]
    return [*map(step_line, steps), *(str(each.problems or each.rests_on) for each in refused)]


def is_known(registry: Registry, subject: Subject) -> bool:
    """Whether the registry itself knows its newest version by its text.

    It does not where `normalize` was set after it came, and where an import brought what no registration takes.
    """
    newest = registry.version(subject, LATEST)
    schema = newest.schema
    references = tuple(OfferedReference(each.name, each.subject, each.version) for each in schema.references)
    draft = Draft(schema.text, schema.type, references, None, schema.rule_set)
    try:
        return registry.register(subject, draft).version == newest.version
    except Refusal:
        return False


@dataclass
class Seen:
    schemas: int = 0
    registries: int = 0
    wrong: list[tuple[int, object]] = field(default_factory=list)


def pull_each(read: str, recorded: Iterable[Json]) -> Seen:
    """Pulls the registry as it is at the end of each conversation, plans, and pulls again."""
    seen = Seen()
    for session in recorded:
        with EmbeddedStore() as store:
            registry = Registry(store.catalog, store.bodies, SystemClock())
            asyncio.run(replay(build(registry), [session]))
            with READS[read](store) as facts:
                found = pulled(facts, {})
                texts = {each.path: each.text for each in found.writes}
                again = pulled(facts, texts, found.declaration)
                left: object = left_to_do(registry, facts, texts, found.declaration)
        seen.schemas += len(texts)
        seen.registries += 1
        if left or again.writes or again.changed or again.declaration != found.declaration:
            seen.wrong.append((session["n"], left or again))
    return seen


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("name", [TRANSCRIPTS, IMPORTS])
def test_a_plan_after_a_pull_is_empty(name: str, read: str) -> None:
    """Else whoever pulls would have work before they have changed a thing."""
    seen = pull_each(read, sessions(name)[:: 40 if read == "store" else 120])
    assert seen.wrong == []
    assert seen.schemas > 0


@pytest.mark.soak
@pytest.mark.parametrize("name", [TRANSCRIPTS, IMPORTS])
def test_plans_after_pulls_are_empty_for_every_recorded_registry(name: str) -> None:
    """The whole of it, with the figure."""
    seen = pull_each("store", sessions(name))
    print(f"\n{name}: {seen.schemas} schemas of {seen.registries} registries, {len(seen.wrong)} plans not empty")
    assert seen.wrong == []
