"""What our functions are told: their variables, by the settings of a stage."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import aws_cdk as cdk

from sigla.cdk.parts.fingerprint import fingerprint
from sigla.cdk.storage import Storage
from sigla.deployment.settings import Settings
from sigla.deployment.translation import FINGERPRINT, ISSUERS, RING_SECONDS, VARIABLES
from sigla.settings import EXPORTERS_ELSEWHERE, EXPORTERS_HERE

POOL, POOL_DOMAIN = "SIGLA_REGISTRIES", "SIGLA_REGISTRY_DOMAIN"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a zone's function runs and what it finds there.

    subnet, security_group: their ids. ring: addresses of the members, as SIGLA_RING has them. members: ARNs to connect.
    parts: all that these come from: what AWS replaces of it has another id or another address afterwards. variables:
    by which ways it asks other services.
    """

    zone: str
    subnet: str
    security_group: str
    ring: Sequence[str]
    members: Sequence[str]
    parts: Sequence[cdk.CfnResource]
    variables: Mapping[str, str]


def stored(settings: Settings, storage: Storage) -> dict[str, str]:
    """What every function is told: where its registry is kept, whose that has to be, and which stack it is of."""
    kept = {
        "SIGLA_REGISTRY_NAME": settings.registry_name,
        "SIGLA_STACK": settings.stack_name,
        "SIGLA_TABLE": storage.table.table_name,
        "SIGLA_BUCKET": storage.bucket.bucket_name,
    }
    return kept | ({"SIGLA_IDENTITY": settings.identity} if settings.identity else {})


def variables(settings: Settings, storage: Storage, place: Place | None = None) -> dict[str, str]:
    """What the registry is told: settings of sigla.settings, and one of Powertools'. place: of a zone's function."""
    return stored(settings, storage) | {
        **{name: value(settings) for name, value in VARIABLES.items() if name not in (RING_SECONDS, ISSUERS)},
        **({ISSUERS: settings.issuers} if settings.issuers else {}),
        "SIGLA_CONSOLE_KEYS": json.dumps(settings.console_keys),
        "POWERTOOLS_METRICS_DISABLED": json.dumps(not settings.metrics),
        **(_of_exporters(settings) if settings.exporters else {}),
        **(_of_the_pool(settings) if settings.pool else {}),
        **_of_quotas(settings),
        **of_the_regions(settings),
        **(_of_the_place(settings, place) if place else {}),
    }


def of_what_answers(settings: Settings) -> dict[str, str]:
    """By which settings a registry answers otherwise than another: `sigla.regions.installed_here` compares them."""
    return {name: VARIABLES[name](settings) for name in ("SIGLA_AUTH", "SIGLA_DEFAULT_LEVEL")} | _of_quotas(settings)


def _of_quotas(settings: Settings) -> dict[str, str]:
    return {
        **({"SIGLA_QUOTA_REQUESTS_PER_SECOND": f"{quota:g}"} if (quota := settings.function.quota_per_second) else {}),
        **({"SIGLA_QUOTA_VERSIONS": str(versions)} if (versions := settings.function.quota_versions) else {}),
    }


def of_the_regions(settings: Settings) -> dict[str, str]:
    """Where the other one is, and what this one is to be while its data do not say; nothing where there is one."""
    chosen = settings.regions
    if not chosen.peer:
        return {}
    told = {"SIGLA_REGION_PEER": chosen.peer, "SIGLA_REGION_ROLE": chosen.role, "SIGLA_REGION_BODIES": chosen.bodies}
    return told | ({"SIGLA_REGION_URL": chosen.url} if chosen.url else {})


def _of_the_pool(settings: Settings) -> dict[str, str]:
    """Another registry of the pool changes the first of them, and nothing else of a template."""
    domain = settings.front_door.wildcard_domain
    return {POOL: ",".join((settings.registry_name, *settings.pooled))} | ({POOL_DOMAIN: domain} if domain else {})


def _of_exporters(settings: Settings) -> dict[str, str]:
    """Where they are created, and what encrypts their credentials."""
    return {"SIGLA_EXPORTERS": EXPORTERS_HERE} | ({"SIGLA_EXPORTERS_KEY": settings.key_arn} if settings.key_arn else {})


def _of_the_place(settings: Settings, place: Place) -> dict[str, str]:
    return {
        "SIGLA_ZONE": place.zone,
        "SIGLA_RING": ",".join(place.ring),
        RING_SECONDS: VARIABLES[RING_SECONDS](settings),
        FINGERPRINT: fingerprint(place.parts),
        **place.variables,
        **({"SIGLA_EXPORTERS": EXPORTERS_ELSEWHERE} if settings.exporters and settings.closed_zones else {}),
    }
