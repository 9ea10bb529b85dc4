"""What an operator decides, read once from a mapping of strings.

An unknown name is refused: a typo must not become a default.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final
from urllib.parse import quote, unquote

from sigla.changes.kinds import NAMES_DAYS
from sigla.contract import DEFAULT_LEVEL, REQUEST_BYTES, SCHEMA_BYTES
from sigla.rules.compatibility import LEVELS

PREFIX = "SIGLA_"
REMOTE_URL = f"{PREFIX}URL"
REMOTE_USER = (f"{PREFIX}USER", f"{PREFIX}SECRET")
"""With which commands enter another registry: a name and a secret. A registry itself ignores both."""

_ORIGIN = re.compile(r"\*|null|[a-z][a-z0-9+.-]*://[^/\s?#@A-Z]+")

IDENTITY_FORM = "32 of 0-9 and a-f"
"""What `is_identity` asks for, in words."""

AUTO, KEYS, NONE = "auto", "keys", "none"
"""Who may ask: as it suits the place (everybody on loopback, elsewhere those with keys); those with keys; everybody."""


EXPORTERS_HERE, EXPORTERS_ELSEWHERE = "here", "elsewhere"
"""Where exporters of a function's registry are written down: by this function; or by another one, since this one has
no way to the place for credentials."""

PRIMARY, FOLLOWER = "primary", "follower"
"""What a region is to be while its data do not say."""

REQUIRED, BEST_EFFORT = "required", "best_effort"
"""Whether a registration waits for the other region for good, or goes on without it."""

REGISTRY_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
"""The name of a registry, where several share a store, a deployment or a server: a part of keys, objects and hosts."""
REGISTRY_NAME_FORM: Final = "1 to 63 of a-z, 0-9 and '-', not '-' first"

MOST_NAMES_DAYS: Final = 36_500

RETRYING_SECONDS: Final = 20.0
"""How long a write that loses races tries again. Less than the 29 seconds after which API Gateway gives up."""


class InvalidSetting(ValueError):
    """One sentence: which setting, what is wrong with it, what would be right."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting with its default; the environment variable is the name in capitals after `SIGLA_`.

    registry_name: the metadata space that is served; several may share a store.
    registries: several that are served, `NAME` or `NAME=HOST`, separated by commas. `sigla serve` has each in a
        directory of its name below the one of the data, and `--registry` goes before it; a function has them in one
        table and bucket, `registry_name` among them.
    registry_domain: where each of several is known as `NAME.DOMAIN`.
    stack: the CloudFormation stack that a function is part of, a dimension of its metrics; empty: they have none.
    table, bucket: where a function keeps its data in AWS: a DynamoDB table and an S3 bucket, both or neither.
    identity: of the deployment, which table and bucket must bear (`sigla init`) before anything is written; empty:
        nothing is compared.
    data: a directory for it instead; without any of them it keeps nothing. `sigla serve` has an option.
    store: all of that as the URL of an `Address`, instead of table, bucket and data.
    default_level: of subjects without a level of their own or an inherited one.
    mode_mutability: whether modes may be changed.
    strict_reference_versions: refuse a schema that reaches two versions of one subject under one reference name.
    schema_bytes, request_bytes: longer texts and bodies are refused with 42209 and 413.
    arriving_bytes: what the requests that `sigla serve` has not answered yet may hold in sum; beyond it 503.
    computing_seconds, waiting_seconds: what a request may compute, and how long it may wait, before it is given up
        with 50002.
    retrying_seconds: how long a write that loses races against others tries again, before it is given up with 50002.
    auth: who may ask, one of `AUTO`, `KEYS` and `NONE`. `sigla serve --auth` means KEYS.
    memory_bytes: what schemas kept at hand may take.
    memory_seconds: how long a process keeps a schema at hand before it looks again.
    local_secret: of `local-kms`, for shared KEKs without a secret of their own.
    quota_requests_per_second: how many requests a registry answers in each process; 0: as many as come.
    quota_versions, quota_bytes: how many versions each registry may hold, and, in a directory, how many bytes of
        schemas; 0: as many as there is room for.
    exporters: where a function's registry takes exporters, `EXPORTERS_HERE` or `EXPORTERS_ELSEWHERE`; empty: nowhere.
        `sigla serve` always takes them.
    exporters_function: what the journal's function wakes whenever it has told something new.
    events_bus: a bus of EventBridge, by name or ARN, which gets an event of each commit from the journal's function;
        empty: there are no events.
    region_peer: where the registry has its other region, as an `Address` with a region; empty: it has none.
    region_role: what this one is to be while its data do not say, `PRIMARY` or `FOLLOWER`.
    region_bodies: what becomes of a registration whose schema the other region does not take in time: it is refused
        (`REQUIRED`), or goes on and is told (`BEST_EFFORT`).
    region_url: where a function sends on what only the other region may answer; empty: that is refused.
    exporters_key: the ARN of the KMS key that encrypts what clients bring as credentials of exporters; empty: that of
        AWS for the parameter store.
    zone: the availability zone that a function was put into, by its AZ id; empty: none in particular.
    ring: the members of the zone's cache ring, addresses separated by commas, as in `valkey://10.0.0.7:6379`.
    ring_seconds: how long a schema stands in the ring.
    holders_seconds: how long a function remembers who uses an id; 0: not at all.
    catalog_seconds: how long a read by id waits for a table that does not answer, before the body alone is told.
    issuers: of the bearer tokens that are accepted beside API keys: a JSON list if it begins with `[`, else the path of
        a file that has one (`sigla.auth.tokens.issuers`); empty: none are.
    tls_cert, tls_key: files of a certificate and its key, both or neither, with which `sigla serve` speaks TLS;
        `--tls-cert` and `--tls-key` go before them.
    cors_origins: origins whose browser pages may call, separated by commas; none by default.
    hosts: names that lead to a registry which is open on loopback, besides those of loopback; separated by commas.
    names_days: for how many days after their last change the names of those who changed something are kept; the journal
        has tokens in their place.
    log_reads: the share of successful reads by id and by GUID that a function logs; everything else it logs always.
    log_requests: one JSON line per request on standard output.
    console: whether there are pages for a browser at /console/.
    console_keys: whether administrators who reach everything may make, rotate and revoke API keys there.
    usage: whether it is noted who reads an id, and on which day last.
    """

    registry_name: str = "default"
    registries: str = ""
    registry_domain: str = ""
    stack: str = ""
    table: str = ""
    bucket: str = ""
    identity: str = ""
    data: str = ""
    store: str = ""
    default_level: str = DEFAULT_LEVEL
    mode_mutability: bool = True
    strict_reference_versions: bool = False
    schema_bytes: int = SCHEMA_BYTES
    request_bytes: int = REQUEST_BYTES
    arriving_bytes: int = 64 * 2**20
    computing_seconds: float = 10.0
    waiting_seconds: float = 20.0
    retrying_seconds: float = RETRYING_SECONDS
    memory_bytes: int = 16 * 2**20
    memory_seconds: int = 300
    local_secret: str = ""
    quota_requests_per_second: float = 0.0
    quota_versions: int = 0
    quota_bytes: int = 0
    exporters: str = ""
    exporters_function: str = ""
    events_bus: str = ""
    region_peer: str = ""
    region_role: str = PRIMARY
    region_bodies: str = BEST_EFFORT
    region_url: str = ""
    exporters_key: str = ""
    zone: str = ""
    ring: str = ""
    ring_seconds: int = 3_600
    holders_seconds: int = 60
    catalog_seconds: float = 1.0
    auth: str = AUTO
    issuers: str = ""
    tls_cert: str = ""
    tls_key: str = ""
    cors_origins: str = ""
    hosts: str = ""
    names_days: int = NAMES_DAYS
    log_reads: float = 0.01
    log_requests: bool = True
    console: bool = True
    console_keys: bool = True
    usage: bool = True

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> "Settings":
        """Raises InvalidSetting."""
        known = {field.name: field for field in fields(cls)}
        given: dict[str, Any] = {}
        for variable, text in environ.items():
            if not variable.startswith(PREFIX) or variable in (REMOTE_URL, *REMOTE_USER):
                continue
            name = variable.removeprefix(PREFIX).lower()
            if name not in known:
                raise InvalidSetting(f"Unknown setting {variable}. Valid settings: {_names(known)}.")
            given[name] = _setting_value(variable, text, type(known[name].default))
        settings = cls(**given)
        if bool(settings.table) != bool(settings.bucket):
            raise InvalidSetting(f"{PREFIX}TABLE and {PREFIX}BUCKET belong together: set both, or neither.")
        if settings.store and (settings.table or settings.data):
            raise InvalidSetting(
                f"{PREFIX}STORE names the whole store: leave out {PREFIX}TABLE, {PREFIX}BUCKET and {PREFIX}DATA."
            )
        catalog, _ = settings.address.names
        if settings.identity and not is_identity(settings.identity):
            raise InvalidSetting(f"{PREFIX}IDENTITY is {settings.identity!r}; it must be {IDENTITY_FORM}.")
        if settings.identity and not catalog:
            raise InvalidSetting(
                f"{PREFIX}IDENTITY is that of a table and a bucket: set {PREFIX}TABLE and {PREFIX}BUCKET."
            )
        for name, field in known.items():
            found, least = getattr(settings, name), _LEAST.get(name, 0)
            if type(field.default) in (int, float) and not found >= least:
                raise InvalidSetting(f"{PREFIX}{name.upper()} is {found}; it must be {least} or more.")
        if settings.arriving_bytes < settings.request_bytes:
            raise InvalidSetting(
                f"{PREFIX}ARRIVING_BYTES is {settings.arriving_bytes}; it must be at least {PREFIX}REQUEST_BYTES, "
                f"which is {settings.request_bytes}."
            )
        if settings.events_bus and not catalog:
            raise InvalidSetting(
                f"{PREFIX}EVENTS_BUS is of the journal's function in AWS: set {PREFIX}TABLE and {PREFIX}BUCKET, too."
            )
        if settings.region_role not in (PRIMARY, FOLLOWER):
            raise InvalidSetting(f"{PREFIX}REGION_ROLE is {settings.region_role}; it must be {PRIMARY} or {FOLLOWER}.")
        if settings.region_bodies not in (REQUIRED, BEST_EFFORT):
            raise InvalidSetting(
                f"{PREFIX}REGION_BODIES is {settings.region_bodies}; it must be {REQUIRED} or {BEST_EFFORT}."
            )
        if settings.region_url and not settings.region_peer:
            raise InvalidSetting(f"{PREFIX}REGION_URL is of another region: set {PREFIX}REGION_PEER, too.")
        if settings.ring and not catalog:
            raise InvalidSetting(f"{PREFIX}RING keeps what is in a bucket: set {PREFIX}TABLE and {PREFIX}BUCKET, too.")
        if settings.default_level.upper() not in LEVELS:
            raise InvalidSetting(
                f"{PREFIX}DEFAULT_LEVEL is {settings.default_level}; it must be one of {', '.join(LEVELS)}."
            )
        if not 1 <= settings.names_days <= MOST_NAMES_DAYS:
            raise InvalidSetting(
                f"{PREFIX}NAMES_DAYS is {settings.names_days}; it must be between 1 and {MOST_NAMES_DAYS}."
            )
        if not 0 <= settings.log_reads <= 1:
            raise InvalidSetting(f"{PREFIX}LOG_READS is {settings.log_reads}; it must be between 0 and 1.")
        for origin in listed(settings.cors_origins):
            if not _ORIGIN.fullmatch(origin):
                raise InvalidSetting(
                    f"{PREFIX}CORS_ORIGINS has {origin!r}; an origin is written as browsers send it, as "
                    "https://ui.example or http://localhost:3000, without a path; * is every one."
                )
        if settings.exporters not in ("", EXPORTERS_HERE, EXPORTERS_ELSEWHERE):
            raise InvalidSetting(
                f"{PREFIX}EXPORTERS is {settings.exporters}; it must be {EXPORTERS_HERE}, {EXPORTERS_ELSEWHERE} or "
                "empty."
            )
        if settings.auth not in (AUTO, KEYS, NONE):
            raise InvalidSetting(f"{PREFIX}AUTH is {settings.auth}; it must be one of {AUTO}, {KEYS}, {NONE}.")
        if settings.issuers and settings.auth == NONE:
            raise InvalidSetting(
                f"{PREFIX}ISSUERS is of tokens, and {PREFIX}AUTH={NONE} opens the registry to every caller: leave out "
                "one of the two."
            )
        return settings

    @property
    def address(self) -> "Address":
        """Where a function keeps its data. Raises InvalidSetting."""
        if self.store:
            try:
                return Address.read(self.store, self.registry_name)
            except InvalidSetting as problem:
                raise InvalidSetting(f"{PREFIX}STORE: {problem}") from None
        return Address.of(self.data, self.bucket, self.table, self.registry_name)

    @property
    def peer(self) -> "Address":
        """Where the other region keeps its data. Raises InvalidSetting."""
        try:
            found = Address.read(self.region_peer, self.registry_name)
        except InvalidSetting as problem:
            raise InvalidSetting(f"{PREFIX}REGION_PEER: {problem}") from None
        if not found.region:
            raise InvalidSetting(f"{PREFIX}REGION_PEER is {self.region_peer!r}; it must end with ?region=REGION.")
        return found


STORE_FORM = "file:DIR, memory: or dynamodb+s3://TABLE/BUCKET"
_IN_REGION = re.compile("region=[a-z0-9-]+")
"""The URLs of whole stores, in words."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a registry keeps what it knows, as a URL; `stores.kinds` has the schemes.

    url: file:///srv/sigla or file:data, memory:, dynamodb+s3://TABLE/BUCKET, or s3://BUCKET for bodies alone. Behind a
    table and a bucket ?region=eu-west-1 may say where they are; else the environment does.
    registry: which one, where several share a store.
    """

    url: str
    registry: str = "default"

    @classmethod
    def of(cls, data: str = "", bucket: str = "", table: str = "", registry: str = "default") -> "Address":
        """As settings and options say it: a bucket, with its table or alone; a directory; or nothing, for memory."""
        if bucket:
            return cls(f"dynamodb+s3://{table}/{bucket}" if table else f"s3://{bucket}", registry)
        if data:
            return cls(f"file:{'//' * data.startswith('/')}{quote(data, errors='surrogateescape')}", registry)
        return cls("memory:", registry)

    @classmethod
    def read(cls, url: str, registry: str = "default") -> "Address":
        """As a person writes the URL of a whole store. Raises InvalidSetting where it names nothing.

        Whether there is a kind of store for its scheme is known to `stores.kinds`.
        """
        found = cls(url, registry)
        catalog, bodies = found.names
        match found.scheme:
            case "file":
                whole = bool(found.path)
            case "memory":
                whole = url == "memory:"
            case _ if "?" in url and not _IN_REGION.fullmatch(url.partition("?")[2]):
                whole = False
            case _:
                whole = bool(catalog and bodies) or ("+" not in found.scheme and ":" in url and found.scheme != "s3")
        if not whole:
            raise InvalidSetting(f"Invalid address of a store {url!r}: expected {STORE_FORM}.")
        return found

    @property
    def scheme(self) -> str:
        return self.url.partition(":")[0]

    @property
    def path(self) -> str:
        """The path of the directory, for `file:`."""
        return unquote(self.url.partition(":")[2].removeprefix("//"), errors="surrogateescape")

    @property
    def names(self) -> tuple[str, str]:
        """What holds the catalog, and what holds the bodies, of `a+b://CATALOG/BODIES`; of `b://BODIES` no catalog."""
        rest = self.url.partition("://")[2].partition("?")[0]
        if "+" not in self.scheme:
            return "", rest
        catalog, _, bodies = rest.partition("/")
        return catalog, bodies

    @property
    def region(self) -> str | None:
        """The region of AWS that it names."""
        return self.url.partition("?region=")[2] or None if "+" in self.scheme else None

    def __str__(self) -> str:
        """As people call it."""
        if self.scheme in ("file", "memory"):
            return self.path or self.scheme
        catalog, bodies = self.names
        return f"{self.scheme.rpartition('+')[2]}://{bodies}" + (f" and the table {catalog}" if catalog else "")


def is_identity(text: str) -> bool:
    return re.fullmatch("[0-9a-f]{32}", text) is not None


def listed(text: str) -> tuple[str, ...]:
    """The parts of a setting that may have several, separated by commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def described() -> list[tuple[str, str]]:
    """Every variable with its default, as text."""
    defaults = Settings()
    return [(PREFIX + field.name.upper(), _shown(getattr(defaults, field.name))) for field in fields(Settings)]


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value) or "(none)"


def _setting_value(variable: str, text: str, kind: type) -> object:
    try:
        return _READERS[kind](text)
    except (KeyError, ValueError):
        raise InvalidSetting(f"{variable} is {text!r}; {_EXPECTED[kind]}.") from None


def _names(known: Mapping[str, object]) -> str:
    return ", ".join(PREFIX + name.upper() for name in known)


_LEAST = {"ring_seconds": 1}
"""Settings whose numbers must be more than 0."""

_BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_READERS: Mapping[type, Callable[[str], object]] = {
    str: str,
    int: int,
    float: float,
    bool: lambda text: _BOOLEANS[text.strip().lower()],
}
_EXPECTED = {
    str: "it must be text",
    int: "it must be a whole number",
    float: "it must be a number",
    bool: "it must be true or false",
}
