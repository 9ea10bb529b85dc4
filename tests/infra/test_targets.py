"""No change of settings points a stack at other data or ends a URL unseen: all is compared before it is deployed."""

from collections.abc import Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla.deployment.choices.rules import titled
from sigla.deployment.settings import InvalidSetting, Settings
from sigla.deployment.stage_files import FILE_ONLY, merged
from sigla.deployment.targets import Target, moved, stuck
from tests.infra.conftest import ALL_ON, BEHIND, CLOSED, DOORS, FLAGS, PRIVATE, Synthesise
from tests.infra.reading import Template, all_of, ids, written

PATH = Path("stages/prod.toml")
STREAM = "arn:aws:dynamodb:us-east-1:111122223333:table/{}/stream/2026-11-21T00:00:00.000"
CERTIFICATE = "arn:aws:acm:us-east-1:111122223333:certificate/1"
IDENTITIES = ("a" * 32, "b" * 32)


def optional(*values: str) -> st.SearchStrategy[str]:
    return st.sampled_from(("", *values))


@st.composite
def stage_files(draw: st.DrawFn) -> dict[str, Any]:
    """What a stage file may say of where the data is and where clients find it, and something that does not matter."""
    table = draw(optional("kept-catalog", "restored-catalog"))
    zones = sorted(draw(st.sets(st.sampled_from(("use1-az1", "use1-az2", "use1-az4")))))
    return {
        **draw(public_doors()),
        **(draw(private_doors(zones)) if zones else {}),
        "network.cidr": draw(st.sampled_from(("10.83.0.0/20", "10.84.0.0/20"))),
        "network.vpc_id": draw(optional("vpc-0aa")),
        "ring.kind": draw(st.sampled_from(("valkey", "memcached", "none"))),
        "identity": draw(st.sampled_from(IDENTITIES)),
        "registry_name": draw(st.sampled_from(("orders", "payments"))),
        "stack_name": draw(optional("sigla-orders", "registry")),
        "bucket_name": draw(optional("kept-bodies", "other-bodies")),
        "table_name": table,
        "table_stream_arn": STREAM.format(table) if table else "",
        "zones": ",".join(zones),
        "log_days": draw(st.sampled_from((7, 30))),
    }


@st.composite
def public_doors(draw: st.DrawFn) -> dict[str, Any]:
    name = draw(optional("registry.example.com", "schemas.example.com"))
    return {
        "front_door.function_url": draw(st.booleans()),
        "front_door.domain_name": name,
        "front_door.certificate_arn": CERTIFICATE if name else "",
    }


@st.composite
def private_doors(draw: st.DrawFn, zones: list[str]) -> dict[str, Any]:
    """None, names of one's own, or endpoints that are there; beside public URLs, without those of zones, or alone."""
    kind = draw(st.sampled_from(("", "names", "endpoints")))
    if not kind:
        return {}
    endpoints = [f"{zone}:{draw(st.sampled_from(('vpce-0aa', 'vpce-0bb')))}" for zone in zones]
    named = kind == "names"
    zone_urls, public = draw(st.sampled_from(((True, True), (False, True), (False, False))))
    closed = {"public": False, "function_url": False, "domain_name": "", "certificate_arn": ""}
    return {
        **({} if public else {f"front_door.{name}": value for name, value in closed.items()}),
        "front_door.private_zonal": True,
        "front_door.zone_urls": zone_urls,
        "front_door.private_domain": draw(st.sampled_from(("sr.example.com", "sr.example.org"))) if named else "",
        "front_door.private_certificate_arn": CERTIFICATE if named else "",
        "front_door.private_endpoints": "" if named else ",".join(endpoints),
    }


flags = st.dictionaries(
    st.sampled_from((*FILE_ONLY, "log_days", "network.cidr", "watch.alarms", "auth")),
    st.sampled_from(("", "local", "orders", "payments", "kept-catalog", "use1-az1", "true", "30", "none")),
    max_size=3,
)


def outputs_of(settings: Settings) -> dict[str, str]:
    """What a stack with these settings tells, when it has made what it was not given."""
    told = {name: value for name, (value, _) in Target.of(settings).outputs.items()} | urls_of(settings)
    own = {"BucketName": f"{settings.stack_name}-bodies", "TableName": f"{settings.stack_name}-catalog"}
    given = {"BucketName": settings.bucket_name, "TableName": settings.table_name}
    return {**told, **own, **{name: value for name, value in given.items() if value}}


def urls_of(settings: Settings) -> dict[str, str]:
    """As AWS has made them. What it has chosen it keeps as long as the door is there."""
    door, zones = settings.front_door, settings.zone_ids
    urls = {"RestUrl": "https://a1b2c3.execute-api.us-east-1.amazonaws.com/v1"} if door.public else {}
    if door.function_url:
        urls["FunctionUrl"] = "https://x1y2z3.lambda-url.us-east-1.on.aws/"
    if door.domain_name:
        urls["DomainUrl"] = f"https://{door.domain_name}"
    if door.zone_urls:
        urls |= {f"ZoneUrl{titled(zone)}": f"https://{zone}x.lambda-url.us-east-1.on.aws/" for zone in zones}
    for zone in zones if door.private_zonal else ():
        host = f"d4e5f6-{door.endpoint_ids.get(zone)}.execute-api.us-east-1.amazonaws.com/v1"
        urls[f"ZonePrivateUrl{titled(zone)}"] = (
            f"https://{host}" if door.private_endpoints else f"https://{zone}.{door.private_domain}"
        )
    return urls


def data_of(settings: Settings, before: Mapping[str, str]) -> tuple[str, ...]:
    """Where the functions look afterwards. A stack keeps what it made, and makes anew what it was given before."""
    made = before.get("GivenStorage", "").split(",")
    bucket = "a new bucket" if "bucket_name" in made else before["BucketName"]
    table = "a new table" if "table_name" in made else before["TableName"]
    return (
        settings.identity,
        settings.registry_name,
        settings.bucket_name or bucket,
        settings.table_name or table,
    )


@given(stage_files(), flags)
def test_a_command_line_never_moves_data(of_file: dict[str, Any], chosen: dict[str, str]) -> None:
    """Whatever is added to a command, or forgotten in it, the stack points where its file says."""
    alone = Target.of(merged(of_file, {}, PATH))
    with suppress(InvalidSetting):
        assert Target.of(merged(of_file, chosen, PATH)) == alone


@given(stage_files(), stage_files())
def test_no_change_of_a_stage_file_points_a_stack_at_other_data_unseen(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    """Either another stack is made and this one stays as it is, or a sentence says what would move."""
    before, after = (merged(each, {}, PATH) for each in (old, new))
    outputs = outputs_of(before)
    there = (outputs["Identity"], outputs["RegistryName"], outputs["BucketName"], outputs["TableName"])
    if before.stack_name != after.stack_name:
        return
    sentences = moved(outputs, Target.of(after))
    stays = data_of(after, outputs) == there and set(before.zone_ids) <= set(after.zone_ids)
    answered = urls_of(before).items() <= urls_of(after).items()
    assert bool(sentences) != (stays and answered), sentences


@given(stage_files(), stage_files())
def test_no_ring_is_moved(old: dict[str, Any], new: dict[str, Any]) -> None:
    """CloudFormation would fail halfway, and take back for an hour; a ring that goes, or comes, may."""
    before, after = (merged(each, {}, PATH) for each in (old, new))
    stays = set(before.zone_ids) & set(after.zone_ids) if "none" not in (before.ring.kind, after.ring.kind) else set()
    moves = (before.network.vpc_id, before.network.cidr) != (after.network.vpc_id, after.network.cidr)
    sentences = stuck(outputs_of(before), Target.of(after))
    assert len(sentences) == (len(stays) if moves else 0)
    assert all(any(zone in sentence for sentence in sentences) for zone in (stays if moves else ()))


def test_two_registries_have_two_stacks_unless_a_file_says_otherwise() -> None:
    """Renaming a registry is a second one beside the first, which goes on."""
    names = [merged({"identity": "a" * 32, "registry_name": each}, {}, PATH).stack_name for each in ("a", "b")]
    assert names == ["sigla-a", "sigla-b"]


OF_ZONE = {"zones": "use1-az1", "ring.kind": "none", "watch.alarms": False}
NAMED = {
    "front_door.domain_name": "registry.example.com",
    "front_door.certificate_arn": CERTIFICATE,
}
BASE = {"registry_name": "orders", "stack_name": "registry", "identity": "a" * 32}
KEPT = {"bucket_name": "kept-bodies", "table_name": "kept-catalog", "table_stream_arn": STREAM.format("kept-catalog")}

PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "nothing changes": (BASE, BASE, ""),
    "the table is forgotten": (
        {**BASE, **KEPT},
        {**BASE, "bucket_name": "kept-bodies"},
        "table_name would change from 'kept-catalog' to a new and empty one, because it is not set.",
    ),
    "another bucket": (BASE, {**BASE, **KEPT}, "bucket_name would change from 'own' to 'kept-bodies'."),
    "the registry is renamed": (
        BASE,
        {**BASE, "registry_name": "payments"},
        "registry_name would change from 'orders' to 'payments'.",
    ),
    "another identity": (
        BASE,
        {**BASE, "identity": "b" * 32},
        f"identity would change from '{'a' * 32}' to '{'b' * 32}'.",
    ),
    "a zone is forgotten": (
        {**BASE, "zones": "use1-az1,use1-az2", "ring.kind": "none"},
        {**BASE, "zones": "use1-az1", "ring.kind": "none"},
        "zones would change from 'use1-az1,use1-az2' to 'use1-az1': use1-az2 would be removed.",
    ),
    "a name of one's own is forgotten": (
        {**BASE, **NAMED},
        BASE,
        "DomainUrl would be removed: https://registry.example.com would no longer answer.",
    ),
    "another name of one's own": (
        {**BASE, **NAMED},
        {**BASE, **NAMED, "front_door.domain_name": "schemas.example.com"},
        (
            "DomainUrl would change: https://registry.example.com would no longer answer, and "
            "https://schemas.example.com would."
        ),
    ),
    "private names become those of endpoints": (
        {**BASE, **OF_ZONE, **dict(DOORS)},
        {**BASE, **OF_ZONE, **dict(BEHIND), "front_door.private_endpoints": "use1-az1:vpce-0aa"},
        (
            "ZonePrivateUrlUse1Az1 would change: https://use1-az1.sr.example.com would no longer answer, and "
            "https://*-vpce-0aa.execute-api.* would."
        ),
    ),
}


def told_by(template: Template) -> dict[str, str]:
    """Outputs as CloudFormation has them; what the stack makes is called `own`, or after what it is within a URL."""
    values = {name: each["Value"] for name, each in template["Outputs"].items()}
    return {
        name: value if isinstance(value, str) else written(value) if "Url" in name else "own"
        for name, value in values.items()
    }


@pytest.mark.parametrize("pair", PAIRS)
def test_what_would_move_is_told_by_the_templates(synthesise: Synthesise, pair: str) -> None:
    """What a deployed stack tells is enough to know; and what is not told is the same for its functions."""
    old, new, sentence = PAIRS[pair]
    before = synthesise(*old.items())
    sentences = moved(told_by(before), Target.of(Settings.read(new)))
    assert (sentence in sentences) if sentence else not sentences
    if not sentence:
        assert all_of(before, "AWS::Lambda::Function") == all_of(synthesise(*new.items()), "AWS::Lambda::Function")


def test_a_url_that_would_go_is_told(synthesise: Synthesise) -> None:
    """A forgotten flag would end it, and AWS never gives it out again."""
    with_url = synthesise(*BASE.items(), ("front_door.function_url", True))
    told = moved(told_by(with_url), Target.of(Settings.read(BASE)))
    (url,) = ids(with_url, "AWS::Lambda::Url")
    assert told == [f"FunctionUrl would be removed: <{url}.FunctionUrl> would no longer answer."]


STACKS: dict[str, tuple[tuple[str, Any], ...]] = {
    "defaults": (),
    "all on": ALL_ON,
    "private doors": PRIVATE,
    "closed zones": (("zones", "use1-az2"), *CLOSED),
    "endpoints that are there": (("zones", "use1-az1,use1-az2"), *BEHIND, ("ring.kind", "none")),
    "local": (("stage", "local"), *CLOSED, ("front_door.public", False), ("zones", "use1-az1,use1-az2")),
}


@pytest.mark.parametrize("stack", STACKS)
def test_every_url_that_a_stack_tells_is_known_before(synthesise: Synthesise, stack: str) -> None:
    """One that is not compared would go unseen; one that is promised and not there would never be missed."""
    told = {name: url for name, url in told_by(synthesise(*STACKS[stack])).items() if "Url" in name}
    urls = Target.of(Settings.read(dict(STACKS[stack]))).urls
    assert told.keys() == urls.keys()
    assert all(fnmatchcase(url, urls[name]) for name, url in told.items())


@pytest.mark.parametrize(
    "stage, environment", [("aws", "aws://111122223333/eu-west-1"), ("local", "aws://unknown-account/unknown-region")]
)
def test_cdk_is_told_where_a_stage_is_deployed(cdk: Any, tmp_path: Path, stage: str, environment: str) -> None:
    """So that a plain `cdk deploy` with credentials of another account is refused as well, by CDK itself."""
    from infra.app import build

    (tmp_path / "empty").mkdir()
    app = cdk.App(outdir=str(tmp_path / "cdk.out"), context=FLAGS)
    settings = Settings(stage=stage, account="111122223333", region="eu-west-1")
    assert build(app, settings, placed=lambda _: tmp_path / "empty").environment == environment


def test_a_stack_that_has_no_identity_is_not_taken_for_ours() -> None:
    """Something else deployed it, or a release that knew no stage files."""
    (sentence,) = moved({"BucketName": "x"}, Target.of(Settings.read(BASE)))
    assert sentence == "The stack registry exists, but has no identity: something else deployed it."
