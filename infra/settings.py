"""What a deployer may choose: one frozen record, read once from CDK's context.

The defaults stand in cdk.json too, where `cdk` looks for them; a deployer changes them there or on the command line
(`cdk deploy -c registry_name=payments -c front_door.function_url=true`). A name that is not known is refused: a typo
must not become a default. docs/deploy.md has a row for each.
"""

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Self

from infra.parts import pipeline_settings

AWS, LOCAL = "aws", "local"
VALKEY, MEMCACHED, NONE = "valkey", "memcached", "none"
LEVELS = (
    "NONE",
    "BACKWARD",
    "BACKWARD_TRANSITIVE",
    "FORWARD",
    "FORWARD_TRANSITIVE",
    "FULL",
    "FULL_TRANSITIVE",
)

ZONE_ID = r"(?P<region>[a-z]{2,6}\d)-az(?P<number>[1-9]\d?)"
"""Of an availability zone: `use1-az1` is the same place in every account, `us-east-1a` is not."""

PARTS_BITS = 4
"""The network is cut into 2 ** 4 parts; the zone -azN has part N."""

# The retention periods that CloudWatch Logs knows, in days.
RETENTIONS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653)


class InvalidSetting(ValueError):
    """One sentence: which setting, what is wrong with it, what would be right."""


@dataclass(frozen=True, slots=True)
class FrontDoor:
    """The ways in.

    function_url: a URL of the function itself beside the REST API: cheaper, without the gateway's throttling.
    requests_per_second, burst: what the REST API lets through, all clients together; more is a 429.
    access_logs: a line in CloudWatch Logs for each request to the REST API, those that the gateway refuses included.
    domain_name, certificate_arn: a name of your own for the REST API, and a certificate of this region for it.
    logs_role: make and set the role through which API Gateway writes logs, one for the account and region; false
        where it has one.
    private_zonal: a second door into each zone, for clients in its network: an endpoint in the zone and a name of its
        own, {zone}.{private_domain}.
    private_domain, private_certificate_arn: what these names end in, and a certificate of this region for all of them.
    private_clients: networks that may come in there besides network.cidr, as CIDRs separated by commas.
    """

    function_url: bool = False
    requests_per_second: int = 500
    burst: int = 1_000
    access_logs: bool = True
    logs_role: bool = True
    domain_name: str = ""
    certificate_arn: str = ""
    private_zonal: bool = False
    private_domain: str = ""
    private_certificate_arn: str = ""
    private_clients: str = ""


@dataclass(frozen=True, slots=True)
class Network:
    """Where zones are. Without zones there is none.

    cidr: its addresses, sixteen equal parts of which each zone has one.
    vpc_id: of a VPC that is there already, instead of a new one; `cidr` is then the part of it that zones take.
    """

    cidr: str = "10.83.0.0/20"
    vpc_id: str = ""


@dataclass(frozen=True, slots=True)
class Ring:
    """The caches of each zone.

    kind: `valkey`, `memcached`, or `none`: then each instance reads S3 for itself.
    members: how many each zone has; each keeps its part of the schemas.
    node_type: of each member.
    presence_seconds: how long a schema stays there; so long may another zone go on reading what one has deleted.
    """

    kind: str = VALKEY
    members: int = 2
    node_type: str = "cache.t4g.micro"
    presence_seconds: int = 3_600


@dataclass(frozen=True, slots=True)
class Function:
    """The function that is the registry.

    memory_mb: also its share of a processor; 1,769 is a whole one.
    reserved_concurrency: how many environments there may be at most; 0 leaves it to the account. A function URL
        answers ten times as many requests a second, and 429 beyond. It is taken from what the account has left.
    snap_start: start from a snapshot, which costs by the month and kept version.
    holders_seconds: how long it remembers who uses an id; 0: not at all.
    tracing: X-Ray traces of the function and the REST API.
    platform_logs: Lambda's own START, END and REPORT lines, three for each request.
    """

    memory_mb: int = 512
    reserved_concurrency: int = 100
    snap_start: bool = True
    holders_seconds: int = 60
    tracing: bool = False
    platform_logs: bool = False


@dataclass(frozen=True, slots=True)
class Journal:
    """The function that writes the journal to the bucket.

    stream: follow the table's stream; else it looks at the table's rows every quarter of an hour, and only then. A
        stream has two readers: of registries that share a table, two may follow it.
    """

    stream: bool = True


@dataclass(frozen=True, slots=True)
class Watch:
    """Who looks after it.

    alarms: on errors, throttles, 5xx, latency and a journal that lags, each at a price by the month.
    topic_arn: of an SNS topic that alarms are sent to; empty: they only change colour.
    p99_ms: the 99th percentile of the REST API's latency that is still well, over five minutes.
    dashboard: one in CloudWatch; the account's first three are free.
    """

    alarms: bool = True
    topic_arn: str = ""
    p99_ms: int = 2_000
    dashboard: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """The choices of one deployment.

    stage: `local` is for LocalStack: nothing is retained, the layer is for this machine's processor, and what
        LocalStack has not is left out.
    stack_name: of the CloudFormation stack; two registries in one account and region need two.
    registry_name: the isolated metadata space this stack serves; the first component of every stored name.
    bucket_name, table_name: of a bucket and a table that are there already: shared by several registries, kept from an
        earlier stack, or restored from a backup. Empty: the stack makes its own.
    table_stream_arn: of the stream of that table, which the journal follows.
    auth: who may ask: `keys`, those with an API key, or `none`, everybody who reaches it.
    default_level: compatibility where nothing else is set.
    cors_origins: origins whose browser pages may call, separated by commas.
    log_requests: one line per request from the function.
    log_reads: the share of successful reads by id that have one, 0 to 1.
    metrics: the function's own, eight, each at a price in a month in which anything is asked.
    log_days: how long logs are kept.
    zones: ids of availability zones that get a URL and a ring of caches each, separated by commas.
    """

    stage: str = AWS
    stack_name: str = "sigla"
    registry_name: str = "default"
    bucket_name: str = ""
    table_name: str = ""
    table_stream_arn: str = ""
    auth: str = "keys"
    default_level: str = "BACKWARD"
    cors_origins: str = ""
    log_requests: bool = True
    log_reads: float = 0.01
    metrics: bool = True
    log_days: int = 30
    zones: str = ""
    front_door: FrontDoor = field(default_factory=FrontDoor)
    network: Network = field(default_factory=Network)
    ring: Ring = field(default_factory=Ring)
    function: Function = field(default_factory=Function)
    journal: Journal = field(default_factory=Journal)
    watch: Watch = field(default_factory=Watch)
    pipelines: pipeline_settings.Pipelines = field(default_factory=pipeline_settings.Pipelines)

    def __post_init__(self) -> None:
        """Raises InvalidSetting."""
        for name, value in flat(self).items():
            if name in _RULES and not _RULES[name][0](value):
                message = f"{name} is {value!r}; {_RULES[name][1]}."
                raise InvalidSetting(message)
        for fits, sentence in _TOGETHER:
            if not fits(self):
                raise InvalidSetting(sentence)
        for suits, sentence in pipeline_settings.TOGETHER:
            if not suits(self.pipelines):
                raise InvalidSetting(sentence)

    @property
    def local(self) -> bool:
        return self.stage == LOCAL

    @property
    def zone_ids(self) -> tuple[str, ...]:
        return listed(self.zones)

    @property
    def private_doors(self) -> bool:
        """LocalStack has no names and no endpoints that anybody could come in by."""
        return self.front_door.private_zonal and not self.local

    def cidr_of(self, zone: str) -> str:
        """The addresses of a zone: they depend on its own id alone, so that zones come and go without each other."""
        parts = ipaddress.ip_network(self.network.cidr).subnets(prefixlen_diff=PARTS_BITS)
        return str(list(parts)[_number(zone)])

    @classmethod
    def read(cls, context: Mapping[str, Any]) -> Self:
        """The settings of a context. CDK keeps its own affairs there too, under names with ':' or '/'.

        Raises InvalidSetting.
        """
        ours = {name: value for name, value in context.items() if not re.search(r"[:/]", name)}
        known = flat(cls())
        if unknown := sorted(ours.keys() - known):
            message = f"{', '.join(unknown)}: no such setting; the settings are {', '.join(known)}."
            raise InvalidSetting(message)
        given = {name: _value(name, value, type(known[name])) for name, value in ours.items()}
        settings: Self = _filled(cls, given)
        return settings


def listed(value: str) -> tuple[str, ...]:
    """What is separated by commas."""
    return tuple(each.strip() for each in value.split(",") if each.strip())


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
        return _READERS[kind](str(value))
    except (KeyError, ValueError):
        message = f"{name} is {value!r}; {_EXPECTED[kind]}."
        raise InvalidSetting(message) from None


_READERS: Mapping[type, Callable[[str], object]] = {
    str: str,
    int: int,
    float: float,
    bool: lambda text: {"true": True, "false": False}[text.lower()],
}
_EXPECTED: Mapping[type, str] = {
    str: "it must be text",
    int: "it must be a whole number",
    float: "it must be a number",
    bool: "it must be true or false",
}


def _number(zone: str) -> int:
    """Raises ValueError."""
    found = re.fullmatch(ZONE_ID, zone)
    if found is None or int(found["number"]) >= 2**PARTS_BITS:
        raise ValueError(zone)
    return int(found["number"])


def _are_zones(value: str) -> bool:
    """Different ones, of one region."""
    zones = listed(value)
    try:
        numbers = list(map(_number, zones))
    except ValueError:
        return False
    return len(set(numbers)) == len(zones) and len({zone.split("-")[0] for zone in zones}) <= 1


def _is_network(value: str) -> bool:
    """As large as a VPC may be, or as small as sixteen subnets need: AWS has /16 to /28."""
    try:
        network = ipaddress.ip_network(value)
    except ValueError:
        return False
    return isinstance(network, ipaddress.IPv4Network) and 16 <= network.prefixlen <= 28 - PARTS_BITS


def _are_networks(value: str) -> bool:
    try:
        return all(ipaddress.IPv4Network(each) for each in listed(value))
    except ValueError:
        return False


# What settings must be together.
_TOGETHER: tuple[tuple[Callable[[Settings], object], str], ...] = (
    (
        lambda given: bool(given.front_door.domain_name) == bool(given.front_door.certificate_arn),
        "front_door.domain_name and front_door.certificate_arn go together: give both or neither.",
    ),
    (
        lambda given: given.table_name or not given.table_stream_arn,
        "table_stream_arn is of the table that table_name names: give both, or table_name alone.",
    ),
    (
        lambda given: given.local or not given.table_name or given.table_stream_arn or not given.journal.stream,
        "table_name needs table_stream_arn, the ARN of that table's stream, or journal.stream=false.",
    ),
    (
        # It names a ring's user, which has 40 letters; a zone's id has up to twelve of them.
        lambda given: not given.zones or len(given.stack_name) <= 27,
        "stack_name must be 27 letters at most where there are zones.",
    ),
    (
        lambda given: not given.front_door.private_zonal or given.zones,
        "front_door.private_zonal is a door into zones: say which in zones.",
    ),
    (
        lambda given: (
            given.front_door.private_zonal
            == bool(given.front_door.private_domain)
            == bool(given.front_door.private_certificate_arn)
        ),
        "front_door.private_zonal needs front_door.private_domain and front_door.private_certificate_arn.",
    ),
    (
        lambda given: not given.local or not given.pipelines.enabled,
        "pipelines.enabled needs EMR Serverless, which LocalStack has not: leave it off where stage is local.",
    ),
)

_ORIGIN = re.compile(r"\*|null|[a-z][a-z0-9+.-]*://[^/\s?#@A-Z]+").fullmatch

# What a value must be: a test and how the sentence ends.
_RULES: Mapping[str, tuple[Callable[[Any], object], str]] = {
    "stage": (lambda value: value in (AWS, LOCAL), "it must be aws or local"),
    # It becomes part of S3 keys, DynamoDB keys and metric names, all of which take these as they are.
    "registry_name": (
        lambda value: re.fullmatch(r"[a-z0-9][a-z0-9-]{0,62}", value),
        "it must be 1 to 63 of a-z, 0-9 and '-', not '-' first",
    ),
    "cors_origins": (lambda value: all(map(_ORIGIN, listed(value))), "it must be origins, as https://ui.example, or *"),
    "auth": (lambda value: value in ("keys", "none"), "it must be keys or none"),
    "default_level": (lambda value: value in LEVELS, f"it must be one of {', '.join(LEVELS)}"),
    "log_days": (lambda value: value in RETENTIONS, f"it must be one of {', '.join(map(str, RETENTIONS))}"),
    "log_reads": (lambda value: 0 <= value <= 1, "it must be between 0 and 1"),
    "function.holders_seconds": (lambda value: value >= 0, "it must be 0 or more"),
    "front_door.requests_per_second": (lambda value: 1 <= value <= 10_000, "it must be 1 to 10000"),
    "front_door.burst": (lambda value: 1 <= value <= 5_000, "it must be 1 to 5000"),
    "function.memory_mb": (lambda value: 256 <= value <= 10_240, "it must be 256 to 10240"),
    "function.reserved_concurrency": (lambda value: value >= 0, "it must be 0 or more"),
    "watch.p99_ms": (lambda value: value >= 1, "it must be 1 or more"),
    "table_stream_arn": (lambda value: not value or "/stream/" in value, "it must be the ARN of a stream, or empty"),
    "zones": (
        _are_zones,
        "it must be ids of availability zones of one region, each once, such as use1-az1,use1-az2",
    ),
    "network.cidr": (_is_network, "it must be a network between /16 and /24, such as 10.83.0.0/20"),
    "network.vpc_id": (lambda value: re.fullmatch(r"(vpc-[0-9a-f]+)?", value), "it must be the id of a VPC, or empty"),
    "ring.kind": (lambda value: value in (VALKEY, MEMCACHED, NONE), "it must be valkey, memcached or none"),
    # Their addresses are in the function's environment, which holds 4 KB.
    "ring.members": (lambda value: 1 <= value <= 10, "it must be 1 to 10"),
    "ring.node_type": (lambda value: value.startswith("cache."), "it must be a type of ElastiCache's nodes"),
    "ring.presence_seconds": (lambda value: 60 <= value <= 86_400, "it must be 60 to 86400"),
    "front_door.private_clients": (_are_networks, "it must be CIDRs separated by commas, or empty"),
    "watch.topic_arn": (lambda value: not value or value.startswith("arn:"), "it must be an ARN, or empty"),
    **pipeline_settings.RULES,
}
