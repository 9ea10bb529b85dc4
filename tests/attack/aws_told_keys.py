"""Keys of two regions in AWS: what clients were told of them, and what they are told from then on.

What was acknowledged is what is told, until a client changes it. What was not answered may have been done, or is done
yet, with the next change under that KEK; once that is acknowledged, it is known what was.
"""

import random
from collections import Counter as Tally
from collections import defaultdict
from collections.abc import Callable, Mapping
from itertools import count
from typing import Final, NamedTuple

from sigla.errors import Refusal, StoreError
from sigla.keks.nouns import DEFAULT_ALGORITHM, Dek, Kek
from sigla.keks.refusals import KeyNotFound
from sigla.keks.verbs import deks, keks
from sigla.model import Version
from sigla.ports.catalog import Catalog
from sigla.registry import Registry
from sigla.rules import names
from tests.attack.aws_sites import Killing, TableSite
from tests.attack.keys import (
    dek,
    deks_deleted,
    deks_purged,
    deks_undeleted,
    kek,
    kek_deleted,
    kek_patched,
    kek_purged,
    kek_undeleted,
)
from tests.attack.world import Verb


class Key(NamedTuple):
    """A version of a DEK, or the KEK itself."""

    kek: str
    subject: str = ""
    version: int = 0


class Form(NamedTuple):
    """What clients see of a key. content: drawn once, so that no two keys have the same."""

    content: str
    doc: str | None = None
    deleted: bool = False


Become = Callable[[Form | None], Form | None]


class KeyChange(NamedTuple):
    key: Key
    verb: Verb
    become: Become


KEYS: Final = {
    name: [Key(name, subject, version) for subject in subjects for version in (1, 2)]
    for name, subjects in {"first": ("paid", "billed"), "second": ("paid", "billed"), "third": ("paid",)}.items()
}
"""So few that each is made, deleted and made anew many times."""


class ToldKeys:
    """told: as of the last answer. maybe: what it may be else, and at which region that was asked for."""

    def __init__(self, dice: random.Random, tally: Tally[str], seed: int) -> None:
        self._dice, self._tally, self._seed = dice, tally, seed
        self._numbers = count()
        self._told: dict[Key, Form | None] = {}
        self._maybe = defaultdict[Key, dict[Form | None, TableSite]](dict)
        self._ever = defaultdict[Key, set[Form | None]](lambda: {None})

    # --- what happens ------------------------------------------------------------------------------------------------

    def change(self, site: TableSite, killing: Killing | None, *, is_latest: bool) -> None:
        """killing: what becomes of the process meanwhile. is_latest: whether the region was promoted last."""
        change = self._drawn()
        role, commits, done = site.role, site.gate.commits, False
        becomes = {change.become(form) for form in self._allowed(change.key)}
        with site.killed(killing):
            try:
                change.verb(site.registry)
                done = True
            except Refusal as refused:
                self._tally[f"  refused: {type(refused).__name__}"] += 1
                if refused.code < 50_000:
                    # What was not answered at first was found by the next attempt.
                    left = standing_under(site.aws.catalog, change.key.kek).get(change.key)
                    becomes &= {left} if site.gate.commits > commits else set()
        has_written = site.gate.commits > commits
        if done and (has_written or is_latest):
            assert role.writes or not has_written, "a region that takes no writes has acknowledged one"
            self._acknowledge(change.key, becomes, site)
        elif done:
            self._tally["  keys known"] += 1  # as they were before, perhaps: nothing was to be written there
        elif role.writes:
            self._ever[change.key] |= becomes
            self._maybe[change.key] |= dict.fromkeys(becomes, site)

    def read(self, site: TableSite, *, is_latest: bool) -> None:
        """As a client does. is_latest: as above."""
        if self._told:
            self._read(self._dice.choice(sorted(self._told)), site, is_latest=is_latest)

    def check(self, site: TableSite) -> None:
        """The region that was promoted last tells all of them."""
        for key in sorted(self._told):
            self._read(key, site, is_latest=True)

    # --- what is known -----------------------------------------------------------------------------------------------

    def _allowed(self, key: Key) -> set[Form | None]:
        return {self._told.get(key), *self._maybe[key]}

    def _acknowledge(self, changed: Key, becomes: set[Form | None], site: TableSite) -> None:
        """Whatever was asked for before it under this KEK has been done, or is not done any more."""
        self._tally["  keys acknowledged"] += 1
        standing = standing_under(site.aws.catalog, changed.kek)
        for key in {*standing, changed, *(each for each in self._told if each.kek == changed.kek)}:
            form, allowed = standing.get(key), becomes if key == changed else self._allowed(key)
            self._check(key, form, allowed)
            is_anew = form is not None and self._told.get(key) is None and self._ever[key] != {None}
            self._tally["  keys made anew"] += is_anew
            self._told[key] = form
            self._ever[key].add(form)
            self._maybe[key].clear()

    def _read(self, key: Key, site: TableSite, *, is_latest: bool) -> None:
        try:
            form = shown(site.registry, key)
        except (Refusal, StoreError):
            return
        self._check(key, form, self._allowed(key) if is_latest else self._ever[key])
        self._tally["  keys read"] += form is not None
        if form in self._maybe[key] and (is_latest or self._maybe[key][form] is site):
            self._told[key] = form  # whoever has read it goes on with it

    def _check(self, key: Key, form: Form | None, allowed: set[Form | None]) -> None:
        assert form in allowed, f"{key} is {form} by seed {self._seed}, and {allowed} was told"

    # --- what is drawn -----------------------------------------------------------------------------------------------

    def _drawn(self) -> KeyChange:
        """Mostly what can be done; now and then what is refused."""
        name, content = self._dice.choice(sorted(KEYS)), f"m{next(self._numbers)}"
        key = Key(name)
        kek_form = self._told.get(key)
        if kek_form is None:
            return KeyChange(key, kek(name, kms_key_id=content), lambda _: Form(content))
        if kek_form.deleted or self._dice.random() < 0.15:
            return self._dice.choice(
                [
                    KeyChange(key, kek(name, kms_key_id=content), lambda _: Form(content)),
                    KeyChange(key, kek_patched(name, doc=content), lambda form: form and form._replace(doc=content)),
                    KeyChange(key, kek_deleted(name), _deleted),
                    KeyChange(key, kek_undeleted(name), _undeleted),
                    KeyChange(key, kek_purged(name), lambda _: None),
                ]
            )
        key = self._dice.choice(KEYS[name])
        made = KeyChange(key, dek(*key, material=content), lambda _: Form(content))
        rewrapped = KeyChange(key, dek(*key, material=content, rewrap=True), lambda _: Form(content))
        deleted, undeleted = (
            KeyChange(key, deks_deleted(*key), _deleted),
            KeyChange(key, deks_undeleted(*key), _undeleted),
        )
        purged = KeyChange(key, deks_purged(*key), lambda _: None)
        form = self._told.get(key)
        if form is None:
            return made
        return self._dice.choice(
            [purged, purged, undeleted, made] if form.deleted else [deleted, deleted, rewrapped, made]
        )


def _deleted(form: Form | None) -> Form | None:
    return form and form._replace(deleted=True)


def _undeleted(form: Form | None) -> Form | None:
    return form and form._replace(deleted=False)


def standing_under(catalog: Catalog, name: str) -> Mapping[Key, Form]:
    """A KEK with its DEKs, as the table has them."""
    found = {Key(name, each.subject, each.version): _dek_form(each) for each in catalog.deks(name)}
    of = catalog.kek(name)
    return found | {Key(name): _kek_form(of)} if of else found


def shown(registry: Registry, key: Key) -> Form | None:
    """As clients see it. Raises Refusal, StoreError."""
    try:
        if not key.subject:
            return _kek_form(keks.read_kek(registry, key.kek, deleted=True))
        subject, version = names.subject(key.subject), Version(key.version)
        return _dek_form(deks.read_dek(registry, key.kek, subject, version, DEFAULT_ALGORITHM, deleted=True).dek)
    except KeyNotFound:
        return None


def _kek_form(of: Kek) -> Form:
    return Form(of.kms_key_id, of.doc, of.deleted)


def _dek_form(of: Dek) -> Form:
    return Form(of.material, None, of.deleted)
