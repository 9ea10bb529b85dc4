"""What a deployer may choose: one frozen record, read once from CDK's context.

The defaults stand in cdk.json too, where `cdk` looks for them; a deployer changes them there or on the command line
(`cdk deploy -c registry_name=payments -c front_door.function_url=true`). A name that is not known is refused: a typo
must not become a default. docs/deploy.md has a row for each.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Self

AWS, LOCAL = "aws", "local"
LEVELS = (
    "NONE",
    "BACKWARD",
    "BACKWARD_TRANSITIVE",
    "FORWARD",
    "FORWARD_TRANSITIVE",
    "FULL",
    "FULL_TRANSITIVE",
)

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
    """

    function_url: bool = False
    requests_per_second: int = 500
    burst: int = 1_000
    access_logs: bool = True
    logs_role: bool = True
    domain_name: str = ""
    certificate_arn: str = ""


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
    front_door: FrontDoor = field(default_factory=FrontDoor)
    function: Function = field(default_factory=Function)
    journal: Journal = field(default_factory=Journal)
    watch: Watch = field(default_factory=Watch)

    def __post_init__(self) -> None:
        """Raises InvalidSetting."""
        for name, value in flat(self).items():
            if name in _RULES and not _RULES[name][0](value):
                message = f"{name} is {value!r}; {_RULES[name][1]}."
                raise InvalidSetting(message)
        for fits, sentence in _TOGETHER:
            if not fits(self):
                raise InvalidSetting(sentence)

    @property
    def local(self) -> bool:
        return self.stage == LOCAL

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
)

# What a value must be: a test and how the sentence ends.
_RULES: Mapping[str, tuple[Callable[[Any], object], str]] = {
    "stage": (lambda value: value in (AWS, LOCAL), "it must be aws or local"),
    # It becomes part of S3 keys, DynamoDB keys and metric names, all of which take these as they are.
    "registry_name": (
        lambda value: re.fullmatch(r"[a-z0-9][a-z0-9-]{0,62}", value),
        "it must be 1 to 63 of a-z, 0-9 and '-', not '-' first",
    ),
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
    "watch.topic_arn": (lambda value: not value or value.startswith("arn:"), "it must be an ARN, or empty"),
}
