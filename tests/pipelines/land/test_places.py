"""A place is a folder or a prefix of a bucket, and its users cannot tell which."""

import pickle
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from sigla.backoff import Backoff
from sigla.errors import StoreError, Unusable
from sigla.settings import InvalidSetting
from sigla_pipelines import places
from sigla_pipelines.places import Bucket, Place, open_place
from tests.build import FixedClock


@pytest.fixture(params=["folder", "bucket"])
def here(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "folder":
        return open_place(tmp_path / "lake")
    return open_place(f"s3://{request.getfixturevalue('bucket')}/{tmp_path.name}")


def test_the_first_to_put_decides_what_stands(here: Place) -> None:
    assert here.read("manifests/q/0") is None
    assert here.put_if_absent("manifests/q/0", b"mine") == b"mine"
    assert here.put_if_absent("manifests/q/0", b"theirs") == b"mine"
    assert here.read("manifests/q/0") == b"mine"


def test_of_many_who_put_at_once_all_see_the_same_winner(here: Place) -> None:
    seen: list[bytes] = []
    gate = threading.Barrier(8)

    def put(number: int) -> None:
        gate.wait()
        seen.append(here.put_if_absent("one", b"%d" % number))

    threads = [threading.Thread(target=put, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert set(seen) == {here.read("one")}


def test_names_are_sorted_below_a_prefix_and_nothing_unfinished_is_among_them(here: Place) -> None:
    for name in ("b/2", "a/10", "a/1", "a/2/x", "b2"):
        here.replace(name, b"")
    assert list(here.names("a/")) == ["a/1", "a/10", "a/2/x"]
    assert list(here.names()) == ["a/1", "a/10", "a/2/x", "b/2", "b2"]
    assert list(here.names("b")) == ["b/2", "b2"]
    assert list(here.names("b", after="b/2")) == ["b2"]
    assert list(here.names("c/")) == []
    assert list(here.under("b").names()) == ["2"]


def test_what_is_replaced_and_deleted_is(here: Place) -> None:
    here.replace("head", b"old")
    here.replace("head", b"new")
    assert here.read("head") == b"new"
    here.delete("head")
    here.delete("head")
    assert here.read("head") is None


def test_files_that_were_moved_are_under_their_new_names_however_often_it_is_asked(here: Place) -> None:
    """The first question may have come to the first of them, and what was taken away since stays away."""
    names = {"staging/a": "t/a", "staging/b": "t/b", "staging/c": "u/c"}
    for name in ("staging/a", "t/b", "staging/b"):  # b was copied, and not removed yet
        here.replace(name, name[-1:].encode())
    for _ in range(2):
        here.move(names)
        assert list(here.names()) == ["t/a", "t/b"]
        assert [here.read(name) for name in ("t/a", "t/b")] == [b"a", b"b"]


def test_an_object_that_s3_copies_in_parts_alone_is_moved_as_well(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of more than 5 GiB; S3 refuses to copy it at once."""
    here = open_place(f"s3://{bucket}/{tmp_path.name}")
    assert isinstance(here, Bucket)
    here.replace("staging/a", b"a")

    def refuse(**_: Any) -> None:
        raise ClientError({"Error": {"Code": "InvalidRequest"}}, "CopyObject")

    monkeypatch.setattr(places._client(here.region, here.endpoint), "copy_object", refuse)
    here.move({"staging/a": "t/a"})
    assert here.read("t/a") == b"a"
    assert list(here.names()) == ["t/a"]


def test_a_store_that_is_not_there_is_told_of_by_a_move(bucket: str) -> None:
    with pytest.raises(Unusable, match=r"moving s3://.*/staging/a failed in S3"):
        open_place(f"s3://{bucket}-that-is-not-there").move({"staging/a": "t/a"})


def test_data_written_by_pyarrow_is_read_back_and_found_by_its_name(here: Place) -> None:
    table = pa.table({"a": [1, 2]})
    pq.write_table(table, here.folder_for("t/data/x.parquet"), filesystem=here.filesystem)
    here.sync("t/data/x.parquet")
    assert list(here.names("t/data/")) == ["t/data/x.parquet"]
    assert pq.read_table(here.under("t").path("data/x.parquet"), filesystem=here.filesystem).equals(table)


def test_a_place_can_be_sent_to_a_task(here: Place) -> None:
    sent: Place = pickle.loads(pickle.dumps(here))
    assert sent == here
    here.replace("x", b"1")
    assert sent.read("x") == b"1"


BUSY = ClientError({"Error": {"Code": "ConditionalRequestConflict"}}, "PutObject")
"""S3's answer while another writer is at work: the caller may give up."""


@pytest.fixture
def answering(bucket: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., None]], Place]:
    """A place in a bucket whose puts do something else, with what S3 would do and the request; without waiting."""

    def at(put: Callable[..., None]) -> Place:
        here = open_place(f"s3://{bucket}/{uuid4()}")
        assert isinstance(here, Bucket)
        real = places._client(here.region, here.endpoint)
        client = SimpleNamespace(get_object=real.get_object, put_object=partial(put, real.put_object))
        monkeypatch.setattr(places, "_client", lambda *_: client)
        return replace(here, backoff=Backoff(FixedClock(), 0, tries=4))

    return at


def test_a_put_whose_answer_was_lost_is_settled_by_reading(answering: Callable[..., Place]) -> None:
    """The request was carried out, the answer never came: what stands is ours."""

    def put(real: Callable[..., None], **request: object) -> None:
        real(**request)
        raise EndpointConnectionError(endpoint_url="http://lost")

    assert answering(put).put_if_absent("m", b"mine") == b"mine"


def test_a_put_that_nobody_can_settle_is_an_error(answering: Callable[..., Place]) -> None:
    def put(_: object, **__: object) -> None:
        raise EndpointConnectionError(endpoint_url="http://silent")

    here = answering(put)
    with pytest.raises(StoreError, match=f"putting {here.uri('m')}"):
        here.put_if_absent("m", b"mine")


def test_a_put_that_meets_another_writer_is_tried_again(answering: Callable[..., Place]) -> None:
    refusals = [BUSY] * 3

    def put(real: Callable[..., None], **request: object) -> None:
        if refusals:
            raise refusals.pop()
        real(**request)

    assert answering(put).put_if_absent("m", b"mine") == b"mine"
    assert not refusals


def test_a_put_that_never_gets_its_turn_is_given_up(answering: Callable[..., Place]) -> None:
    """In a sentence that says why; no caller waits for ever."""

    def put(_: object, **__: object) -> None:
        raise BUSY

    with pytest.raises(StoreError, match="other writers were faster 4 times"):
        answering(put).put_if_absent("m", b"mine")


@pytest.mark.parametrize(
    "url", ["gs://bucket/x", "s3a://bucket/x", "hdfs://name/x", "s3://", "s3:///prefix", "s3:/bucket/x", "s3:bucket"]
)
def test_what_is_neither_a_folder_nor_s3_is_refused(url: str) -> None:
    """A folder of that name would be made on each machine, and be gone with it."""
    with pytest.raises(InvalidSetting, match=f"Invalid place '{url}': expected a folder"):
        open_place(url)


def test_without_a_region_a_bucket_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_PROFILE", "nosuch")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(InvalidSetting, match=r"s3://lake cannot be used: .*nosuch"):
        open_place("s3://lake")


@pytest.mark.parametrize("url", ["", " ", "a\0b", "s3://bucket/a\0b", "a\udcff", "\ud800"])
def test_what_no_file_can_be_called_is_refused_in_one_sentence(url: str) -> None:
    """An empty name is not a folder either: a variable that the shell does not know should not mean the current one."""
    with pytest.raises(InvalidSetting, match=r"^Invalid name ") as refused:
        open_place(url)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("url", ["~", "~/lake", "~nobody/lake"])
def test_a_tilde_is_neither_a_folder_of_that_name_nor_what_a_shell_makes_of_it(url: str) -> None:
    with pytest.raises(InvalidSetting, match=f"Only a shell expands {url}: .* or ./{url} for"):
        open_place(url)
    assert open_place(f"./{url}").url == str(Path(url).absolute())


def test_what_is_not_there_holds_nothing_and_a_file_is_no_folder(tmp_path: Path) -> None:
    """Else whoever names a file as the folder of records would be told that all of them are landed."""
    assert list(open_place(tmp_path / "nowhere").names()) == []
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        list(open_place(tmp_path / "file").names())


def test_a_bucket_that_is_not_there_is_no_silence(bucket: str) -> None:
    """It need not be waited for; `bucket`: that S3 is."""
    nowhere = open_place(f"s3://{bucket}-nowhere/x")
    for verb in (nowhere.read, lambda name: nowhere.put_if_absent(name, b""), lambda name: list(nowhere.names(name))):
        with pytest.raises(Unusable, match="NoSuchBucket"):
            verb("m")


def test_what_no_bucket_and_no_object_can_be_called_is_no_silence(bucket: str) -> None:
    for url, name, said in ((f"s3://{bucket}", "", "min length: 1"), ("s3://a b", "m", "Invalid bucket name")):
        with pytest.raises(Unusable, match=f"cannot be asked of S3: .*{said}"):
            open_place(url).read(name)
