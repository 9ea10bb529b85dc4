"""What a deployer may choose: one frozen record, which holds the defaults.

A deployer writes what differs from them into a stage file (`stage_files.py`), or, where it does not say where the data
is, on the command line (`-c front_door.function_url=true`). A name that is not known is refused: a typo must not become
a default. Names with a dot are in `choices/`, by what stands before it. docs/deploy.md has a row for each.
"""

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Self

from sigla.contract import LEVELS
from sigla.deployment.choices import (
    events,
    front_door,
    function,
    issuers,
    journal,
    network,
    pipelines,
    platform,
    regions,
    ring,
    watch,
)
from sigla.deployment.choices.events import EventChoices
from sigla.deployment.choices.front_door import FrontDoor
from sigla.deployment.choices.function import Function
from sigla.deployment.choices.journal import JournalChoices
from sigla.deployment.choices.network import Network
from sigla.deployment.choices.pipelines import Pipelines
from sigla.deployment.choices.platform import Platform
from sigla.deployment.choices.regions import RegionsChoices
from sigla.deployment.choices.ring import RingChoices
from sigla.deployment.choices.rules import (
    BUCKET_EXPECTED,
    PARTS_BITS,
    TABLE_EXPECTED,
    Rules,
    are_zones,
    is_bucket,
    is_known,
    listed,
    zone_number,
)
from sigla.deployment.choices.together import LOCAL_STACK, TOGETHER
from sigla.deployment.choices.watch import Watch
from sigla.settings import MOST_NAMES_DAYS, REGISTRY_NAME, REGISTRY_NAME_FORM

AWS, LOCAL = "aws", "local"

# The retention periods that CloudWatch Logs knows, in days.
RETENTIONS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653)


class InvalidSetting(ValueError):
    """One sentence: which setting, what is wrong with it, what would be right."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The choices of one deployment.

    stage: `local` is for LocalStack: nothing is retained, the layer is for this machine's processor, and what
        LocalStack has not is left out.
    stack_name: of the CloudFormation stack; two registries in one account and region need two. Empty: `sigla-` and the
        registry's name.
    account, region: where it is deployed, and nowhere else; empty: wherever credentials and environment lead.
    registry_name: the isolated metadata space this stack serves; the first component of every stored name.
    registries: names of further ones beside it in the same table and bucket, separated by commas; each has a function,
        a role and doors of its own.
    pool: names of further ones that the function of `registry_name` serves as well, separated by commas; which one a
        request is for, it says itself.
    identity: which registry this is among all that there were and will be: 32 hex digits, drawn once at random. Empty:
        nothing is compared.
    bucket_name, table_name: of a bucket and a table that are there already: shared by several registries, kept from an
        earlier stack, or restored from a backup. Empty: the stack makes its own.
    table_stream_arn: of the stream of that table, which the journal follows.
    auth: who may ask: `keys`, those with an API key, or `none`, everybody who reaches it.
    issuers: of bearer tokens that are accepted beside API keys, a JSON list; in a stage file it may be a list of
        tables (docs/security.md).
    default_level: compatibility where nothing else is set.
    cors_origins: origins whose browser pages may call, separated by commas.
    console: whether there are pages for a browser at /console/.
    console_keys: whether administrators who reach everything may make and revoke API keys there.
    usage: whether it is noted who reads an id, and on which day last.
    log_requests: one line per request from the function.
    log_reads: the share of successful reads by id and by GUID that have one, 0 to 1.
    names_days: for how many days after their last change the names of those who changed something are kept.
    metrics: the function's own, eight, each at a price in a month in which anything is asked.
    log_days: how long logs are kept.
    zones: ids of availability zones that get a URL and a ring of caches each, separated by commas.
    exporters: whether there may be exporters, and the function that runs them.
    qualifier: of the bootstrap that the stack is deployed through; empty: CDK's own.
    """

    stage: str = AWS
    stack_name: str = ""
    account: str = ""
    region: str = ""
    registry_name: str = "default"
    registries: str = ""
    pool: str = ""
    identity: str = ""
    bucket_name: str = ""
    table_name: str = ""
    table_stream_arn: str = ""
    auth: str = "keys"
    issuers: str = ""
    default_level: str = "BACKWARD"
    cors_origins: str = ""
    console: bool = True
    console_keys: bool = False
    usage: bool = True
    log_requests: bool = True
    log_reads: float = 0.01
    names_days: int = 400
    metrics: bool = True
    log_days: int = 30
    zones: str = ""
    exporters: bool = False
    qualifier: str = ""
    front_door: FrontDoor = field(default_factory=FrontDoor)
    network: Network = field(default_factory=Network)
    ring: RingChoices = field(default_factory=RingChoices)
    function: Function = field(default_factory=Function)
    journal: JournalChoices = field(default_factory=JournalChoices)
    events: EventChoices = field(default_factory=EventChoices)
    regions: RegionsChoices = field(default_factory=RegionsChoices)
    watch: Watch = field(default_factory=Watch)
    pipelines: Pipelines = field(default_factory=Pipelines)
    platform: Platform = field(default_factory=Platform)

    def __post_init__(self) -> None:
        """Raises InvalidSetting."""
        for name, value in flat(self).items():
            if name in _RULES and is_known(value) and not _RULES[name][0](value):
                message = f"{name} is {value!r}; {_RULES[name][1]}."
                raise InvalidSetting(message)
        if not self.stack_name:
            kind = LOCAL_STACK if self.local else "sigla-"
            object.__setattr__(self, "stack_name", f"{kind}{self.registry_name}")
        several = self.all_registries if self.registries or self.pool else ()
        if wrong := issuers.problem(self.issuers, several):
            raise InvalidSetting(wrong)
        for fits, sentence in TOGETHER:
            if not fits(self):
                raise InvalidSetting(sentence)
        for section, rules in _SECTIONS.items():
            for suits, sentence in rules.TOGETHER:
                if not suits(getattr(self, section)):
                    raise InvalidSetting(sentence)

    @property
    def local(self) -> bool:
        return self.stage == LOCAL

    @property
    def zone_ids(self) -> tuple[str, ...]:
        return listed(self.zones)

    @property
    def private_doors(self) -> bool:
        """LocalStack has neither names nor endpoints for clients to come in by."""
        return self.front_door.private_zonal and not self.local

    @property
    def more_registries(self) -> tuple[str, ...]:
        """Those beside `registry_name`, each with a function of its own."""
        return listed(self.registries)

    @property
    def pooled(self) -> tuple[str, ...]:
        """Those that the function of `registry_name` serves as well."""
        return listed(self.pool)

    @property
    def all_registries(self) -> tuple[str, ...]:
        """All that the stack serves, its own first."""
        return (self.registry_name, *self.more_registries, *self.pooled)

    @property
    def served(self) -> str:
        """What the function of `registry_name` serves, in words that another one in the pool does not change."""
        return f"the {'pool with the ' if self.pool else ''}registry {self.registry_name}"

    def of(self, registry: str) -> Self:
        """The choices of a further registry: those of the stage, under names of its own.

        The domain and the jobs are of the stage's own registry.
        """
        door = replace(self.front_door, domain_name="", certificate_arn="")
        return replace(
            self,
            registry_name=registry,
            registries="",
            pool="",
            stack_name=f"{self.stack_name}-{registry}",
            front_door=door,
            pipelines=Pipelines(),
        )

    @property
    def journals(self) -> tuple[str, ...]:
        """The registries that the journal's function may serve; none: all that are in the table and the bucket.

        Stores that the stack was given may hold registries of other stacks. A pool has its stores to itself.
        """
        is_given = self.table_name or self.bucket_name
        return (self.registry_name, *self.more_registries) if is_given and not self.pool else ()

    @property
    def replay_stream(self) -> bool:
        """Whether commits are told to the other region at once: a table on LocalStack has no stream."""
        return self.journal.stream and not self.local

    @property
    def public_doors(self) -> bool:
        """LocalStack, where no door is private, has them in any case."""
        return self.front_door.public or self.local

    @property
    def zone_urls(self) -> bool:
        """The same of each zone's URL."""
        return self.front_door.zone_urls or self.local

    @property
    def key_arn(self) -> str:
        """LocalStack's data goes with its process, and needs no key."""
        return "" if self.local else self.platform.key_arn

    @property
    def closed_zones(self) -> bool:
        """Whether zones are in subnets of ours, which lead to S3 and DynamoDB alone. LocalStack has no such walls."""
        return bool(self.zones) and not self.network.subnets and not self.local

    @property
    def zone_kms_keys(self) -> tuple[str, ...]:
        """Keys to which each zone needs an endpoint: subnets that are there bring a way, and LocalStack has one."""
        return self.function.kms_key_arns if self.closed_zones else ()

    def cidr_of(self, zone: str) -> str:
        """The addresses of a zone: they depend on its own id alone, so that zones come and go without each other."""
        parts = ipaddress.ip_network(self.network.cidr).subnets(prefixlen_diff=PARTS_BITS)
        return str(list(parts)[zone_number(zone)])

    @classmethod
    def read(cls, context: Mapping[str, Any]) -> Self:
        """The settings of a context. CDK keeps its own affairs there too, under names with ':' or '/'.

        Raises InvalidSetting.
        """
        ours = {name: value for name, value in context.items() if not is_of_cdk(name)}
        known = flat(cls())
        if unknown := sorted(ours.keys() - known):
            message = f"Unknown setting {', '.join(unknown)}. Valid settings: {', '.join(known)}."
            raise InvalidSetting(message)
        given = {name: _value(name, value, type(known[name])) for name, value in ours.items()}
        settings: Self = _filled(cls, given)
        return settings


def is_of_cdk(name: str) -> bool:
    """Whether a name in a context is one of CDK's own affairs, and no setting."""
    return bool(re.search(r"[:/]", name))


def flat(settings: object, prefix: str = "") -> dict[str, Any]:
    """Every setting under its name in the context: {"stage": "aws", …, "watch.dashboard": False}."""
    return dict(_pairs(settings, prefix))


def _pairs(record: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    for each in fields(record):
        value = getattr(record, each.name)
        if is_dataclass(value):
            yield from _pairs(value, f"{prefix}{each.name}.")
        else:
            yield f"{prefix}{each.name}", value


def _filled(kind: Any, given: Mapping[str, Any], prefix: str = "") -> Any:
    """A record of the kind: what is given under its names, else the defaults."""
    chosen = {}
    for each in fields(kind):
        name = f"{prefix}{each.name}"
        if is_dataclass(each.type):
            chosen[each.name] = _filled(each.type, given, f"{name}.")
        elif name in given:
            chosen[each.name] = given[name]
    return kind(**chosen)


def _value(name: str, value: object, kind: type) -> object:
    """What is given, as the kind it must be: numbers and booleans come as text from the command line."""
    if type(value) is kind:
        return value
    try:
        return _FROM_TEXT[kind](str(value))
    except (KeyError, ValueError):
        message = f"{name} is {value!r}; {EXPECTED[kind]}."
        raise InvalidSetting(message) from None


_FROM_TEXT: Mapping[type, Callable[[str], object]] = {
    str: str,
    int: int,
    float: float,
    bool: lambda text: {"true": True, "false": False}[text.lower()],
}
EXPECTED: Mapping[type, str] = {
    str: "it must be text",
    int: "it must be a whole number",
    float: "it must be a number",
    bool: "it must be true or false",
}
"""How the sentence ends that refuses a value of another kind."""

_REGISTRY = REGISTRY_NAME.fullmatch
_ORIGIN = re.compile(r"\*|null|[a-z][a-z0-9+.-]*://[^/\s?#@A-Z]+").fullmatch

_SECTIONS: Mapping[str, Any] = {
    "front_door": front_door,
    "network": network,
    "ring": ring,
    "function": function,
    "journal": journal,
    "events": events,
    "regions": regions,
    "watch": watch,
    "pipelines": pipelines,
    "platform": platform,
}
"""Modules with RULES for the settings of a section and TOGETHER for its record."""

_RULES: Rules = {
    "stage": (lambda value: value in (AWS, LOCAL), "it must be aws or local"),
    # It becomes part of S3 keys, DynamoDB keys and metric names, all of which take these as they are.
    "registry_name": (_REGISTRY, f"it must be {REGISTRY_NAME_FORM}"),
    **dict.fromkeys(
        ("registries", "pool"),
        (
            lambda value: all(map(_REGISTRY, listed(value))) and len(set(listed(value))) == len(listed(value)),
            "it must be names of registries, each once, of 1 to 63 of a-z, 0-9 and '-', not '-' first, as payments,ads",
        ),
    ),
    "identity": (
        lambda value: re.fullmatch(r"([0-9a-f]{32})?", value),
        "it must be 32 of 0-9 and a-f, or empty",
    ),
    "stack_name": (
        re.compile(r"([A-Za-z][A-Za-z0-9-]{0,127})?").fullmatch,
        "it must be 1 to 128 letters, digits and '-', a letter first, or empty",
    ),
    "account": (
        re.compile(r"([0-9]{12})?").fullmatch,
        "it must be the number of an AWS account, twelve digits, or empty",
    ),
    "region": (
        re.compile(r"([a-z]{2,6}(-[a-z]+)+-\d)?").fullmatch,
        "it must be a region, such as eu-west-1, or empty",
    ),
    "qualifier": (re.compile(r"[a-z0-9]{0,10}").fullmatch, "it must be up to 10 of a-z and 0-9, or empty"),
    "bucket_name": (is_bucket, BUCKET_EXPECTED),
    "table_name": (re.compile(r"([A-Za-z0-9_.-]{3,255})?").fullmatch, TABLE_EXPECTED),
    "cors_origins": (lambda value: all(map(_ORIGIN, listed(value))), "it must be origins, as https://ui.example, or *"),
    "auth": (lambda value: value in ("keys", "none"), "it must be keys or none"),
    "default_level": (lambda value: value in LEVELS, f"it must be one of {', '.join(LEVELS)}"),
    "log_days": (lambda value: value in RETENTIONS, f"it must be one of {', '.join(map(str, RETENTIONS))}"),
    "log_reads": (lambda value: 0 <= value <= 1, "it must be between 0 and 1"),
    "names_days": (lambda value: 1 <= value <= MOST_NAMES_DAYS, f"it must be between 1 and {MOST_NAMES_DAYS}"),
    "table_stream_arn": (lambda value: not value or "/stream/" in value, "it must be the ARN of a stream, or empty"),
    "zones": (
        are_zones,
        "it must be ids of availability zones of one region, each once, such as use1-az1,use1-az2",
    ),
    **{f"{section}.{name}": rule for section, rules in _SECTIONS.items() for name, rule in rules.RULES.items()},
}
