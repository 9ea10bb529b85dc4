"""A scrub looks at exporters: at their rows, and whether what is kept as credentials is what they name."""

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from sigla.aws.secrets import AwsSecrets
from sigla.cli import main
from sigla.exporters import records
from sigla.exporters.nouns import Credentials
from sigla.exporters.verbs.asking import secret_settings
from sigla.keys import utf16
from sigla.ports.secrets import SecretName
from sigla.registry import Registry
from sigla.stores.dynamodb import values
from sigla.upkeep.flaws import FIXABLE, KINDS, Severity
from sigla.upkeep.mending import fix
from sigla.upkeep.scrub import GRACE_MS
from tests.attack.exporters import NEXT, SECRET, THERE, created, deleted, paused, updated
from tests.attack.ports import Call, watched
from tests.build import FixedClock, StoreOf
from tests.contract.aws import Account, moto
from tests.unit.aws.faults import Killed
from tests.unit.registry.scrubbing import Broken, InADirectory, InAWS, in_a_directory, in_aws, registry_of
from tests.unit.registry.test_scrub import OF_EXPORTERS, found_in

__all__ = ["moto"]

VERBS = (
    created(),
    created("1", config=THERE),
    created("A.b", config=SECRET),
    paused("A.b"),
    updated("A.b", config=NEXT),
    created("gone"),
    paused("gone"),
    deleted("gone"),
)
"""Two exporters with credentials, one of which got others; one without; and one that is gone, with its credentials."""
LEFT = SecretName("A.b", "1eft")


@pytest.fixture(params=["directory", "aws-moto"])
def broken(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Broken]:
    """A registry with exporters."""
    account: Account | None = None if request.param == "directory" else request.getfixturevalue("moto")
    with in_a_directory(tmp_path / "data") if account is None else in_aws(account) as made:
        registry = registry_of(made.store)
        for verb in VERBS:
            verb(registry)
        yield made


def much_later(broken: Broken) -> None:
    """What was put until now is older than any change that is under way; files and parameters bear the real time."""
    clock = broken.store.clock
    assert isinstance(clock, FixedClock)
    clock.time = round(time.time() * 1000) + 2 * GRACE_MS


# --- behind its back -------------------------------------------------------------------------------------------------


def _rewritten(broken: Broken, **members: object) -> None:
    form = records.exporter_json(next(one for one in broken.store.catalog.exporters() if one.name == "e")) | members
    _write(broken, exporter=form)


def _write(broken: Broken, **columns: Any) -> None:
    if isinstance(broken, InADirectory):
        for name, form in columns.items():
            text = json.dumps(form) if name != "revision" else form
            broken._execute(f"UPDATE exporter SET {name} = ? WHERE key = ?", text, utf16("e"))
        return
    assert isinstance(broken, InAWS)
    packed = {name: form if name == "revision" else values.packed(form) for name, form in columns.items()}
    broken._change(broken._places.exporter("e"), lambda item: item | packed)


def _without(broken: Broken, *attributes: str) -> None:
    assert isinstance(broken, InAWS)
    place = broken._places.exporter("e")
    broken._change(place, lambda item: {name: value for name, value in item.items() if name not in attributes})


def _other_progress(broken: Broken) -> None:
    if isinstance(broken, InADirectory):
        _write(broken, progress=["RUNNING", "seven", [], "", [], 0, ""])
    else:
        _write(broken, position=["seven", [], "", []])


def _credentials_gone(broken: Broken) -> None:
    """As after DynamoDB restored the table under another name."""
    if isinstance(broken, InADirectory):
        (file,) = (broken.embedded.path / "default" / "secrets").glob("e.*")
        file.unlink()
    else:
        exporter = broken.store.catalog.exporter("e")
        assert exporter
        broken.store.secrets.delete(SecretName("e", exporter.credentials))


def _credentials_left(broken: Broken) -> None:
    broken.store.secrets.put(LEFT, Credentials({"basic.auth.user.info": "orders:s3cr3t"}))


BREAKS: dict[str, tuple[Callable[[Broken], object], str]] = {
    "ROW_UNREADABLE": (lambda broken: _write(broken, exporter=[]), "e"),
    "ROW_UNREADABLE, no config": (lambda broken: _rewritten(broken, config={"a": ["s3cr3t"]}), "e"),
    "ROW_UNREADABLE, another exporter": (lambda broken: _rewritten(broken, name="other"), "e"),
    "ROW_UNREADABLE, another revision": (lambda broken: _write(broken, revision="other"), "e"),
    "ROW_UNREADABLE, no progress": (_other_progress, "e"),
    "PROGRESS_WITHOUT_EXPORTER": (lambda broken: _without(broken, "exporter", "revision"), "e"),
    "CREDENTIALS_MISSING": (_credentials_gone, "e"),
    "CREDENTIALS_LEFT": (_credentials_left, "A.b/1eft"),
}
CASES = [
    # A directory has no progress without its exporter.
    *(pytest.param("directory", name) for name in BREAKS if not name.startswith("PROGRESS")),
    *(pytest.param("aws-moto", name) for name in BREAKS),
]


def test_exporters_of_a_healthy_registry_have_no_flaws(broken: Broken) -> None:
    """With credentials and without, changed, paused and deleted ones."""
    assert found_in(broken.store) == []
    much_later(broken)
    assert found_in(broken.store) == []


@pytest.mark.parametrize("broken,name", CASES, indirect=["broken"])
def test_what_is_wrong_with_an_exporter_is_found_out_and_put_right(broken: Broken, name: str) -> None:
    """That, and nothing else; what can be put right is told no more afterwards, and no secret ever is."""
    act, about = BREAKS[name]
    act(broken)
    much_later(broken)
    found = found_in(broken.store)
    # Credentials of an exporter that cannot be read are not taken for left.
    expected = [name.partition(",")[0], *(["CREDENTIALS_LEFT"] if name.startswith("PROGRESS") else [])]
    assert sorted(flaw.kind for flaw in found) == sorted(expected)
    (flaw,) = (flaw for flaw in found if flaw.kind == expected[0])
    assert about in flaw.sentence
    assert "s3cr3t" not in str(flaw) + flaw.sentence
    if flaw.kind in FIXABLE:
        assert all(fix(broken.store, each) for each in [*found, *found])
        assert found_in(broken.store) == []
    assert secret_settings(broken.store.secrets, _exporter(broken, "A.b")) == {"basic.auth.user.info": "orders:next"}


def _exporter(broken: Broken, name: str) -> Any:
    return broken.store.catalog.exporter(name)


def test_every_kind_about_exporters_is_tried() -> None:
    assert {name.partition(",")[0] for name in BREAKS} == OF_EXPORTERS - {"CREDENTIALS_UNLISTED"} | {"ROW_UNREADABLE"}


# --- a process that ends between the two -----------------------------------------------------------------------------


def test_credentials_of_a_process_that_ended_before_its_commit_are_found_and_deleted(broken: Broken) -> None:
    """They are put before the row that names them: in the parameter store nothing else would ever take them away."""
    before = {kept.name for kept in broken.store.secrets.kept()}
    with suppress(Killed):
        created("late")(_dying(broken.store))
    (left,) = {kept.name for kept in broken.store.secrets.kept()} - before
    assert left.exporter == "late"
    assert found_in(broken.store) == []  # it may yet be written
    much_later(broken)
    (flaw,) = found_in(broken.store)
    assert flaw.sentence == f"Credentials are kept that no exporter names: late/{left.nonce}."
    assert fix(broken.store, flaw)
    assert {kept.name for kept in broken.store.secrets.kept()} == before
    assert found_in(broken.store) == []


def _dying(store: StoreOf) -> Registry:
    """The process ends where a commit would begin."""

    def between(call: Call, carry_out: Callable[[], Any]) -> Any:
        if call.is_commit:
            raise Killed
        return carry_out()

    return Registry(*watched(store.catalog, store.bodies, between), store.clock, secrets=store.secrets)


def test_credentials_that_an_exporter_names_by_now_are_not_deleted(broken: Broken) -> None:
    """Whatever was found an hour ago."""
    _credentials_left(broken)
    much_later(broken)
    (flaw,) = found_in(broken.store)
    seen = _exporter(broken, "A.b")
    named = replace(flaw, record=f"A.b/{seen.credentials}")
    assert not fix(broken.store, named)
    assert broken.store.secrets.get(SecretName("A.b", seen.credentials))


def test_an_exporter_that_changes_while_we_look_misses_nothing(broken: Broken) -> None:
    """Its new credentials are put, it names them, the former ones go: whichever of them the list has had."""
    store, kept = broken.store, broken.store.secrets.kept

    def changing() -> Iterator[Any]:
        before = list(kept())
        if _exporter(broken, "A.b").config.get("more") is None:
            updated("A.b", config={**SECRET, "more": "than before"})(registry_of(store))
        return iter(before)

    slow: Any = SimpleNamespace(kept=changing)
    much_later(broken)
    assert found_in(replace(store, secrets=slow)) == []


# --- what may not be listed ------------------------------------------------------------------------------------------


def _denied(**_: object) -> None:
    denied = {"Error": {"Code": "AccessDeniedException", "Message": "not permitted"}}
    raise ClientError(denied, "GetParametersByPath")


def _silent(**_: object) -> None:
    raise EndpointConnectionError(endpoint_url="https://ssm")


@pytest.mark.parametrize("fail", [_denied, _silent])
@pytest.mark.parametrize("broken", ["aws-moto"], indirect=True)
def test_a_role_that_may_not_list_credentials_scrubs_without_them(broken: Broken, fail: Callable[..., None]) -> None:
    """A sentence says so; all the rest is compared, and nothing is taken for missing."""
    assert isinstance(broken, InAWS)
    clients: Any = SimpleNamespace(ssm=SimpleNamespace(get_parameters_by_path=fail))
    secrets = AwsSecrets(clients, broken.table, registry=broken.registry)
    _without(broken, "exporter")
    found = found_in(replace(broken.store, secrets=secrets))
    assert [flaw.kind for flaw in found] == ["CREDENTIALS_UNLISTED", "PROGRESS_WITHOUT_EXPORTER"]
    assert KINDS[found[0].kind].severity is Severity.INFO


@pytest.mark.parametrize("with_one", [False, True])
def test_of_a_directory_whose_credentials_are_closed_it_says_so_where_there_are_exporters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, with_one: bool
) -> None:
    """Whoever has no exporters has no credentials, and need not care."""
    data = tmp_path / "data"
    with in_a_directory(data) as made:
        if with_one:
            created(config=THERE)(registry_of(made.store))
        shutil.rmtree(data / "default" / "secrets", ignore_errors=True)
        (data / "default" / "secrets").write_text("in the way")
        assert main(["scrub", "--settle", "0", "--data", str(data)]) == 0
    printed = capsys.readouterr().out
    assert ("CREDENTIALS_UNLISTED  info, 1" in printed) is with_one
    assert printed.endswith("Bodies, catalog and journal agree.\n")


def test_a_command_finds_what_a_crash_left_in_a_directory_and_the_next_opening_takes_it_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says nothing of foreign files beside them."""
    data = tmp_path / "data"
    with in_a_directory(data) as made:
        created()(registry_of(made.store))
        made.store.secrets.put(LEFT, Credentials({"basic.auth.user.info": "orders:s3cr3t"}))
        for file in (data / "default" / "secrets").iterdir():
            os.utime(file, (0, 0))
        (data / "default" / "secrets" / "notes.TXT").write_text("mine")
        assert main(["scrub", "--settle", "0", "--data", str(data)]) == 1
        assert "Credentials are kept that no exporter names: A.b/1eft." in capsys.readouterr().out
    assert main(["scrub", "--settle", "0", "--data", str(data), "--fix", "CREDENTIALS_LEFT"]) == 0
    assert "A.b/1eft.  Fixed." in capsys.readouterr().out
    assert main(["scrub", "--settle", "0", "--data", str(data)]) == 0
