"""Any sequence of requests about keys is answered as a registry of a few dictionaries answers it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sigla.errors import Refusal
from sigla.keks.nouns import Algorithm, Dek, DekDraft, DekName, Kek, KekDraft, named
from sigla.keks.verbs import deks, keks, listing
from sigla.model import LATEST, Page, Version
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.registry import Registry
from sigla.rules import names
from sigla.stores.sqlite.store import EmbeddedStore
from tests.attack.world import without_times
from tests.build import FixedClock
from tests.contract.aws import Account, moto

__all__ = ["moto"]

KEKS = st.sampled_from(["k", "é_2"])
SUBJECTS = st.sampled_from(["s", ":.:s", ":.c:s", ":*:t"])
ALGORITHMS = st.sampled_from([Algorithm.AES256_GCM, Algorithm.AES256_SIV])
VERSIONS = st.sampled_from([1, 2, 7])
NUMBERS = st.sampled_from([None, 1, 2, 7, LATEST])
DEKS = st.builds(
    DekDraft,
    version=VERSIONS,
    algorithm=ALGORITHMS,
    material=st.sampled_from(["m", "n", None]),
    deleted=st.booleans(),
    rewrap=st.booleans(),
)
REQUESTS = st.one_of(
    st.tuples(st.just("create kek"), KEKS, st.sampled_from([None, "d"]), st.booleans()),
    st.tuples(st.just("update kek"), KEKS, st.sampled_from([None, "d"])),
    st.tuples(st.just("delete kek"), KEKS, st.booleans()),
    st.tuples(st.just("undelete kek"), KEKS),
    st.tuples(st.just("create dek"), KEKS, SUBJECTS, DEKS),
    st.tuples(st.just("read dek"), KEKS, SUBJECTS, st.sampled_from([1, 2, LATEST]), ALGORITHMS, st.booleans()),
    st.tuples(st.just("delete deks"), KEKS, SUBJECTS, NUMBERS, ALGORITHMS, st.booleans()),
    st.tuples(st.just("undelete deks"), KEKS, SUBJECTS, NUMBERS, ALGORITHMS),
    st.tuples(st.just("look at lists"), KEKS, SUBJECTS, ALGORITHMS, st.booleans()),
)


@dataclass
class Model:
    """What the rules say (docs/api.md, §11), one key after the other. An answer is what comes back, or a number."""

    keks: dict[str, Kek] = field(default_factory=dict)
    deks: dict[tuple[DekName, int], Dek] = field(default_factory=dict)

    def ask(self, request: tuple[Any, ...]) -> Any:
        verb: Callable[..., Any] = getattr(self, request[0].replace(" ", "_"))
        return verb(*request[1:])

    def create_kek(self, name: str, doc: str | None, deleted: bool) -> Any:
        offered = Kek(name, "local-kms", "id", doc=doc, deleted=deleted)
        standing = self.keks.get(name)
        if standing and (standing.deleted == deleted or standing.doc != doc):
            return 40971
        self.keks[name] = offered
        return offered

    def update_kek(self, name: str, doc: str | None) -> Any:
        if name not in self.keks or self.keks[name].deleted:
            return 40470
        self.keks[name] = replace(self.keks[name], doc=doc)
        return self.keks[name]

    def delete_kek(self, name: str, permanent: bool) -> Any:
        if name not in self.keks:
            return 40470
        if any(dek.kek == name and (permanent or not dek.deleted) for dek in self.deks.values()):
            return 42272
        if permanent and not self.keks[name].deleted:
            return 40471
        if permanent:
            del self.keks[name]
        else:
            self.keks[name] = replace(self.keks[name], deleted=True)
        return None

    def undelete_kek(self, name: str) -> Any:
        if name not in self.keks:
            return 40470
        self.keks[name] = replace(self.keks[name], deleted=False)
        return None

    def create_dek(self, kek: str, subject: str, draft: DekDraft) -> Any:
        if not self._is_seen(kek, deleted=draft.deleted):
            return 40470
        place = DekName(kek, named(subject), draft.algorithm), draft.version
        standing = self.deks.get(place)
        other_state = standing and standing.deleted != draft.deleted and standing.material == draft.material
        if standing and not draft.rewrap and not other_state:
            return 40971
        if draft.material is None:
            return 42271
        spelled = standing.subject if standing else subject
        self.deks[place] = Dek(kek, spelled, draft.algorithm, draft.version, draft.material, draft.deleted)
        return self.deks[place]

    def read_dek(self, kek: str, subject: str, version: int, algorithm: Algorithm, deleted: bool) -> Any:
        if not self._is_seen(kek, deleted=deleted):
            return 40470
        found = self._versions(kek, subject, version, algorithm, deleted=deleted)
        return found[-1] if found else 40470

    def delete_deks(self, kek: str, subject: str, version: int | None, algorithm: Algorithm, permanent: bool) -> Any:
        found = self._versions(kek, subject, version, algorithm)
        if kek not in self.keks or not found:
            return 40470
        if permanent and not all(dek.deleted for dek in found):
            return 40471
        for dek in found:
            if permanent:
                del self.deks[dek.name, dek.version]
            else:
                self.deks[dek.name, dek.version] = replace(dek, deleted=True)
        return None

    def undelete_deks(self, kek: str, subject: str, version: int | None, algorithm: Algorithm) -> Any:
        found = self._versions(kek, subject, version, algorithm)
        if kek not in self.keks or not found:
            return 40470
        if self.keks[kek].deleted:
            return 40472
        for dek in found:
            self.deks[dek.name, dek.version] = replace(dek, deleted=False)
        return None

    def look_at_lists(self, kek: str, subject: str, algorithm: Algorithm, deleted: bool) -> Any:
        shown = [dek for dek in self.deks.values() if deleted or not dek.deleted]
        keks = sorted(name for name in self.keks if self._is_seen(name, deleted=deleted))
        using = sorted({dek.kek for dek in shown if dek.subject.startswith(subject)})
        if not self._is_seen(kek, deleted=deleted):
            return keks, using, 40470
        versions = [dek.version for dek in self._versions(kek, subject, None, algorithm, deleted=deleted)]
        return keks, using, (sorted({dek.subject for dek in shown if dek.kek == kek}), versions)

    def _is_seen(self, kek: str, *, deleted: bool) -> bool:
        return kek in self.keks and (deleted or not self.keks[kek].deleted)

    def _versions(
        self, kek: str, subject: str, version: int | None, algorithm: Algorithm, *, deleted: bool = True
    ) -> list[Dek]:
        name = DekName(kek, named(subject), algorithm)
        all = [dek for dek in self.deks.values() if dek.name == name and (deleted or not dek.deleted)]
        all.sort(key=lambda dek: dek.version)
        if version == LATEST:
            return all[-1:]
        return [dek for dek in all if version in (None, dek.version)]


def asked(registry: Registry, request: tuple[Any, ...]) -> Any:
    """The same of the registry."""
    verb, kek, *rest = request
    try:
        if verb == "look at lists":
            return asked_for_lists(registry, kek, *rest)
        match verb, *rest:
            case "create kek", doc, deleted:
                draft = KekDraft(kek, "local-kms", "id", doc=doc, deleted=deleted)
                return without_times(keks.create_kek(registry, draft))
            case "update kek", doc:
                return without_times(keks.update_kek(registry, kek, {"doc": doc}))
            case "delete kek", permanent:
                return keks.delete_kek(registry, kek, permanent=permanent)
            case ("undelete kek",):
                return keks.undelete_kek(registry, kek)
            case "create dek", subject, draft:
                return without_times(deks.create_dek(registry, kek, names.subject(subject), draft).dek)
            case "read dek", subject, version, algorithm, deleted:
                found = deks.read_dek(registry, kek, names.subject(subject), version, algorithm, deleted=deleted)
                return without_times(found.dek)
            case "delete deks", subject, version, algorithm, permanent:
                number = None if version is None else Version(version)
                return deks.delete_deks(registry, kek, names.subject(subject), number, algorithm, permanent=permanent)
            case "undelete deks", subject, version, algorithm:
                return deks.undelete_deks(registry, kek, names.subject(subject), version, algorithm)
    except Refusal as refused:
        return refused.code
    raise AssertionError(request)


def asked_for_lists(registry: Registry, kek: str, subject: str, algorithm: Algorithm, deleted: bool) -> Any:
    all = listing.kek_names(registry, (), deleted=deleted, page=Page())
    using = listing.kek_names(registry, (subject,), deleted=deleted, page=Page())
    try:
        subjects = listing.dek_subjects(registry, kek, deleted=deleted, page=Page())
        return (
            all,
            using,
            (
                subjects,
                listing.dek_versions(registry, kek, names.subject(subject), algorithm, deleted=deleted, page=Page()),
            ),
        )
    except Refusal as refused:
        return all, using, refused.code


def compared(catalog: Catalog, bodies: Bodies, requests: list[tuple[Any, ...]]) -> None:
    model = Model()
    registry = Registry(catalog, bodies, FixedClock())
    for request in requests:
        assert asked(registry, request) == model.ask(request), request
    assert [without_times(kek) for kek in catalog.keks()] == [model.keks[name] for name in sorted(model.keks)]


@given(st.lists(REQUESTS, min_size=5, max_size=30))
def test_any_sequence_of_requests_about_keys_is_answered_by_the_rules(requests: list[tuple[Any, ...]]) -> None:
    """What a client finds depends on what was acknowledged before, and on nothing else."""
    with EmbeddedStore() as store:
        compared(store.catalog, store.bodies, requests)


@settings(max_examples=max(1, settings().max_examples // 25))  # each is hundreds of calls
@given(requests=st.lists(REQUESTS, min_size=20, max_size=60))
def test_the_rules_about_keys_are_the_same_on_aws(moto: Account, requests: list[tuple[Any, ...]]) -> None:
    """Whatever a table keeps in several places says one thing."""
    with moto.stores() as stores:
        compared(stores.catalog, stores.bodies, requests)
