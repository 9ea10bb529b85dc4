"""What keys may be called, which may take whose place, and what a rule set is completed with. Decisions, pure."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from sigla import keys
from sigla.errors import InvalidSubject
from sigla.keks.nouns import Dek, Kek, KekDraft, named
from sigla.keks.refusals import InvalidKeyField, KeyExists
from sigla.keys import utf16
from sigla.model import DEFAULT_CONTEXT, Rule, RuleSet, Subject

LONGEST_KEK_NAME: Final = 256
"""UTF-16 units."""

LONGEST_MATERIAL: Final = 8 * 2**10
"""Bytes of wrapped material; what key services return is a few hundred."""

LONGEST_TEXT: Final = 16 * 2**10
"""Bytes of a key's id, of its description, and of all settings of a driver together."""

KEY_ID_BEGINNINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "aws-kms": ("arn:aws:kms:",),
    "azure-kms": ("https://",),
    "gcp-kms": ("projects/",),
    "hcvault": ("https://", "http://"),
}
"""By the exact type of a KMS; the ids of others may begin as they like (KEY-2)."""

STORED_TYPES: Final[Mapping[str, str]] = {"aws": "aws-kms", "azure": "azure-kms", "gcp": "gcp-kms"}
"""What a type is stored as that begins so, in any letter case (KEY-2)."""

PLAIN_PROPS: Final = frozenset(
    {
        "account.type",
        "encrypt.alternate.kms.key.ids",
        "namespace",
        "profile",
        "role.arn",
        "role.session.name",
        "tenant.id",
    }
)
"""Settings of drivers without a secret: principals that may not write the KEK are shown these alone."""

KMS_KEY_ID: Final = "encrypt.kms.key.id"
KEK_NAME: Final = "encrypt.kek.name"
KMS_TYPE: Final = "encrypt.kms.type"

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


# --- names -----------------------------------------------------------------------------------------------------------


def check_kek_name(name: str | None) -> str:
    """A letter of any script or `_` first, then letters, digits, `_` and `-` (KEY-1). Raises InvalidKeyField."""
    legal = (
        name
        and len(utf16(name)) <= 2 * LONGEST_KEK_NAME
        and (name[0].isalpha() or name[0] == "_")
        and all(_is_part_of_a_name(letter) for letter in name)
    )
    if not name or not legal:
        raise InvalidKeyField(field="name")
    return name


def _is_part_of_a_name(letter: str) -> bool:
    return letter.isalpha() or letter.isdecimal() or letter in "_-"


def check_subject(subject: str | None) -> str:
    """Any text that can be stored under, without control characters (KEY-8). Raises InvalidKeyField."""
    if not subject or _CONTROL.search(subject):
        raise InvalidKeyField(field="subject")
    try:
        for each in (named(subject), Subject(DEFAULT_CONTEXT, subject)):  # stored by its name, listed by its spelling
            keys.check_length(each)
    except InvalidSubject:
        raise InvalidKeyField(field="subject") from None
    return subject


# --- KEKs ------------------------------------------------------------------------------------------------------------


def kek_from(draft: KekDraft) -> Kek:
    """What is offered, as it would be stored. Raises InvalidKeyField, in the contract's order (KEY-2)."""
    name = check_kek_name(draft.name)
    if not draft.kms_key_id:
        raise InvalidKeyField(field="kmsKeyId")
    if draft.kms_type is None:
        raise InvalidKeyField(field="kmsType")
    if not draft.kms_key_id.startswith(KEY_ID_BEGINNINGS.get(draft.kms_type, ("",))):
        raise InvalidKeyField(field="kmsKeyId")
    kms_type = _stored_type(draft.kms_type)
    props, doc = draft.kms_props, draft.doc
    return storable(Kek(name, kms_type, draft.kms_key_id, props, doc, shared=draft.shared, deleted=draft.deleted))


def storable(kek: Kek) -> Kek:
    """The KEK itself, where it fits into every store. Raises InvalidKeyField."""
    props = (text or "" for pair in kek.kms_props.items() for text in pair)
    texts = {"kmsKeyId": kek.kms_key_id, "kmsType": kek.kms_type, "kmsProps": "".join(props), "doc": kek.doc or ""}
    for field, text in texts.items():
        if len(text.encode()) > LONGEST_TEXT:
            raise InvalidKeyField(field=field)
    return kek


def _stored_type(said: str) -> str:
    lowered = said.lower()
    return next((stored for begins, stored in STORED_TYPES.items() if lowered.startswith(begins)), said)


def check_kek_replaces(standing: Kek | None, offered: Kek) -> None:
    """A create undeletes or deletes the KEK that stands, where nothing else differs (KEY-4). Raises KeyExists."""
    if standing is None:
        return
    if standing.deleted == offered.deleted or not same_kek(standing, offered):
        raise KeyExists(key=offered.name)


def same_kek(one: Kek, other: Kek) -> bool:
    """Whether they are the same but for their state."""
    return _properties(one) == _properties(other)


def _properties(kek: Kek) -> tuple[object, ...]:
    return kek.name, kek.kms_type, kek.kms_key_id, dict(kek.kms_props), kek.doc, kek.shared


def without_credentials(kek: Kek) -> Kek:
    """The KEK as a principal is shown it that may not write it."""
    return replace(kek, kms_props={name: said for name, said in kek.kms_props.items() if name in PLAIN_PROPS})


# --- DEKs ------------------------------------------------------------------------------------------------------------


def check_material(material: str | None) -> None:
    """Nothing of it is looked at but its length (KEY-8). Raises InvalidKeyField."""
    if material is not None and len(material.encode()) > LONGEST_MATERIAL:
        raise InvalidKeyField(field="encryptedKeyMaterial")


def replaces_dek(standing: Dek, *, deleted: bool, material: str | None) -> bool:
    """Whether a create undeletes or deletes the DEK that stands: nothing else may differ (KEY-9)."""
    return standing.deleted != deleted and standing.material == material


# --- rules of schemas ------------------------------------------------------------------------------------------------


def completed(rule_set: RuleSet | None) -> RuleSet | None:
    """Domain rules that name a key of a KMS get the name of a KEK, and the type of the KMS where it is AWS (KEY-12)."""
    if rule_set is None:
        return None
    domain = tuple(map(_completed_rule, rule_set.domain))
    return rule_set if domain == rule_set.domain else replace(rule_set, domain=domain)


def _completed_rule(rule: Rule) -> Rule:
    params = rule.params or {}
    key_id = params.get(KMS_KEY_ID)
    if key_id is None:
        return rule
    added = {KEK_NAME: _kek_named_after(key_id)}
    if key_id.startswith("arn:"):
        added[KMS_TYPE] = "aws-kms"
    return replace(rule, params={**added, **params})


def _kek_named_after(key_id: str) -> str:
    return "".join(letter if _is_part_of_a_name(letter) else "-" for letter in key_id.removeprefix("arn:"))
