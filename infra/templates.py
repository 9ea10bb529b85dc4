"""Templates that `sigla deploy` has without CDK: one for each shape of a stage, made here while a release is built.

python -m infra.templates FOLDER      a file for each shape

Each is made for a stage whose values are unlikely texts and numbers, and translated for the stage that a customer has
(`sigla/deployment/translation.py`). None is released that does not become, for an example of its shape, byte for byte
what CDK makes for that example.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import aws_cdk as cdk

from infra.app import build, context
from sigla.delivery.bucket import NAME
from sigla.delivery.templates import key_of, package
from sigla.deployment.choices.rules import listed, titled
from sigla.deployment.optional import OPTIONAL
from sigla.deployment.packages import Package
from sigla.deployment.settings import Settings, flat
from sigla.deployment.stage_files import EXAMPLES, read
from sigla.deployment.translation import Released, Template, placed_settings

PACKAGES: Final = ("registry", "journal", "heartbeat", "layer-arm64")
"""What Lambda unpacks."""

ZONES: Final = 3
"""A stage with zones has at most so many in a released shape, as most regions do."""

CHOICES: Final[Mapping[str, Mapping[str, Any]]] = {
    "url": {"front_door.function_url": True},
    "mail": {"watch.email": "sre@example.com"},
    "stores": {
        "bucket_name": "kept-bodies",
        "table_name": "kept-catalog",
        "table_stream_arn": "arn:aws:dynamodb:us-east-1:111122223333:table/kept-catalog/stream/2026-11-21T00:00:00.000",
    },
}
"""What each example is released with and without: another door, who is told of alarms, and data that is there."""

MARKS: Final[Mapping[str, Any]] = {
    "registry_name": "marked-registry",
    "stack_name": "Marked-Stack",
    "account": "424242424242",
    "region": "us-east-1",
    "identity": "5e11ed5e11ed5e11ed5e11ed5e11ed00",
    "bucket_name": "marked-bodies",
    "table_name": "marked-catalog",
    "table_stream_arn": "arn:aws:dynamodb:xx-west-9:525252525252:table/marked-catalog/stream/2001-02-03T04:05:06.007",
    "network.vpc_id": "vpc-5e11ed5e11ed",
    "network.cidr": "172.29.16.0/20",
    "ring.node_type": "cache.r9x.12xlarge",
    "front_door.domain_name": "marked-domain.example",
    "front_door.certificate_arn": "arn:aws:acm:xx-west-9:525252525252:certificate/marked-public",
    "front_door.private_domain": "marked-private.example",
    "front_door.private_certificate_arn": "arn:aws:acm:xx-west-9:525252525252:certificate/marked-private",
    "watch.topic_arn": "arn:aws:sns:xx-west-9:525252525252:marked-pages",
    "watch.notes_topic_arn": "arn:aws:sns:xx-west-9:525252525252:marked-notes",
    "watch.email": "marked@mail.example",
    "platform.key_arn": "arn:aws:kms:xx-west-9:525252525252:key/5e11ed00-0000-4000-8000-000000000001",
    "log_days": 2192,
    "function.memory_mb": 1787,
    "front_door.requests_per_second": 7001,
    "front_door.burst": 991,
    "front_door.waf_requests_per_5_minutes": 1_999_993,
    "watch.requests_per_hour": 7_777_777,
    "watch.p99_ms": 7919,
    **OPTIONAL,
}
"""Values that occur in no template by themselves."""


class NotReleasable(Exception):
    """Why a template cannot be released: it would not be what CDK makes."""


def shapes() -> Iterator[tuple[str, Settings]]:
    """An example of each released shape, by its name: stage files of examples, with other zones and choices.

    Jobs are not among them: they have files of their own, which CDK packs. A second region is not, either.
    """
    for path in sorted(EXAMPLES.glob("*.toml")):
        given = read(path)
        if given.get("pipelines.enabled") or given.get("regions.peer"):
            continue
        zones = listed(given.get("zones", ""))
        fit = [each for each in CHOICES if each != "url" or given.get("front_door.public", True)]
        for count in range(1, ZONES + 1) if zones else [0]:
            for chosen in (each for size in range(len(fit) + 1) for each in combinations(fit, size)):
                more = {name: value for each in chosen for name, value in CHOICES[each].items()}
                settings = Settings.read({**given, **more, "zones": ",".join(_zones(count))})
                name = "-".join([path.stem, *([str(count)] if zones else []), *chosen])
                yield name, placed_settings(settings, account="111122223333", region="us-east-1")


def _zones(count: int) -> list[str]:
    return [f"use1-az{number}" for number in range(1, count + 1)]


def marked(settings: Settings) -> Settings:
    """The same shape with values that are found again."""
    values = flat(settings)
    always = ("account", "region", *OPTIONAL)
    there = {name: mark for name, mark in MARKS.items() if values[name] or name in always}
    clients = listed(settings.front_door.private_clients)
    there["front_door.private_clients"] = ",".join(f"172.{20 + number}.0.0/16" for number in range(len(clients)))
    return Settings.read(values | there)


def synthesise(settings: Settings, **more: Any) -> Template:
    """What CDK makes of a stage whose packages are in a bucket of ours. more: for the app."""
    return _synthesised(settings, **more)[0]


def released(settings: Settings) -> Released:
    """The template of the settings' shape. Raises NotReleasable."""
    chosen = marked(settings)
    template, keys = _synthesised(chosen, {"aws:cdk:enable-path-metadata": True})
    names = {key_of(package(name)): name for name in PACKAGES}
    if unknown := sorted(keys - names.keys()):
        raise NotReleasable(f"The template has packages that no release has: {', '.join(unknown)}.")
    paths = dict(_without_paths(template))
    kept = {name: path for name, path in paths.items() if any(titled(zone) in path for zone in chosen.zone_ids)}
    return Released(chosen, template, kept, {key: names[key] for key in sorted(keys)}, _bucket(chosen))


def require_equal(made: Released, settings: Settings, wanted: Template) -> None:
    """Raises NotReleasable where the translation differs from what CDK made."""
    got = made.of(settings, bucket=_bucket(settings))
    for one, other in zip(*(json.dumps(each, indent=1).splitlines() for each in (got, wanted)), strict=False):
        if one != other:
            raise NotReleasable(f"{settings.stack_name}: the translation has {one.strip()}, and CDK {other.strip()}.")
    if json.dumps(got) != json.dumps(wanted):
        raise NotReleasable(f"{settings.stack_name}: the translation is not as long as what CDK makes.")


def write(folder: Path) -> list[Path]:
    """A file for each shape. Raises NotReleasable."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, settings in shapes():
        made = released(settings)
        require_equal(made, settings, synthesise(settings))
        path = folder / f"{name}.json"
        path.write_text(json.dumps(made.as_json(), separators=(",", ":")), encoding="utf-8")
        files.append(path)
    return files


def _bucket(settings: Settings) -> str:
    return NAME.format(account=settings.account, region=settings.region)


def _synthesised(settings: Settings, more: Mapping[str, Any] | None = None) -> tuple[Template, set[str]]:
    """The template, and the keys of its packages."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)

        def lies(package: Package) -> Path:
            where = folder / package.name
            where.mkdir(exist_ok=True)
            (where / "built").write_text("not here")
            return where

        app = cdk.App(
            outdir=str(folder / "cdk.out"),
            context=context([]) | dict(more or {}),
            analytics_reporting=False,
            builtin_cloud_formation_validation=False,
        )
        where = cdk.DefaultStackSynthesizer(
            file_assets_bucket_name=_bucket(settings), generate_bootstrap_version_rule=False
        )
        stack = build(app, settings, placed=lies, synthesizer=where)
        assembly = app.synth()
        template: Template = dict(assembly.get_stack_by_name(stack.stack_name).template)
        (assets,) = (folder / "cdk.out").glob("*.assets.json")
        keys = {
            place["objectKey"]
            for file in json.loads(assets.read_text())["files"].values()
            for place in file["destinations"].values()
            if file["source"]["packaging"] == "zip"
        }
        return template, keys


def _without_paths(template: Template) -> Iterator[tuple[str, str]]:
    """Takes out of the template where each resource stands in the app."""
    for name, resource in template["Resources"].items():
        yield name, resource["Metadata"].pop("aws:cdk:path")
        if not resource["Metadata"]:
            del resource["Metadata"]


def main() -> int:
    """The command: 0, or 1 if a template is not what CDK makes."""
    parser = argparse.ArgumentParser(prog="python -m infra.templates", description="Writes what `sigla deploy` deploys")
    parser.add_argument("folder", type=Path)
    try:
        for path in write(parser.parse_args().folder):
            print(f"{path.stat().st_size:>12,}  {path}")
    except NotReleasable as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
