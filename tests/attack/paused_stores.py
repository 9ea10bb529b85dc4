"""Tables and buckets of two regions that can be put back to any moment, and clients of them that can be paused.

`Tables` is asked without botocore and its wire: a run of a command takes some milliseconds, and thousands are made.
"""

import base64
import io
from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson
from botocore.exceptions import ClientError, EndpointConnectionError

from tests.contract.expressions import Item
from tests.contract.tables import OPERATIONS, Refused, Tables

Paused = Callable[[str], None]
"""Is told of each request by its name, before it is made."""

Rows = dict[str, dict[str, dict[str, Item]]]
Moment = tuple[Rows, dict[str, dict[str, bytes]]]
"""What is in all tables and buckets."""

_BINARY: Final = "B"


class KeptTables(Tables):
    """An item is never changed in its place: a copy shares them."""

    def copied(self) -> Rows:
        return {name: {pk: dict(rows) for pk, rows in table.items()} for name, table in self._tables.items()}

    def put_back(self, copied: Rows) -> None:
        self._tables = {name: {pk: dict(rows) for pk, rows in table.items()} for name, table in copied.items()}

    def add(self, name: str, rows: dict[str, dict[str, Item]] | None = None) -> None:
        """A table that DynamoDB restores is a new one."""
        self._tables[name] = {pk: dict(some) for pk, some in (rows or {}).items()}

    def drop(self, name: str) -> None:
        self._tables.pop(name, None)


class Buckets:
    """S3, as far as the adapters ask it."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, bytes]] = {}

    def get_object(self, *, Bucket: str, Key: str) -> Any:  # noqa: N803 - as S3 calls them
        found = self.objects[Bucket].get(Key)
        if found is None:
            raise refused("NoSuchKey", "GetObject", 404)
        return {"Body": io.BytesIO(found), "ETag": _tag(found)}

    def put_object(self, *, Bucket: str, Key: str, Body: bytes, **asked: str) -> Any:  # noqa: N803 - as S3 calls them
        standing = self.objects[Bucket].get(Key)
        if "IfNoneMatch" in asked and standing is not None:
            raise refused("PreconditionFailed", "PutObject", 412)
        if "IfMatch" in asked and (standing is None or _tag(standing) != asked["IfMatch"]):
            raise refused("NoSuchKey" if standing is None else "PreconditionFailed", "PutObject", 412)
        self.objects[Bucket][Key] = Body
        return {"ETag": _tag(Body)}

    def list_objects_v2(self, *, Bucket: str, Prefix: str, StartAfter: str, MaxKeys: int) -> Any:  # noqa: N803 - as S3 calls them
        names = sorted((name for name in self.objects[Bucket] if name.startswith(Prefix)), key=str.encode)
        found = [name for name in names if name.encode() > StartAfter.encode()]
        return {"Contents": [{"Key": name} for name in found[:MaxKeys]], "IsTruncated": len(found) > MaxKeys}


def _tag(content: bytes) -> str:
    return f'"{hash(content)}"'


def refused(code: str, operation: str, status: int = 400, message: str = "", **more: Any) -> ClientError:
    answer = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}, **more}
    return ClientError(answer, operation)


class Account:
    """What both regions have."""

    def __init__(self) -> None:
        self.tables, self.buckets = KeptTables(forgetful=True), Buckets()

    def dynamodb(self, name: str, asked: Mapping[str, Any]) -> Any:
        operation = "".join(part.title() for part in name.split("_"))
        form = orjson.loads(orjson.dumps(asked, default=lambda content: base64.b64encode(content).decode()))
        try:
            return _read(OPERATIONS[operation](self.tables, form))
        except Refused as no:
            code = no.form["__type"].rpartition("#")[2]
            raise refused(code, operation, message=no.sentence, **_read(no.more)) from None

    def s3(self, name: str, asked: Mapping[str, Any]) -> Any:
        return getattr(self.buckets, name)(**asked)

    def copied(self) -> Moment:
        return self.tables.copied(), {name: dict(objects) for name, objects in self.buckets.objects.items()}

    def put_back(self, moment: Moment) -> None:
        rows, objects = moment
        self.tables.put_back(rows)
        self.buckets.objects = {name: dict(each) for name, each in objects.items()}


class Client:
    """A client that either service has. silent: names of tables and buckets that do not answer it."""

    def __init__(self, service: str, ask: Callable[[str, Any], Any], paused: Paused, silent: frozenset[str]) -> None:
        self._service = service
        self._ask = ask
        self._paused = paused
        self._silent = silent

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(**asked: Any) -> Any:
            self._paused(f"{self._service}.{name}")
            if any(f"'{each}'" in str(asked) for each in self._silent):
                raise EndpointConnectionError(endpoint_url="https://silent.invalid")
            return self._ask(name, asked)

        return call


def _read(told: Any) -> Any:
    """With bytes where the wire has base64."""
    if isinstance(told, dict):
        if told.keys() == {_BINARY}:
            return {_BINARY: base64.b64decode(told[_BINARY])}
        return {name: _read(each) for name, each in told.items()}
    return [_read(each) for each in told] if isinstance(told, list) else told
