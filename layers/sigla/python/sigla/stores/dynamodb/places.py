"""Where each row stands: partition and sort key, for one registry."""

from dataclasses import dataclass
from zlib import crc32

from sigla import keys
from sigla.associations.nouns import Association
from sigla.keks.nouns import Dek, DekName
from sigla.model import GLOBAL, REGISTRY_WIDE, BodyKey, Guid, Row, Subject, Version
from sigla.stores.dynamodb.actions import Key

JOURNAL_SHARDS = 16
"""A partition takes 1,000 writes a second; for life, as those of the lists."""


@dataclass(frozen=True, slots=True)
class Places:
    registry: str

    def head(self, subject: Subject) -> Key:
        return keys.subject_pk(self.registry, subject), keys.HEAD

    def version(self, subject: Subject, generation: int, version: Version) -> Key:
        return keys.subject_pk(self.registry, subject), keys.version_sk(generation, version)

    def commit(self, subject: Subject, at: int, nonce: str) -> Key:
        """An item of the subject's history."""
        return keys.subject_pk(self.registry, subject), keys.commit_sk(at, nonce)

    def carried(self, subject: Subject) -> Key:
        return keys.carried_pk(self.registry), keys.list_sk(subject)

    def settings(self, scope: Subject) -> Key:
        """A subject's beside its head, a context's beside its counter."""
        if scope == REGISTRY_WIDE:
            return keys.registry_wide_pk(self.registry), keys.SETTINGS
        if not scope.name:
            return keys.context_pk(self.registry, scope.context), keys.SETTINGS
        return keys.subject_pk(self.registry, scope), keys.SETTINGS

    def inherited(self, subject: Subject) -> tuple[Key, Key, Key, Key]:
        """The settings of a chain, nearest first."""
        own, context = self.settings(subject), self.settings(Subject(subject.context, ""))
        return own, context, self.settings(GLOBAL), self.settings(REGISTRY_WIDE)

    def listed_settings(self, scope: Subject) -> Key:
        return keys.settings_pk(self.registry), keys.settings_sk(scope)

    def content(self, context: str, guid: Guid) -> Key:
        return keys.content_pk(self.registry, context, guid), keys.ID

    def holders(self, key: BodyKey) -> Key:
        return keys.id_pk(self.registry, key), keys.HOLDERS

    def holder(self, key: BodyKey, subject: Subject, version: Version, generation: int) -> Key:
        return keys.id_pk(self.registry, key), keys.holder_sk(subject, version, generation)

    def referrer(self, target: Subject, referenced: Version, subject: Subject, row: Row, nonce: str) -> Key:
        """subject, row: who refers to it."""
        sk = keys.referrer_sk(referenced, subject, row.id, row.version, nonce)
        return keys.referrers_pk(self.registry, target), sk

    def name(self, subject: Subject) -> Key:
        return keys.name_pk(self.registry, subject.name), keys.context_sk(subject.context)

    def listed(self, subject: Subject) -> Key:
        shard = crc32(subject.qualified.encode()) % keys.LIST_SHARDS
        return keys.list_pk(self.registry, shard), keys.list_sk(subject)

    def context(self, context: str) -> Key:
        return keys.contexts_pk(self.registry), keys.context_sk(context)

    def counter(self, context: str) -> Key:
        return keys.context_pk(self.registry, context), keys.NEXT

    def role(self) -> Key:
        """On a row that each snapshot reads anyway."""
        return self.settings(REGISTRY_WIDE)

    def fence(self, number: int) -> Key:
        return keys.region_pk(self.registry, number), keys.ROLE

    def resource(self, id: str) -> Key:
        return keys.resource_pk(self.registry, id), keys.ASSOCIATED

    def association(self, one: Association) -> tuple[Key, ...]:
        """Everywhere an association stands: with its resource, its subject and its name, and in the list of all."""
        resource, subject_pk = one.resource, keys.subject_pk(self.registry, one.subject)
        sk = keys.association_sk(resource.id, resource.type, one.type)
        partitions = (
            keys.resource_pk(self.registry, resource.id),
            subject_pk,
            keys.associations_pk(self.registry, resource.name),
            keys.associations_pk(self.registry),
        )
        return tuple((pk, sk) for pk in partitions)

    def journal(self, at: int, nonce: str) -> Key:
        return keys.journal_pk(self.registry, crc32(nonce.encode()) % JOURNAL_SHARDS), keys.journal_sk(at, nonce)

    def aside(self, at: int, nonce: str) -> Key:
        return keys.aside_pk(self.registry), keys.journal_sk(at, nonce)

    def unread_keys(self, epoch: int, kek: str, number: int) -> Key:
        return keys.unread_keys_pk(self.registry), f"{epoch:010}#{keys.component(kek)}#{number:019}"

    def apart(self, at: int, nonce: str) -> Key:
        return keys.apart_pk(self.registry), keys.journal_sk(at, nonce)

    def copying(self) -> Key:
        return keys.copying_pk(self.registry), keys.COPYING

    def copying_lane(self, number: int) -> Key:
        """Checked by one transaction of a copy at a time."""
        return keys.copying_pk(self.registry), f"{keys.COPYING}#{number}"

    def copying_alone(self) -> Key:
        return keys.copying_pk(self.registry), keys.ALONE

    def complete(self) -> Key:
        return keys.copying_pk(self.registry), keys.COMPLETE

    def installed(self) -> Key:
        return keys.copying_pk(self.registry), keys.INSTALLED

    def last_segment(self) -> Key:
        return keys.segments_pk(self.registry), keys.LAST

    def caught_up(self) -> Key:
        return keys.segments_pk(self.registry), keys.CAUGHT_UP

    def delivered(self) -> Key:
        return keys.segments_pk(self.registry), keys.DELIVERED

    def tally(self) -> Key:
        return keys.registry_wide_pk(self.registry), keys.TALLY

    def kek(self, name: str) -> Key:
        return keys.keks_pk(self.registry), keys.kek_sk(name)

    def dek(self, name: DekName, version: int) -> Key:
        return keys.deks_pk(self.registry, name.kek), keys.dek_sk(name.subject, name.algorithm.value, version)

    def exporter(self, name: str) -> Key:
        return keys.exporters_pk(self.registry), keys.sortable(name)

    def principal(self, name: str) -> Key:
        return keys.principals_pk(self.registry), keys.principal_sk(name)

    def read(self, key: BodyKey, subject: str, by: str) -> Key:
        return keys.reads_pk(self.registry, key), keys.read_sk(by, subject)

    def reads_begun(self) -> Key:
        return keys.reads_begun_pk(self.registry), keys.BEGUN

    def listed_dek(self, dek: Dek) -> Key:
        sk = keys.listed_dek_sk(dek.subject, *self.dek(dek.name, dek.version))
        return keys.listed_deks_pk(self.registry), sk
