"""No change of settings points a stack at other data unseen: all of it is compared before anything is deployed."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.settings import InvalidSetting, Settings
from infra.stage_files import FILE_ONLY, merged
from infra.targets import Target, moved
from tests.infra.conftest import Synthesise
from tests.infra.reading import Template, all_of

PATH = Path("stages/prod.toml")
STREAM = "arn:aws:dynamodb:us-east-1:111122223333:table/{}/stream/2026-11-21T00:00:00.000"
IDENTITIES = ("a" * 32, "b" * 32)


def optional(*values: str) -> st.SearchStrategy[str]:
    return st.sampled_from(("", *values))


@st.composite
def stage_files(draw: st.DrawFn) -> dict[str, Any]:
    """What a stage file may say of where the data is, and something that does not matter for it."""
    table = draw(optional("kept-catalog", "restored-catalog"))
    return {
        "identity": draw(st.sampled_from(IDENTITIES)),
        "registry_name": draw(st.sampled_from(("orders", "payments"))),
        "stack_name": draw(optional("sigla-orders", "registry")),
        "bucket_name": draw(optional("kept-bodies", "other-bodies")),
        "table_name": table,
        "table_stream_arn": STREAM.format(table) if table else "",
        "zones": ",".join(sorted(draw(st.sets(st.sampled_from(("use1-az1", "use1-az2", "use1-az4")))))),
        "log_days": draw(st.sampled_from((7, 30))),
    }


flags = st.dictionaries(
    st.sampled_from((*FILE_ONLY, "log_days", "ring.kind", "front_door.function_url", "auth")),
    st.sampled_from(("", "local", "orders", "payments", "kept-catalog", "use1-az1", "true", "30", "none")),
    max_size=3,
)


def outputs_of(settings: Settings) -> dict[str, str]:
    """What a stack with these settings tells, when it has made what it was not given."""
    told = {name: value for name, (value, _) in Target.of(settings).outputs.items()}
    own = {"BucketName": f"{settings.stack_name}-bodies", "TableName": f"{settings.stack_name}-catalog"}
    given = {"BucketName": settings.bucket_name, "TableName": settings.table_name}
    return {**told, **own, **{name: value for name, value in given.items() if value}}


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
    assert bool(sentences) != stays, sentences


def test_two_registries_have_two_stacks_unless_a_file_says_otherwise() -> None:
    """Renaming a registry is a second one beside the first, which goes on."""
    names = [merged({"identity": "a" * 32, "registry_name": each}, {}, PATH).stack_name for each in ("a", "b")]
    assert names == ["sigla-a", "sigla-b"]


BASE = {"registry_name": "orders", "stack_name": "registry", "identity": "a" * 32}
KEPT = {"bucket_name": "kept-bodies", "table_name": "kept-catalog", "table_stream_arn": STREAM.format("kept-catalog")}

PAIRS: dict[str, tuple[dict[str, str], dict[str, str], str]] = {
    "nothing changes": (BASE, BASE, ""),
    "the table is forgotten": (
        {**BASE, **KEPT},
        {**BASE, "bucket_name": "kept-bodies"},
        "table_name would change from 'kept-catalog' to one that is new and empty, since none is given.",
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
        "zones would change from 'use1-az1,use1-az2' to 'use1-az1': use1-az2 would go.",
    ),
}


def told_by(template: Template) -> dict[str, str]:
    """Outputs as CloudFormation has them; what the stack makes is called `own`."""
    values = {name: each["Value"] for name, each in template["Outputs"].items()}
    return {name: value if isinstance(value, str) else "own" for name, value in values.items()}


@pytest.mark.parametrize("pair", PAIRS)
def test_what_would_move_is_told_by_the_templates(synthesise: Synthesise, pair: str) -> None:
    """What a deployed stack tells is enough to know; and what is not told is the same for its functions."""
    old, new, sentence = PAIRS[pair]
    before, after = (synthesise(*each.items()) for each in (old, new))
    sentences = moved(told_by(before), Target.of(Settings.read(new)), after["Outputs"])
    assert (sentence in sentences) if sentence else not sentences
    if not sentence:
        assert all_of(before, "AWS::Lambda::Function") == all_of(after, "AWS::Lambda::Function")


def test_a_url_that_would_go_is_told(synthesise: Synthesise) -> None:
    """A forgotten flag would end it, and AWS never gives it out again."""
    with_url = synthesise(*BASE.items(), ("front_door.function_url", True))
    without = synthesise(*BASE.items())
    told = moved(told_by(with_url), Target.of(Settings.read(BASE)), without["Outputs"])
    assert told == ["FunctionUrl would go: own answers nobody any more."]


def test_a_stack_that_has_no_identity_is_not_taken_for_ours() -> None:
    """Something else deployed it, or a release that knew no stage files."""
    (sentence,) = moved({"BucketName": "x"}, Target.of(Settings.read(BASE)))
    assert sentence == "The stack registry is there and has no identity: something else deployed it."
