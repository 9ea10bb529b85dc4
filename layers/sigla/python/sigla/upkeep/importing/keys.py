"""Keys for field encryption, as another registry had them: KEKs first, then the DEKs under them."""

from collections.abc import Sequence
from dataclasses import replace

from sigla.changes import DeksChanged, DekWrite, KekChanged
from sigla.keks.nouns import Dek, Kek
from sigla.keks.rules import same_kek
from sigla.registry.resources import Resources
from sigla.registry.steps.committing import commit, nonce
from sigla.upkeep.importing.insisting import insist
from sigla.upkeep.importing.report import CONFLICTING, IDENTICAL, IMPORTED, SKIPPED, Outcome, Report

OTHER_KEY = "another key stands here"
NO_KEK = "its KEK is neither there nor here"
OTHER_KEK = "its KEK is another key here, which does not unwrap it"


def bring_kek(resources: Resources, kek: Kek, report: Report) -> None:
    """The KEK stands as it is told, with its time, or is told to be another."""

    def attempt() -> Outcome:
        standing = resources.catalog.kek(kek.name)
        if standing is not None:
            same = same_kek(standing, kek) and standing.deleted == kek.deleted
            return IDENTICAL if same else CONFLICTING
        mark = nonce()
        commit(resources, KekChanged(kek.name, None, replace(kek, revision=mark), resources.clock.now(), mark))
        return IMPORTED

    outcome = insist(resources, attempt)
    report.tell(outcome, "kek", kek.name, OTHER_KEY if outcome is CONFLICTING else "")


def bring_deks(resources: Resources, told: Kek | None, deks: Sequence[Dek], report: Report) -> None:
    """Versions under one KEK, as many as fit into one commit. told: the KEK as the other registry had it."""

    def attempt() -> list[tuple[Outcome, str]]:
        kek = resources.catalog.kek(deks[0].kek) or told
        if kek is None:
            return [(SKIPPED, NO_KEK)] * len(deks)
        if told is not None and kek.uri != told.uri:
            return [(CONFLICTING, OTHER_KEK)] * len(deks)
        standing = [resources.catalog.deks_of(dek.name, dek.version).deks for dek in deks]
        mark = nonce()
        missing = [replace(dek, revision=mark) for dek, found in zip(deks, standing, strict=True) if not found]
        if missing:
            writes = tuple(DekWrite(None, dek) for dek in missing)
            commit(resources, DeksChanged(kek, writes, resources.clock.now(), mark))
        return [_compared(dek, found[0] if found else None) for dek, found in zip(deks, standing, strict=True)]

    for dek, (outcome, why) in zip(deks, insist(resources, attempt), strict=True):
        about = f"{dek.kek} {dek.subject} {dek.algorithm.value} version {dek.version}"
        report.tell(outcome, "dek", about, why)


def _compared(dek: Dek, standing: Dek | None) -> tuple[Outcome, str]:
    if standing is None:
        return IMPORTED, ""
    same = (standing.material, standing.deleted) == (dek.material, dek.deleted)
    return (IDENTICAL, "") if same else (CONFLICTING, OTHER_KEY)
