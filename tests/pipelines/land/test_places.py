"""A place is a folder or a prefix of a bucket, and nobody who uses it can tell which."""

import pickle
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from pipelines import places
from pipelines.places import Place, place
from sigla.errors import StoreError


@pytest.fixture(params=["folder", "bucket"])
def here(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "folder":
        return place(tmp_path / "lake")
    return place(f"s3://{request.getfixturevalue('bucket')}/{tmp_path.name}")


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


def test_a_put_whose_answer_was_lost_is_settled_by_reading(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The request was carried out, the answer never came: what stands is ours."""
    here = place(f"s3://{bucket}/lost")
    real = places._client(here.region, here.endpoint)  # type: ignore[attr-defined]  # a Bucket has both

    class Deaf:
        def __getattr__(self, name: str) -> object:
            return getattr(real, name)

        def put_object(self, **request: object) -> None:
            real.put_object(**request)
            raise EndpointConnectionError(endpoint_url="http://lost")

    monkeypatch.setattr(places, "_client", lambda *_: Deaf())
    assert here.put_if_absent("m", b"mine") == b"mine"


def test_a_put_that_nobody_can_settle_is_an_error(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = place(f"s3://{bucket}/silent")
    real = places._client(here.region, here.endpoint)  # type: ignore[attr-defined]  # a Bucket has both

    class Silent:
        get_object = real.get_object

        def put_object(self, **_: object) -> None:
            raise EndpointConnectionError(endpoint_url="http://silent")

    monkeypatch.setattr(places, "_client", lambda *_: Silent())
    with pytest.raises(StoreError, match=f"putting s3://{bucket}/silent/m"):
        here.put_if_absent("m", b"mine")


def test_a_put_that_meets_another_writer_is_tried_again(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """S3 answers 409 while somebody else writes: he may give up."""
    here = place(f"s3://{bucket}/busy")
    real = places._client(here.region, here.endpoint)  # type: ignore[attr-defined]  # a Bucket has both
    refusals = [ClientError({"Error": {"Code": "ConditionalRequestConflict"}}, "PutObject")] * 3

    class Busy:
        get_object = real.get_object

        def put_object(self, **request: object) -> None:
            if refusals:
                raise refusals.pop()
            real.put_object(**request)

    monkeypatch.setattr(places, "_client", lambda *_: Busy())
    monkeypatch.setattr(places, "FIRST_PAUSE_S", 0)
    assert here.put_if_absent("m", b"mine") == b"mine"
    assert not refusals
