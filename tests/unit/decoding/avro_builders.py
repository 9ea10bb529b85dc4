"""Schemas, payloads and what becomes of them, in a line of a test each."""

import io
import json
from typing import Any

import fastavro
import pytest

from sigla.decoding.avro import decoder
from sigla.decoding.decoder import DecodeFailed, Limits, Source
from sigla.model import Resolved


def a_source(schema: Any, *references: Resolved) -> Source:
    return Source("AVRO", json.dumps(schema), references)


def written(schema: Any, value: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    return out.getvalue()


def read(schema: Any, payload: bytes, reader: Any = None, limits: Limits | None = None) -> Any:
    wanted = None if reader is None else a_source(reader)
    return decoder(a_source(schema), wanted, limits=limits or Limits())(payload)


def refused(schema: Any, payload: bytes, reader: Any = None, limits: Limits | None = None) -> DecodeFailed:
    with pytest.raises(DecodeFailed) as failed:
        read(schema, payload, reader, limits)
    return failed.value


def a_record(*types: Any, name: str = "R", **more: Any) -> dict[str, Any]:
    """A record of fields f0, f1, … of these types."""
    return of_fields(*({"name": f"f{at}", "type": type_} for at, type_ in enumerate(types)), name=name, **more)


def of_fields(*fields: dict[str, Any], name: str = "R", **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **more}


def logical(kind: str, base: str = "long", **more: Any) -> dict[str, Any]:
    return {"type": base, "logicalType": kind, **more}


DECIMAL = logical("decimal", "bytes", precision=9, scale=2)
