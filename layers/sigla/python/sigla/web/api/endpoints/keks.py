"""Keys for the encryption of fields: KEKs, and DEKs under them."""

from collections.abc import Sequence

from sigla.auth.permissions import DELETE
from sigla.keks.nouns import DEFAULT_ALGORITHM, Algorithm, Kek
from sigla.keks.rules import check_kek_name, check_subject, without_credentials
from sigla.keks.verbs import deks as dek_verbs
from sigla.keks.verbs import keks as kek_verbs
from sigla.keks.verbs import listing
from sigla.keks.verbs.asking import text_of
from sigla.keks.verbs.deks import ShownDek
from sigla.model import Page, Version
from sigla.registry import Registry
from sigla.web.api.exchange import Exchange
from sigla.web.api.replies import json_answer, nothing, secret_answer
from sigla.web.api.wire import keks as wire
from sigla.web.http.answer import Answer

ONLY_VERSION = Version(1)
"""What a read without a version is about (KEY-11)."""

# --- KEKs ------------------------------------------------------------------------------------------------------------


def kek_names(
    exchange: Exchange,  # noqa: ARG001 - every endpoint is called alike
    registry: Registry,
    *,
    subject_prefix: Sequence[str],
    deleted: bool,
    offset: int,
    limit: int,
) -> Answer:
    return json_answer(listing.kek_names(registry, subject_prefix, deleted=deleted, page=Page(offset, limit)))


def create_kek(exchange: Exchange, registry: Registry, *, test_sharing: bool) -> Answer:
    draft = wire.read_kek(exchange.body, exchange.operation)
    if draft.deleted:  # it deletes an equal one that stands (KEY-4)
        exchange.check(DELETE)
    return _shown(exchange, kek_verbs.create_kek(registry, draft, test_sharing=test_sharing))


def show_kek(exchange: Exchange, registry: Registry, *, deleted: bool) -> Answer:
    return _shown(exchange, kek_verbs.read_kek(registry, exchange.params["kek"], deleted=deleted))


def update_kek(exchange: Exchange, registry: Registry, *, test_sharing: bool) -> Answer:
    patch = wire.read_kek_patch(exchange.body, exchange.operation)
    return _shown(exchange, kek_verbs.update_kek(registry, exchange.params["kek"], patch, test_sharing=test_sharing))


def delete_kek(exchange: Exchange, registry: Registry, *, permanent: bool) -> Answer:
    kek_verbs.delete_kek(registry, exchange.params["kek"], permanent=permanent)
    return nothing()


def undelete_kek(exchange: Exchange, registry: Registry) -> Answer:
    kek_verbs.undelete_kek(registry, exchange.params["kek"])
    return nothing()


def try_kek(exchange: Exchange, registry: Registry) -> Answer:
    return _shown(exchange, kek_verbs.try_kek(registry, exchange.params["kek"]))


def _shown(exchange: Exchange, kek: Kek) -> Answer:
    """Credentials are told to principals alone that may write the KEK."""
    plain = without_credentials(kek)
    has_credentials = exchange.sees_credentials and kek != plain
    return secret_answer(wire.kek(kek)) if has_credentials else json_answer(wire.kek(plain))


# --- DEKs ------------------------------------------------------------------------------------------------------------


def dek_subjects(exchange: Exchange, registry: Registry, *, deleted: bool, offset: int, limit: int) -> Answer:
    return json_answer(
        listing.dek_subjects(registry, exchange.params["kek"], deleted=deleted, page=Page(offset, limit))
    )


def create_dek_named(exchange: Exchange, registry: Registry) -> Answer:
    draft = wire.read_dek(exchange.body, exchange.operation)
    if draft.deleted:
        exchange.check(DELETE)
    return _shown_dek(dek_verbs.create_dek_named(registry, exchange.params["kek"], draft))


def create_dek(exchange: Exchange, registry: Registry, *, rewrap: bool) -> Answer:
    draft = wire.read_dek(exchange.body, exchange.operation, rewrap=rewrap)
    if draft.deleted:
        exchange.check(DELETE, exchange.subject)
    return _shown_dek(dek_verbs.create_dek(registry, exchange.params["kek"], exchange.subject, draft))


def show_first_dek(exchange: Exchange, registry: Registry, *, algorithm: str, deleted: bool) -> Answer:
    kek, subject, kind = exchange.params["kek"], exchange.subject, _algorithm(algorithm)
    return _shown_dek(dek_verbs.read_dek(registry, kek, subject, ONLY_VERSION, kind, deleted=deleted))


def dek_versions(
    exchange: Exchange, registry: Registry, *, algorithm: str, deleted: bool, offset: int, limit: int
) -> Answer:
    kek, subject, kind = exchange.params["kek"], exchange.subject, _algorithm(algorithm)
    return json_answer(listing.dek_versions(registry, kek, subject, kind, deleted=deleted, page=Page(offset, limit)))


def show_dek(exchange: Exchange, registry: Registry, *, algorithm: str, deleted: bool) -> Answer:
    kek, subject, kind = exchange.params["kek"], exchange.subject, _algorithm(algorithm)
    number = _version_in_path(exchange)
    return _shown_dek(dek_verbs.read_dek(registry, kek, subject, number, kind, deleted=deleted))


def delete_deks(exchange: Exchange, registry: Registry, *, algorithm: str, permanent: bool) -> Answer:
    """The one version that the path names, or all of them."""
    kek, subject, kind = exchange.params["kek"], exchange.subject, _algorithm(algorithm)
    dek_verbs.delete_deks(registry, kek, subject, _named_version(exchange), kind, permanent=permanent)
    return nothing()


def undelete_deks(exchange: Exchange, registry: Registry, *, algorithm: str) -> Answer:
    """The one version that the path names, or all of them."""
    kek, subject, kind = exchange.params["kek"], exchange.subject, _algorithm(algorithm)
    dek_verbs.undelete_deks(registry, kek, subject, _named_version(exchange), kind)
    return nothing()


def _shown_dek(shown: ShownDek) -> Answer:
    told = wire.dek(*shown)
    return json_answer(told) if shown.raw is None else secret_answer(told)


def _algorithm(said: str) -> Algorithm:
    return Algorithm(said) if said else DEFAULT_ALGORITHM


def _named_version(exchange: Exchange) -> Version | None:
    """None where the path names none: then it is about all versions."""
    return _version_in_path(exchange) if "version" in exchange.params else None


def _version_in_path(exchange: Exchange) -> Version:
    """The number in the path, judged after the names (KEY-11). Raises InvalidKeyField, InvalidVersion."""
    check_kek_name(exchange.params["kek"])
    check_subject(text_of(exchange.subject))
    return exchange.version
