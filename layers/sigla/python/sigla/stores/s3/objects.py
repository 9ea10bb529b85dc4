"""Objects of one bucket: created once, replaced only by those who saw what they replace, never removed.

The bucket's own policy demands the same of everybody (cdk/storage.py).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from botocore.exceptions import ClientError

from sigla.aws.refusals import SILENT, failed
from sigla.backoff import Backoff
from sigla.errors import StoreError
from sigla.ports.clock import Clock

SIDE_BY_SIDE = 16
"""Objects asked for at the same time; below the connections that a client keeps."""

PAGE = 1000
"""The most names that S3 tells at a time."""

LONGEST_NAME = 1024
"""Bytes of UTF-8 in S3; there is nothing under a longer name."""

TRIES = 8
"""How often a write is tried that others get in the way of; with the pauses between them they take at most 6 s."""
FIRST_PAUSE_S = 0.05

# "PreconditionFailed": the condition does not hold. "ConditionalRequestConflict": another writer is at work, and the
# condition may or may not hold when it has ended. Source: Amazon S3 User Guide, "How to prevent object overwrites".
_LOST, _UNDECIDED, _MISSING = "PreconditionFailed", "ConditionalRequestConflict", "NoSuchKey"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stored:
    """An object as it was read; by its tag it is recognised."""

    content: bytes
    tag: str


@dataclass(frozen=True, slots=True)
class Page:
    """Names in the order of their UTF-8 bytes; more: whether others come after them."""

    names: tuple[str, ...]
    more: bool


class Objects:
    """All raise StoreError where S3 does not answer or refuses, after the client's own retries; see `refusals`."""

    def __init__(self, s3: Any, bucket: str, *, clock: Clock) -> None:
        self._s3 = s3
        self._bucket = bucket
        self._clock = clock
        self._pool = ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix="objects")

    def close(self) -> None:
        """Waits for what is under way; nothing may be asked afterwards."""
        self._pool.shutdown()

    def read(self, name: str) -> Stored | None:
        """None if there is no such object."""
        if len(name.encode()) > LONGEST_NAME:
            return None
        with _failures_told(f"reading {name}"):
            try:
                answer = self._s3.get_object(Bucket=self._bucket, Key=name)
            except ClientError as refusal:
                if _code(refusal) == _MISSING:
                    return None
                raise
            return Stored(answer["Body"].read(), answer["ETag"])

    def read_many(self, names: Sequence[str]) -> list[Stored | None]:
        """As `read`, in the order asked, side by side."""
        if len(names) == 1:
            return [self.read(names[0])]
        return list(self._pool.map(self.read, names))

    def create(self, name: str, content: bytes) -> bool:
        """False if an object of this name is there, perhaps our own after an unknown outcome."""

        def attempt() -> bool | None:
            with _failures_told(f"creating {name}"):
                outcome = self._put(name, content, IfNoneMatch="*")
            return None if outcome == _UNDECIDED else outcome is None

        return self.insist(f"creating {name}", attempt)

    def create_all(self, contents: Mapping[str, bytes]) -> dict[str, bool]:
        """Creates them as `create` does, side by side.

        All have ended when it returns; after an exception any of them may be there.
        """
        made = {name: self._pool.submit(self.create, name, content) for name, content in contents.items()}
        wait(made.values())
        return {name: future.result() for name, future in made.items()}

    def replace(self, name: str, content: bytes, seen: Stored) -> bool:
        """False if what is there is not, or may not be, what was seen."""
        with _failures_told(f"replacing {name}"):
            return self._put(name, content, IfMatch=seen.tag) is None

    def page(self, prefix: str, *, after: str = "", most: int = PAGE) -> Page:
        """The first names that begin with the prefix and come after another name."""
        if len(prefix.encode()) > LONGEST_NAME:
            return Page((), more=False)
        with _failures_told(f"listing {prefix}"):
            answer = self._s3.list_objects_v2(Bucket=self._bucket, Prefix=prefix, StartAfter=after, MaxKeys=most)
            return Page(tuple(each["Key"] for each in answer.get("Contents", ())), answer["IsTruncated"])

    def names(self, prefix: str, *, after: str = "") -> Iterator[str]:
        """All of them, asked for page by page."""
        more = True
        while more:
            page = self.page(prefix, after=after)
            yield from page.names
            more, after = page.more, page.names[-1] if page.names else after

    def versions(self, name: str) -> Iterator[Stored]:
        """What the bucket keeps of an object, the newest first: each is read when it is wanted."""
        begin: dict[str, str] = {}
        while True:
            with _failures_told(f"listing the versions of {name}"):
                page = self._s3.list_object_versions(Bucket=self._bucket, Prefix=name, **begin)
            ids = [each["VersionId"] for each in page.get("Versions", ()) if each["Key"] == name]
            for id in ids:
                with _failures_told(f"reading a version of {name}"):
                    answer = self._s3.get_object(Bucket=self._bucket, Key=name, VersionId=id)
                    stored = Stored(answer["Body"].read(), answer["ETag"])
                yield stored
            if not page["IsTruncated"]:
                return
            begin = {"KeyMarker": page["NextKeyMarker"], "VersionIdMarker": page["NextVersionIdMarker"]}

    def insist(self, doing: str, attempt: Callable[[], T | None]) -> T:
        """What the attempt yields, repeated with full jitter while it yields None: others do the same at this moment.

        Raises StoreError after the last.
        """
        for _ in Backoff(self._clock, FIRST_PAUSE_S, tries=TRIES):
            outcome = attempt()
            if outcome is not None:
                return outcome
        raise StoreError(f"{doing} was given up: others got in the way {TRIES} times")

    def _put(self, name: str, content: bytes, **condition: str) -> str | None:
        """Why nothing was written, or None."""
        try:
            self._s3.put_object(
                Bucket=self._bucket, Key=name, Body=content, ContentType="application/json", **condition
            )
        except ClientError as refusal:
            if _code(refusal) not in {_LOST, _UNDECIDED, _MISSING}:
                raise
            return _code(refusal)
        return None


def _code(refusal: ClientError) -> str:
    return str(refusal.response["Error"]["Code"])


@contextmanager
def _failures_told(doing: str) -> Iterator[None]:
    try:
        yield
    except (ClientError, *SILENT) as failure:
        raise failed(f"{doing} failed in S3", failure) from failure
