"""Stacks as they would be deployed, synthesised once each. Packages are not built: a template names them by content."""

import fcntl
import json
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from sigla.deployment import packages, stage_files
from sigla.deployment.packages import Package
from sigla.deployment.settings import Settings

Template = dict[str, Any]
Synthesise = Callable[..., Template]
Placed = Callable[[Package], Path]

CDK_JSON = Path(__file__).parents[2] / "cdk.json"
FLAGS: dict[str, Any] = json.loads(CDK_JSON.read_text())["context"]
"""CDK's own."""

EXAMPLES = ("default", "zones-valkey", "zones-memcached", "private", "everything", "pipelines", "regions")
"""Stage files in infra/examples."""

HASH_SECRET = "arn:aws:secretsmanager:us-east-1:111122223333:secret:land-AbCdEf"
IDENTITY = ("identity", "0123456789abcdef0123456789abcdef")
"""As every deployment has one: `make stage` draws it."""

KEK_KEYS = tuple(
    f"arn:aws:kms:{region}:111122223333:key/0a1b2c3d-0000-4000-8000-00000000000{number}"
    for number, region in enumerate(("eu-west-1", "eu-central-1"), 2)
)
"""With which data keys of shared KEKs are wrapped."""

ZONE_KEY = KEK_KEYS[0].replace("eu-west-1", "us-east-1")
"""One in the region of the zones below."""

# Everything that costs or opens something, at once.
ALL_ON = (
    IDENTITY,
    ("front_door.function_url", True),
    ("front_door.access_logs", True),
    ("front_door.logs_role", True),
    ("front_door.domain_name", "registry.example.com"),
    ("front_door.certificate_arn", "arn:aws:acm:eu-west-1:111122223333:certificate/1"),
    ("front_door.waf_requests_per_5_minutes", 20_000),
    ("function.tracing", True),
    ("function.platform_logs", True),
    ("function.kms_keys", ",".join(KEK_KEYS)),
    ("exporters", True),
    ("console_keys", True),
    ("events.bus", "arn:aws:events:eu-west-1:999988887777:event-bus/registries"),
    ("watch.dashboard", True),
    ("watch.requests_per_hour", 500_000),
    ("watch.topic_arn", "arn:aws:sns:eu-west-1:111122223333:oncall"),
    ("watch.notes_topic_arn", "arn:aws:sns:eu-west-1:111122223333:notes"),
)


# What is chosen otherwise, where one choice does not hide another.
OTHER = (
    ("registry_name", "payments"),
    ("bucket_name", "kept-bodies"),
    ("table_name", "kept-catalog"),
    ("table_stream_arn", "arn:aws:dynamodb:eu-west-1:111122223333:table/kept-catalog/stream/2026-11-21T00:00:00.000"),
    ("auth", "none"),
    ("front_door.access_logs", True),
    ("platform.keep_logs", False),
    ("watch.alarms", False),
    ("metrics", False),
)


# What zones have besides their defaults, where one choice does not hide another.
PRIVATE = (
    ("zones", "use1-az2"),
    ("network.vpc_id", "vpc-0123456789abcdef0"),
    ("front_door.access_logs", True),
    ("front_door.logs_role", True),
    ("ring.kind", "memcached"),
    ("front_door.private_zonal", True),
    ("front_door.private_domain", "sr.example.com"),
    ("front_door.private_certificate_arn", "arn:aws:acm:us-east-1:111122223333:certificate/2"),
    ("front_door.private_clients", "10.0.0.0/16,10.1.0.0/16"),
    ("watch.requests_per_hour", 500_000),
    ("watch.topic_arn", "arn:aws:sns:us-east-1:111122223333:oncall"),
    ("watch.email", "sre@example.com"),
    ("function.kms_keys", ZONE_KEY),
)


# Doors into a network, and nothing besides.
DOORS = tuple(each for each in PRIVATE if each[0].startswith("front_door."))
CLOSED = (*DOORS, ("front_door.zone_urls", False))


# What an organisation asks of every stack, of one that has something of each kind.
KEY = "arn:aws:kms:us-east-1:111122223333:key/0a1b2c3d-0000-4000-8000-000000000001"
BOUNDARY = "arn:aws:iam::111122223333:policy/teams/boundary"
PLATFORM = (
    ("platform.key_arn", KEY),
    ("platform.permissions_boundary", BOUNDARY),
    ("platform.iam_path", "/teams/data/"),
    ("platform.tags", "team=data, cost-centre=42"),
    ("zones", "use1-az1"),
    ("front_door.access_logs", True),
    ("front_door.logs_role", True),
    ("pipelines.enabled", True),
    ("pipelines.lake_bucket", "the-lake"),
)


def once(folder: Path, settings: object, make: Callable[[], Template]) -> Template:
    """What another worker of this run has made already, or makes now; else what `make` makes."""
    folder.mkdir(exist_ok=True)
    made = folder / f"{sha256(repr(settings).encode()).hexdigest()}.json"
    with made.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            made.write_text(json.dumps(make()))
        template: Template = json.loads(made.read_text())
        return template


def quick_app(cdk: Any, folder: Path, context: dict[str, Any]) -> Any:
    """An app of CDK that does not note where each construct was made, which takes a third of a synthesis.

    CDK's rules of CloudFormation are asked of all templates at once, in test_cloudformation_rules.py.
    """
    unasked = {"builtin_cloud_formation_validation": False, "analytics_reporting": False, "tree_metadata": False}
    return cdk.App(outdir=str(folder), context=context | {"aws:cdk:disable-stack-trace": True}, **unasked)


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder of templates that all workers of a run see."""
    ours = tmp_path_factory.getbasetemp()
    return (ours if worker_id == "master" else ours.parent) / "templates"


@pytest.fixture(scope="session")
def placed(tmp_path_factory: pytest.TempPathFactory) -> Placed:
    """A folder for a package, in which nothing is built."""

    def made(package: Package) -> Path:
        folder = tmp_path_factory.mktemp(package.name)
        (folder / "built").write_text("not here")
        return folder

    return made


@pytest.fixture(scope="session")
def synthesise(
    cdk: Any, tmp_path_factory: pytest.TempPathFactory, templates: Path, placed: Placed
) -> Iterator[Synthesise]:
    """The template for settings given as pairs; AWS's checklist has passed when it is there.

    Asked twice, made once; by one worker for all, as pytest-xdist advises for what is dear.
    """
    from infra.app import build

    # Read once: an engineer may be writing code while this runs.
    code = cache(packages.code)

    def made(settings: tuple[tuple[str, Any], ...]) -> Template:
        app = quick_app(cdk, tmp_path_factory.mktemp("cdk"), FLAGS)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(packages, "code", code)
            stack = build(app, Settings.read(dict(settings)), placed=placed)
        return dict(app.synth().get_stack_by_name(stack.stack_name).template)

    @cache
    def remembered(*settings: tuple[str, Any]) -> Template:
        return once(templates, settings, lambda: made(settings))

    yield remembered
    remembered.cache_clear()


@pytest.fixture(scope="session")
def platform_stack(cdk: Any, tmp_path_factory: pytest.TempPathFactory, templates: Path, placed: Placed) -> Template:
    """The template of two registries with zones in one stack, in an app that has no flags of ours."""
    from tests.infra.two_registries import stack_of_two

    def made() -> Template:
        app = quick_app(cdk, tmp_path_factory.mktemp("cdk"), {})
        stack = stack_of_two(app, placed)
        return dict(app.synth().get_stack_by_name(stack.stack_name).template)

    return once(templates, "two registries of one stack", made)


@pytest.fixture(scope="session")
def examples(synthesise: Synthesise) -> dict[str, Template]:
    """The template of each stage file in infra/examples, by its name."""
    return {name: synthesise(*stage_files.read(stage_files.EXAMPLES / f"{name}.toml").items()) for name in EXAMPLES}


@pytest.fixture(scope="session")
def template(synthesise: Synthesise) -> Template:
    """The template of a deployment with all defaults."""
    return synthesise(IDENTITY)


@pytest.fixture(scope="session")
def all_on(synthesise: Synthesise) -> Template:
    return synthesise(*ALL_ON)


@pytest.fixture(scope="session")
def local(synthesise: Synthesise) -> Template:
    """For LocalStack."""
    return synthesise(("stage", "local"), ("front_door.function_url", True))


@pytest.fixture(scope="session")
def other(synthesise: Synthesise) -> Template:
    """The template of a second registry in a bucket and a table that are there, open and unwatched."""
    return synthesise(*OTHER)


@pytest.fixture(scope="session")
def zones(synthesise: Synthesise) -> Template:
    """The template of a deployment with three zones, and else all defaults."""
    return synthesise(IDENTITY, ("zones", "use1-az1,use1-az2,use1-az4"))


@pytest.fixture(scope="session")
def fewer(synthesise: Synthesise) -> Template:
    """The same, one zone later: the one in the middle is gone."""
    return synthesise(IDENTITY, ("zones", "use1-az1,use1-az4"))


@pytest.fixture(scope="session")
def private(synthesise: Synthesise) -> Template:
    """One zone with a private door, in a network that is there, with caches of the other kind."""
    return synthesise(*PRIVATE)


@pytest.fixture(scope="session")
def local_zones(synthesise: Synthesise) -> Template:
    """For LocalStack, with everything on that it has not got."""
    return synthesise(
        ("stage", "local"),
        *CLOSED,
        ("front_door.public", False),
        ("zones", "use1-az1,use1-az2"),
    )


@pytest.fixture(scope="session")
def without_urls(synthesise: Synthesise) -> Template:
    """One zone that private doors alone lead into, beside a public REST API."""
    return synthesise(("zones", "use1-az2"), *CLOSED, ("exporters", True))


@pytest.fixture(scope="session")
def private_only(synthesise: Synthesise) -> Template:
    """Two zones in subnets that are there, with caches of the other kind, and nothing public."""
    return synthesise(
        ("zones", "use1-az1,use1-az2"),
        *CLOSED,
        ("front_door.public", False),
        ("network.vpc_id", "vpc-0123456789abcdef0"),
        ("network.subnets", "use1-az2:subnet-0bb, use1-az1:subnet-0aa"),
        ("ring.kind", "memcached"),
        ("watch.dashboard", True),
    )


@pytest.fixture(scope="session")
def given_subnets(synthesise: Synthesise) -> Template:
    """One zone in a subnet that is there, with a URL and caches that ask IAM."""
    return synthesise(
        ("zones", "use1-az1"),
        ("network.vpc_id", "vpc-0123456789abcdef0"),
        ("network.subnets", "use1-az1:subnet-0aa"),
        ("exporters", True),
    )


@pytest.fixture(scope="session")
def jobs(tmp_path_factory: pytest.TempPathFactory, synthesise: Synthesise) -> Template:
    """The template of a registry with all jobs, in the network that Kafka is in."""
    folder = tmp_path_factory.mktemp("jobs")
    (folder / "land.yaml").write_text("registry: {bucket: b}\n")
    (folder / "jars").mkdir()
    (folder / "jars" / "kafka-clients.jar").write_bytes(b"jar")
    return synthesise(
        IDENTITY,
        ("pipelines.enabled", True),
        ("pipelines.lake_bucket", "the-lake"),
        ("pipelines.land", str(folder / "land.yaml")),
        ("pipelines.jars", str(folder / "jars")),
        ("pipelines.hash_secret", HASH_SECRET),
        ("pipelines.maintain_schedule", "rate(1 day)"),
        ("pipelines.audit_schedule", "cron(0 5 ? * MON *)"),
        ("pipelines.subnets", "subnet-0123abcd, subnet-4567abcd"),
        ("pipelines.security_groups", "sg-89ab0123"),
        ("watch.notes_topic_arn", "arn:aws:sns:eu-west-1:111122223333:notes"),
    )


@pytest.fixture(scope="session")
def telling_jobs(tmp_path_factory: pytest.TempPathFactory, synthesise: Synthesise) -> Template:
    """The template of a registry whose audit leaves what it finds for `sigla usage`."""
    file = tmp_path_factory.mktemp("telling") / "land.yaml"
    file.write_text("registry: {bucket: b}\n")
    return synthesise(
        ("registry_name", "orders"),
        ("pipelines.enabled", True),
        ("pipelines.lake_bucket", "the-lake"),
        ("pipelines.land", str(file)),
        ("pipelines.audit_schedule", "rate(7 days)"),
        ("pipelines.audit_for_usage", True),
    )


@pytest.fixture(scope="session")
def platform(synthesise: Synthesise) -> Template:
    """The template of a registry in an organisation with rules of its own."""
    return synthesise(*PLATFORM)


@pytest.fixture(scope="session")
def without_zones(template: Template, all_on: Template, local: Template, other: Template) -> list[Template]:
    return [template, all_on, local, other]


# Doors by endpoints that are there, and nothing besides.
BEHIND = (
    ("front_door.private_zonal", True),
    ("front_door.private_endpoints", "use1-az2:vpce-0bb,use1-az1:vpce-0aa"),
)


@pytest.fixture(scope="session")
def given_endpoints(synthesise: Synthesise) -> Template:
    """Two zones in a network of their own, with URLs, and doors by endpoints in the network of clients."""
    return synthesise(("zones", "use1-az1,use1-az2"), *BEHIND, ("ring.kind", "none"))


@pytest.fixture(scope="session")
def shared_network(synthesise: Synthesise) -> Template:
    """Two zones in a network that another account shares, whose owner made subnets and endpoints; nothing public."""
    return synthesise(
        ("zones", "use1-az1,use1-az2"),
        *BEHIND,
        ("front_door.zone_urls", False),
        ("front_door.public", False),
        ("network.vpc_id", "vpc-0123456789abcdef0"),
        ("network.subnets", "use1-az2:subnet-0bb,use1-az1:subnet-0aa"),
    )


@pytest.fixture(scope="session")
def in_given_subnets(private_only: Template, given_subnets: Template, shared_network: Template) -> list[Template]:
    return [private_only, given_subnets, shared_network]


@pytest.fixture(scope="session")
def others_networks(given_endpoints: Template, in_given_subnets: list[Template]) -> list[Template]:
    return [given_endpoints, *in_given_subnets]


@pytest.fixture(scope="session")
def with_zones(
    zones: Template,
    private: Template,
    local_zones: Template,
    without_urls: Template,
    others_networks: list[Template],
) -> list[Template]:
    return [zones, private, local_zones, without_urls, *others_networks]


@pytest.fixture(scope="session")
def every_template(
    without_zones: list[Template], with_zones: list[Template], jobs: Template, platform: Template
) -> list[Template]:
    return [*without_zones, *with_zones, jobs, platform]
