"""Keys as JSON: as they are stored, and as records of Confluent's topic `_dek_registry_keys`.

The topic is compacted by the bytes of its keys, so the order of a key's fields is part of the format.
"""

from collections.abc import Mapping
from typing import Any, Final

from sigla.keks.nouns import Algorithm, Dek, Kek
from sigla.keys import utf16
from sigla.records import Json
from sigla.shapes import fits

TOPIC: Final = "_dek_registry_keys"
KEK: Final = "KEK"
DEK: Final = "DEK"
TENANT: Final = {"tenant": "default"}


def kek_key(name: str) -> Json:
    return {**TENANT, "name": name, "type": KEK}


def kek_value(kek: Kek) -> Json:
    """The members of a record, in its order."""
    form: Json = {"name": kek.name, "kmsType": kek.kms_type, "kmsKeyId": kek.kms_key_id, "kmsProps": props_json(kek)}
    if kek.doc is not None:
        form["doc"] = kek.doc
    return {**form, "shared": kek.shared, "deleted": kek.deleted, "type": KEK}


def props_json(kek: Kek) -> Json:
    """In the order of UTF-16 code units."""
    return {name: kek.kms_props[name] for name in sorted(kek.kms_props, key=utf16)}


def dek_key(dek: Dek) -> Json:
    return {
        **TENANT,
        "kekName": dek.kek,
        "subject": dek.subject,
        "algorithm": dek.algorithm.value,
        "version": dek.version,
        "type": DEK,
    }


def dek_value(dek: Dek) -> Json:
    return {
        "kekName": dek.kek,
        "subject": dek.subject,
        "algorithm": dek.algorithm.value,
        "version": dek.version,
        "encryptedKeyMaterial": dek.material,
        "deleted": dek.deleted,
        "type": DEK,
    }


# --- as they are stored ----------------------------------------------------------------------------------------------


def kek_json(kek: Kek) -> Json:
    return kek_value(kek) | {"ts": kek.ts, "revision": kek.revision}


def kek(form: Mapping[str, Any]) -> Kek:
    """Raises ValueError, LookupError, TypeError where the form is that of no KEK."""
    found = Kek(
        name=form["name"],
        kms_type=form["kmsType"],
        kms_key_id=form["kmsKeyId"],
        kms_props=form.get("kmsProps", {}),
        doc=form.get("doc"),
        shared=form.get("shared", False),
        deleted=form.get("deleted", False),
        ts=form["ts"],
        revision=form.get("revision", ""),
    )
    if not fits(found, Kek):
        raise TypeError(KEK)
    return found


def dek_json(dek: Dek) -> Json:
    return dek_value(dek) | {"ts": dek.ts, "revision": dek.revision}


def dek(form: Mapping[str, Any]) -> Dek:
    """Raises ValueError, LookupError, TypeError where the form is that of no DEK."""
    found = Dek(
        kek=form["kekName"],
        subject=form["subject"],
        algorithm=Algorithm(form["algorithm"]),
        version=form["version"],
        material=form["encryptedKeyMaterial"],
        deleted=form.get("deleted", False),
        ts=form["ts"],
        revision=form.get("revision", ""),
    )
    if not fits(found, Dek):
        raise TypeError(DEK)
    return found
