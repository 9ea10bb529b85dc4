"""Keys: their requests into drafts, and keys into answers."""

from typing import Any

from sigla.keks.nouns import DEFAULT_ALGORITHM, FIRST_VERSION, Algorithm, Dek, DekDraft, Kek, KekDraft
from sigla.keks.records import props_json
from sigla.web.api.wire import bind, text

Json = dict[str, Any]
ALGORITHMS = frozenset(each.value for each in Algorithm)


# --- requests --------------------------------------------------------------------------------------------------------


def read_kek(body: bytes, operation: str) -> KekDraft:
    return text.read(body, _kek_draft, operation=operation)


def read_kek_patch(body: bytes, operation: str) -> dict[str, Any]:
    """Fields of a `Kek` and their new values: what is absent stays; null clears (KEY-3)."""
    return text.read(body, _kek_patch, operation=operation)


def read_dek(body: bytes, operation: str, *, rewrap: bool = False) -> DekDraft:
    return text.read(body, lambda tree: _dek_draft(tree, rewrap=rewrap), operation=operation)


def _kek_draft(tree: Any) -> KekDraft:
    sent = bind.members(tree, "CreateKekRequest")
    return KekDraft(
        name=bind.text(sent.get("name")),
        kms_type=bind.text(sent.get("kmsType")),
        kms_key_id=bind.text(sent.get("kmsKeyId")),
        kms_props=_props(sent.get("kmsProps")),
        doc=bind.text(sent.get("doc")),
        shared=bind.flag(sent.get("shared")) or False,
        deleted=bind.flag(sent.get("deleted")) or False,
    )


def _kek_patch(tree: Any) -> Json:
    """A `shared` of null says nothing, where the reference fails."""
    sent = bind.members(tree, "UpdateKekRequest")
    patch: Json = {}
    if "kmsProps" in sent:
        patch["kms_props"] = _props(sent["kmsProps"])
    if "doc" in sent:
        patch["doc"] = bind.text(sent["doc"])
    if (shared := bind.flag(sent.get("shared"))) is not None:
        patch["shared"] = shared
    return patch


def _dek_draft(tree: Any, *, rewrap: bool) -> DekDraft:
    sent = bind.members(tree, "CreateDekRequest")
    version = bind.integer(sent.get("version"))
    algorithm = bind.choice(sent.get("algorithm"), "DekFormat", ALGORITHMS)
    return DekDraft(
        subject=bind.text(sent.get("subject")),
        version=FIRST_VERSION if version is None else version,
        algorithm=DEFAULT_ALGORITHM if algorithm is None else Algorithm(algorithm),
        material=bind.text(sent.get("encryptedKeyMaterial")),
        deleted=bind.flag(sent.get("deleted")) or False,
        rewrap=rewrap,
    )


def _props(said: Any) -> dict[str, str | None]:
    """A null among the values is a value."""
    return bind.nullable_mapping(said, bind.text) or {}


# --- answers ---------------------------------------------------------------------------------------------------------


def kek(said: Kek) -> Json:
    told: Json = {
        "name": said.name,
        "kmsType": said.kms_type,
        "kmsKeyId": said.kms_key_id,
        "kmsProps": props_json(said),
    }
    if said.doc is not None:
        told["doc"] = said.doc
    told |= {"shared": said.shared, "ts": said.ts}
    return {**told, "deleted": True} if said.deleted else told


def dek(said: Dek, raw: str | None) -> Json:
    """raw: its key, where the registry may show it."""
    told: Json = {
        "kekName": said.kek,
        "subject": said.subject,
        "version": said.version,
        "algorithm": said.algorithm.value,
        "encryptedKeyMaterial": said.material,
    }
    if raw is not None:
        told["keyMaterial"] = raw
    told["ts"] = said.ts
    return {**told, "deleted": True} if said.deleted else told
