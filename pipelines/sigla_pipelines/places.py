"""Where a job keeps its files: a local folder, or a prefix of a bucket, behind the same few verbs.

Data go through pyarrow's file systems. What decides something (manifests, heads) goes through `put_if_absent`, which
pyarrow cannot do: locally it is a link without overwrite, in S3 a PUT with `If-None-Match: *`.
"""

import os
import re
import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError
from pyarrow import fs

from sigla.aws.refusals import failed
from sigla.backoff import Backoff
from sigla.errors import StoreError, Unusable
from sigla.settings import InvalidSetting
from sigla_pipelines.retries import LOST_RACE

_CONFIG: Final = Config(
    connect_timeout=5,
    read_timeout=30,
    retries={"mode": "standard", "total_max_attempts": 5},
    # The default adds a checksum as a trailer, which not every store understands; TLS guards what is under way.
    request_checksum_calculation="when_required",
    response_checksum_validation="when_required",
)

# Another writer is at work, and the object may or may not exist when it has ended; all other refusals of a put are
# settled by reading. Source: Amazon S3 User Guide, "How to prevent object overwrites".
_UNDECIDED: Final = "ConditionalRequestConflict"
_MISSING: Final = "NoSuchKey"
_TOO_LARGE: Final = "InvalidRequest"
"""To be copied at once: larger than 5 GiB."""
_IN_PARTS: Final = TransferConfig(multipart_threshold=1, multipart_chunksize=2**30, use_threads=False)
_MOVES_AT_ONCE: Final = 16

_UNFINISHED: Final = ".unfinished-"
"""Begins the name of a file on its way to another name; no listing shows it."""

_UNWRITABLE: Final = re.compile("[\0\ud800-\udfff]")
"""No file can be called so. Half of a pair of surrogates: how Python keeps bytes of an argument that are not text."""


class Place(Protocol):
    """A value: it can be sent to a task. Names are relative, with `/` between folders. url: as it was asked for.

    All verbs raise StoreError or OSError where the store does not answer; Unusable where it does not exist, or the
    caller may not use it.
    """

    @property
    def url(self) -> str: ...

    @property
    def filesystem(self) -> fs.FileSystem: ...

    def path(self, name: str) -> str:
        """How `filesystem` knows a name."""
        ...

    def uri(self, name: str) -> str:
        """How other programs find it."""
        ...

    def under(self, name: str) -> "Place":
        """The folder of that name."""
        ...

    def folder_for(self, name: str) -> str:
        """`path(name)`, whose folder is there now: what a writer of data asks for."""
        ...

    def read(self, name: str) -> bytes | None:
        """None if there is nothing."""
        ...

    def put_if_absent(self, name: str, content: bytes) -> bytes:
        """What stands under the name now: the content, or what another writer put there before.

        Atomic and durable. After an exception it is not known what stands there; to ask again is safe, and so is it
        if the first request is carried out later.
        """
        ...

    def replace(self, name: str, content: bytes) -> None:
        """Atomic; the last one stands."""
        ...

    def sync(self, name: str) -> None:
        """Makes a file durable that `filesystem` has written: it must not be lost once a manifest names it."""
        ...

    def names(self, prefix: str = "", *, after: str = "") -> Iterator[str]:
        """The names of all files below that begin with the prefix and come after another: in the order of UTF-8."""
        ...

    def delete(self, name: str) -> None:
        """What is not there is deleted already."""
        ...

    def move(self, names: Mapping[str, str]) -> None:
        """Gives files new names: readers find each whole under its new name, or not yet. Durable when it returns.

        names: from old to new. What is not there was moved already: to ask again is safe, also where two ask at once.
        """
        ...


def open_place(url: str | Path) -> Place:
    """`s3://bucket/prefix`, or a folder (`file:///…`, absolute or relative), which need not exist yet.

    Raises InvalidSetting.
    """
    text = check_name(str(url))
    scheme, separator, rest = text.partition("://")
    # `s3:/bucket` would be a folder.
    if scheme == "file" or not (separator or text.startswith("s3:")):
        return Folder(str(Path(rest if separator else text).resolve()))
    bucket, _, prefix = rest.partition("/")
    if scheme != "s3" or not bucket:
        raise InvalidSetting(f"Invalid place '{text}': expected a folder or s3://bucket/prefix.")
    try:
        found = boto3.session.Session().client("s3").meta  # region and endpoint as every tool of AWS finds them
    except (BotoCoreError, ValueError) as problem:
        raise InvalidSetting(f"{text} cannot be used: {str(problem).rstrip('.')}.") from problem
    return Bucket(bucket, prefix.strip("/"), found.region_name, found.endpoint_url)


def check_name(text: str) -> str:
    """The same for the name of a file or a folder. Raises InvalidSetting."""
    if not text.strip() or _UNWRITABLE.search(text):
        raise InvalidSetting(f"Invalid name {text!r}: it is blank, or contains characters that no file name can have.")
    if text.startswith("~"):
        raise InvalidSetting(
            f"Only a shell expands {text}: write the whole path, or ./{text} for a name that begins with ~."
        )
    return text


@dataclass(frozen=True, slots=True)
class Folder:
    """root: absolute."""

    root: str

    @property
    def url(self) -> str:
        return self.root

    @property
    def filesystem(self) -> fs.FileSystem:
        return _local()

    def path(self, name: str) -> str:
        return f"{self.root}/{name}" if name else self.root

    def uri(self, name: str) -> str:
        return Path(self.path(name)).as_uri()

    def under(self, name: str) -> "Folder":
        return Folder(self.path(name))

    def folder_for(self, name: str) -> str:
        _folder(Path(self.path(name)).parent)
        return self.path(name)

    def read(self, name: str) -> bytes | None:
        try:
            return Path(self.path(name)).read_bytes()
        except FileNotFoundError:
            return None

    def put_if_absent(self, name: str, content: bytes) -> bytes:
        target = Path(self.path(name))
        written = self._written(target, content)
        try:
            with suppress(FileExistsError):
                target.hardlink_to(written)
        finally:
            written.unlink()
        # Also where it was there: who put it may not have come so far.
        _sync(target.parent)
        return target.read_bytes()

    def replace(self, name: str, content: bytes) -> None:
        target = Path(self.path(name))
        self._written(target, content).replace(target)
        _sync(target.parent)

    def sync(self, name: str) -> None:
        _sync(Path(self.path(name)))
        _sync(Path(self.path(name)).parent)

    def names(self, prefix: str = "", *, after: str = "") -> Iterator[str]:
        # Only the folder that the prefix names is walked; the rest of it begins a name there.
        root, above = Path(self.root), prefix.rpartition("/")[0]
        found = (
            (Path(folder) / file).relative_to(root).as_posix()
            for folder, _, files in os.walk(root / above, onerror=_passed_over)
            for file in files
            if not file.startswith(_UNFINISHED)
        )
        yield from sorted((name for name in found if name.startswith(prefix) and name > after), key=str.encode)

    def delete(self, name: str) -> None:
        Path(self.path(name)).unlink(missing_ok=True)

    def move(self, names: Mapping[str, str]) -> None:
        for source, target in names.items():
            if Path(self.path(source)).exists():
                with suppress(FileNotFoundError):  # another driver was faster
                    Path(self.path(source)).replace(self.folder_for(target))
        # Also of what another driver has moved, which may not have come so far.
        for folder in {Path(self.path(target)).parent for target in names.values()}:
            if folder.is_dir():
                _sync(folder)

    def _written(self, target: Path, content: bytes) -> Path:
        """The content, durable, under a name beside the target that no reader looks at."""
        _folder(target.parent)
        path = target.parent / f"{_UNFINISHED}{uuid.uuid4().hex}"
        with path.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        return path


@dataclass(frozen=True, slots=True)
class Bucket:
    """prefix: without slashes at its ends; may be empty. Credentials are found where it is used.

    backoff: after a put that S3 left undecided.
    """

    bucket: str
    prefix: str
    region: str
    endpoint: str
    backoff: Backoff = field(default=LOST_RACE, compare=False, repr=False)

    @property
    def url(self) -> str:
        return self.uri("")

    @property
    def filesystem(self) -> fs.FileSystem:
        return _s3_files(self.region, self.endpoint)

    def path(self, name: str) -> str:
        return "/".join(part for part in (self.bucket, self.prefix, name) if part)

    def uri(self, name: str) -> str:
        return f"s3://{self.path(name)}"

    def under(self, name: str) -> "Bucket":
        return replace(self, prefix=self._key(name))

    def folder_for(self, name: str) -> str:
        return self.path(name)

    def read(self, name: str) -> bytes | None:
        with _as_store_errors(f"reading {self.uri(name)}"):
            try:
                content: bytes = self._s3.get_object(Bucket=self.bucket, Key=self._key(name))["Body"].read()
            except ClientError as refusal:
                if _code(refusal) == _MISSING:
                    return None
                raise
        return content

    def put_if_absent(self, name: str, content: bytes) -> bytes:
        for _ in self.backoff:
            try:
                self._s3.put_object(Bucket=self.bucket, Key=self._key(name), Body=content, IfNoneMatch="*")
            except (BotoCoreError, ClientError) as failure:
                # Whatever became of the request: what stands there now stands there for good.
                stands = self.read(name)
                if stands is not None:
                    return stands
                if _code(failure) != _UNDECIDED:
                    raise failed(f"putting {self.uri(name)} failed in S3", failure) from failure
            else:
                return content
        raise StoreError(f"putting {self.uri(name)} was given up: other writers were faster {self.backoff.tries} times")

    def replace(self, name: str, content: bytes) -> None:
        with _as_store_errors(f"replacing {self.uri(name)}"):
            self._s3.put_object(Bucket=self.bucket, Key=self._key(name), Body=content)

    def sync(self, name: str) -> None:
        """What S3 has acknowledged is durable."""

    def names(self, prefix: str = "", *, after: str = "") -> Iterator[str]:
        above = len(self._key(""))
        pages = self._s3.get_paginator("list_objects_v2").paginate(
            Bucket=self.bucket, Prefix=self._key(prefix), StartAfter=self._key(after) if after else ""
        )
        with _as_store_errors(f"listing {self.uri(prefix)}"):
            for page in pages:
                yield from (each["Key"][above:] for each in page.get("Contents", ()))

    def delete(self, name: str) -> None:
        with _as_store_errors(f"deleting {self.uri(name)}"):
            self._s3.delete_object(Bucket=self.bucket, Key=self._key(name))

    def move(self, names: Mapping[str, str]) -> None:
        with ThreadPoolExecutor(_MOVES_AT_ONCE) as pool:
            for _ in pool.map(self._move, names.keys(), names.values()):
                pass

    def _move(self, source: str, target: str) -> None:
        """A copy, and only then a removal: killed between the two, it is done again, with the same content."""
        with _as_store_errors(f"moving {self.uri(source)}"):
            held = {"Bucket": self.bucket, "Key": self._key(source)}
            try:
                self._s3.copy_object(CopySource=held, Bucket=self.bucket, Key=self._key(target))
            except ClientError as refusal:
                if _code(refusal) == _MISSING:
                    return
                if _code(refusal) != _TOO_LARGE:
                    raise
                self._s3.copy(held, self.bucket, self._key(target), Config=_IN_PARTS)
            self._s3.delete_object(**held)

    @property
    def _s3(self) -> Any:
        return _client(self.region, self.endpoint)

    def _key(self, name: str) -> str:
        return f"{self.prefix}/{name}" if self.prefix else name


def _passed_over(failure: OSError) -> None:
    """What is not there holds nothing; what cannot be looked into may hold something."""
    if not isinstance(failure, FileNotFoundError):
        raise failure


def _folder(path: Path) -> None:
    """Makes it, durably, with all above it."""
    if not path.is_dir():
        _folder(path.parent)
        path.mkdir(exist_ok=True)
        _sync(path.parent)


def _sync(path: Path) -> None:
    """path: of a file or a folder."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


@cache
def _local() -> fs.FileSystem:
    return fs.LocalFileSystem()


@cache
def _client(region: str, endpoint: str) -> Any:
    return boto3.session.Session().client("s3", region_name=region, endpoint_url=endpoint, config=_CONFIG)


@cache
def _s3_files(region: str, endpoint: str) -> fs.FileSystem:
    parts = urlsplit(endpoint)
    if parts.netloc.endswith((".amazonaws.com", ".amazonaws.com.cn")):
        return fs.S3FileSystem(region=region)
    return fs.S3FileSystem(region=region, scheme=parts.scheme, endpoint_override=parts.netloc)


def _code(failure: Exception) -> str:
    return str(failure.response["Error"]["Code"]) if isinstance(failure, ClientError) else ""


@contextmanager
def _as_store_errors(doing: str) -> Iterator[None]:
    try:
        yield
    except ParamValidationError as misuse:  # no bucket, or no object, can be called so
        raise Unusable(f"{doing} cannot be asked of S3: {' '.join(str(misuse).split())}") from misuse
    except (BotoCoreError, ClientError) as failure:
        raise failed(f"{doing} failed in S3", failure) from failure
