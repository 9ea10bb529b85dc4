"""The template of one stage, made of that of another of the same shape: without CDK, byte for byte what CDK would make.

Most settings are values: a name, a number, an address. They stand in a template as they are, and another stage has
others in the same places. Settings that decide which resources there are make the shape of a template; `differences`
says where two stages have another. Names of resources are computed by CDK from where they stand and from what they are
made of, and here again, in the same way.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from sigla.deployment.choices.rules import listed, titled
from sigla.deployment.fingerprints import LETTERS, fingerprint
from sigla.deployment.optional import OPTIONAL, can_be_sorted, without_unasked
from sigla.deployment.partitions import partition_of
from sigla.deployment.settings import Settings, flat

Template = dict[str, Any]

MADE_OF: Final = "Sigla::MadeOf"
"""In the metadata of a function: whose fingerprint its variable ZONE_MADE_OF is, by names in the template."""
FINGERPRINT: Final = "ZONE_MADE_OF"

STACK: Final = "Registry"
"""What the construct of the stack is called; with the stack's name, names in a template would depend on it."""

TEXTS: Final = (
    "registry_name",
    "stack_name",
    "account",
    "region",
    "identity",
    "bucket_name",
    "table_name",
    "table_stream_arn",
    "network.vpc_id",
    "network.cidr",
    "ring.node_type",
    "front_door.domain_name",
    "front_door.certificate_arn",
    "front_door.private_domain",
    "front_door.private_certificate_arn",
    "watch.topic_arn",
    "watch.notes_topic_arn",
    "watch.email",
    "platform.key_arn",
    "platform.permissions_boundary",
    "platform.iam_path",
)
"""Settings that are parts of texts. Whether they are there at all is of the shape, but for OPTIONAL ones."""

LISTS: Final = ("zones", "front_door.private_clients")
"""Settings with several values; how many is of the shape."""

NUMBERS: Final = (
    "log_days",
    "function.memory_mb",
    "function.reserved_concurrency",
    "front_door.requests_per_second",
    "front_door.burst",
    "front_door.waf_requests_per_5_minutes",
    "watch.requests_per_hour",
)
"""Settings that are numbers of a template as they are. Whether they are 0 is of the shape, but for OPTIONAL ones."""

PRESENT: Final = ("issuers",)
"""Settings whose value is a variable of functions, and of which more depends on whether they are there at all."""

RING_SECONDS: Final = "SIGLA_RING_SECONDS"
ISSUERS: Final = "SIGLA_ISSUERS"

VARIABLES: Final[Mapping[str, Callable[[Settings], str]]] = {
    "SIGLA_AUTH": lambda chosen: chosen.auth,
    "SIGLA_DEFAULT_LEVEL": lambda chosen: chosen.default_level,
    "SIGLA_CORS_ORIGINS": lambda chosen: chosen.cors_origins,
    "SIGLA_CONSOLE": lambda chosen: json.dumps(chosen.console),
    "SIGLA_HOLDERS_SECONDS": lambda chosen: str(chosen.function.holders_seconds),
    "SIGLA_LOG_READS": lambda chosen: str(chosen.log_reads),
    "SIGLA_LOG_REQUESTS": lambda chosen: json.dumps(chosen.log_requests),
    "SIGLA_NAMES_DAYS": lambda chosen: str(chosen.names_days),
    "SIGLA_USAGE": lambda chosen: json.dumps(chosen.usage),
    ISSUERS: lambda chosen: chosen.issuers,
    RING_SECONDS: lambda chosen: str(chosen.ring.presence_seconds),
}
"""Variables of functions, each of one setting and of no other."""

FREE: Final = (
    *(
        "auth",
        "default_level",
        "cors_origins",
        "console",
        "function.holders_seconds",
        "log_reads",
        "log_requests",
        "names_days",
        "usage",
    ),
    *("ring.presence_seconds", "watch.p99_ms", "qualifier"),
)
"""Settings that are of no shape: variables of functions, and what is only a text. CDK's bootstrap is not asked."""

AT_LIMIT: Final = 0.9
"""The share of what a REST API lets through at which others are refused already: seconds of a minute differ."""


def at_limit(settings: Settings) -> float:
    """Requests in a minute at which an alarm says that the REST API is at its limit."""
    return AT_LIMIT * settings.front_door.requests_per_second * 60


def differences(one: Settings, other: Settings) -> list[str]:
    """Names of settings by which the two are of another shape."""
    first, second = map(_shape_values, (one, other))
    return [name for name in {**first, **second} if first.get(name) != second.get(name)]


def _shape_values(settings: Settings) -> dict[str, Any]:
    values = flat(settings)
    shape: dict[str, Any] = {name: value for name, value in values.items() if name not in FREE}
    for name in (*TEXTS, *NUMBERS, *PRESENT):
        shape[name] = bool(values[name])
    for name in LISTS:
        shape[name] = len(listed(values[name]))
    for name in ("account", "region", *OPTIONAL):  # known when it is deployed
        del shape[name]
    return shape | ({} if can_be_sorted(settings) else {"platform.tags": values["platform.tags"]})


@dataclass(frozen=True, slots=True)
class Released:
    """A template that CDK has made, and what it takes to make that of another stage.

    settings: of the stage that it was made for: unlikely ones, each found again by its text. paths: where constructs
    stand in the app that are called after a zone, by their names in the template. packages: what Lambda unpacks: a
    package's name by its key in the bucket. bucket: where the template has packages.
    """

    settings: Settings
    template: Template
    paths: Mapping[str, str]
    packages: Mapping[str, str]
    bucket: str

    def of(self, settings: Settings, *, bucket: str) -> Template:
        """The template of a stage of the same shape, whose account and region are known."""
        words = {self.bucket: bucket, **_word_pairs(self.settings, settings)}
        words |= self._names(words)
        numbers = dict(zip(_number_values(self.settings), _number_values(settings), strict=True))
        template = _with_words(self.template, words, numbers)
        template = without_unasked(template, settings)
        for variables in _function_variables(template):
            variables |= {name: value(settings) for name, value in VARIABLES.items() if name in variables}
        return _with_fingerprints(template)

    def _names(self, words: dict[str, str]) -> dict[str, str]:
        """Names in the template of what stands in a zone, each with what it is called in the other one."""
        found: dict[str, str] = {}
        for scope in dict.fromkeys(scope for path in self.paths.values() for scope in _scopes_of(path)):
            # CDK has them in the names of permissions, with the stack before them.
            found[_logical_id([STACK, *scope])] = _logical_id([STACK, *_parts_with(scope, words)])
        for name, path in self.paths.items():
            parts = path.split("/")[1:]
            new = _logical_id(_parts_with(parts, words | found))
            found[_logical_id(parts)] = new
            if not name.startswith(_logical_id(parts)):
                found[name] = new
        return {old: new for old, new in found.items() if old != new}

    def as_json(self) -> dict[str, Any]:
        """The JSON that is written into a file."""
        return {
            "settings": flat(self.settings),
            "bucket": self.bucket,
            "packages": dict(self.packages),
            "paths": dict(self.paths),
            "template": self.template,
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> "Released":
        """What `as_json` made."""
        settings = Settings.read(told["settings"])
        return cls(settings, told["template"], told["paths"], told["packages"], told["bucket"])


def _word_pairs(old: Settings, new: Settings) -> dict[str, str]:
    """Texts of a template with what stands for them in the other."""
    before, after = flat(old), flat(new)
    words = {before[name]: after[name] for name in TEXTS if before[name] and name not in LISTS}
    words[old.stack_name.lower()] = new.stack_name.lower()
    words[old.ring.node_type.title().replace(".", "")] = new.ring.node_type.title().replace(".", "")
    words[_latency_text(old)] = _latency_text(new)
    words[_arn_beginning(old)] = _arn_beginning(new)
    for name in LISTS:
        words |= dict(zip(listed(before[name]), listed(after[name]), strict=True))
    for zone, other in zip(old.zone_ids, new.zone_ids, strict=True):
        words[titled(zone)] = titled(other)
        words[old.cidr_of(zone)] = new.cidr_of(other)
    return words


def _latency_text(settings: Settings) -> str:
    return f"PR(:{settings.watch.p99_ms})"


def _arn_beginning(settings: Settings) -> str:
    """What ARNs in the stage's region begin with: CDK writes the partition out where it knows the region."""
    return f"arn:{partition_of(settings.region)}:"


def _number_values(settings: Settings) -> Iterator[float]:
    values = flat(settings)
    yield from (values[name] for name in NUMBERS)
    yield at_limit(settings)


def _with_words(value: Any, words: Mapping[str, str], numbers: Mapping[float, float]) -> Any:
    """The longest word first, so that none is taken for a part of another."""
    wanted = re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))))

    def other(value: Any) -> Any:
        if isinstance(value, dict):
            return {other(name): other(each) for name, each in value.items()}
        if isinstance(value, list):
            return [other(each) for each in value]
        if isinstance(value, str):
            return wanted.sub(lambda found: words[found[0]], value)
        if isinstance(value, bool) or not value:
            return value
        number = numbers.get(value, value)
        return int(number) if float(number).is_integer() else number

    return other(value)


def _parts_with(parts: Iterable[str], words: dict[str, str]) -> list[str]:
    replaced: list[str] = _with_words(list(parts), words, {})
    return replaced


def _function_variables(template: Template) -> Iterator[dict[str, Any]]:
    for _, function in _of_type(template, "AWS::Lambda::Function"):
        yield function["Properties"]["Environment"]["Variables"]


def _of_type(template: Template, type: str) -> list[tuple[str, Any]]:
    return [(name, each) for name, each in template["Resources"].items() if each["Type"] == type]


def _with_fingerprints(template: Template) -> Template:
    """With fingerprints of what is in it now."""
    made = template["Resources"]

    def of(names: Iterable[str]) -> str:
        return fingerprint((made[name]["Type"], made[name].get("Properties", {})) for name in names)

    for _, function in _of_type(template, "AWS::Lambda::Function"):
        if parts := function.get("Metadata", {}).get(MADE_OF):
            function["Properties"]["Environment"]["Variables"][FINGERPRINT] = of(parts)
    names = {}
    for name, version in _of_type(template, "AWS::Lambda::Version"):
        function = version["Properties"]["FunctionName"]["Ref"]
        layers = [layer["Ref"] for layer in made[function]["Properties"]["Layers"]]
        names[name] = f"{name[:-LETTERS]}{of([function, *layers])}"
    for name, deployment in _of_type(template, "AWS::ApiGateway::Deployment"):
        api = deployment["Properties"]["RestApiId"]["Ref"]
        names[name] = f"{name[:-LETTERS]}{of([api, *_answering_resources(template, api)])}"
    renamed: Template = _with_words(template, names, {}) if names else template
    return renamed


def _answering_resources(template: Template, api: str) -> list[str]:
    """What a REST API consists of, by names in the template."""
    kinds = ("AWS::ApiGateway::Method", "AWS::ApiGateway::GatewayResponse")
    return [
        name
        for kind in kinds
        for name, each in _of_type(template, kind)
        if each["Properties"]["RestApiId"] == {"Ref": api}
    ]


def _scopes_of(path: str) -> Iterator[tuple[str, ...]]:
    """A path and all that it stands in, below the stack."""
    parts = path.split("/")[1:]
    yield from (tuple(parts[:end]) for end in range(1, len(parts) + 1))


def _logical_id(path: Iterable[str]) -> str:
    """The name of what stands there, as CDK makes it: words for people, and eight letters for the whole path.

    Source: `makeUniqueId` of aws-cdk-lib (core/lib/private/uniqueid.ts).
    """
    parts = [part for part in path if part != "Default"]
    if len(parts) == 1:
        return re.sub(r"[^A-Za-z0-9]", "", parts[0])
    human: list[str] = []
    for part in parts:
        if not human or not human[-1].endswith(part):
            human.append(part)
    words = "".join(re.sub(r"[^A-Za-z0-9]", "", part) for part in human if part != "Resource")
    return f"{words[:240]}{hashlib.md5('/'.join(parts).encode(), usedforsecurity=False).hexdigest()[:8].upper()}"


def placed_settings(settings: Settings, *, account: str, region: str) -> Settings:
    """The settings with the account and the region that they are deployed to."""
    return replace(settings, account=account, region=region)
