"""Arrow's schemas as JSON that a person can read, for what is kept beside the data."""

import re
from typing import Any, Final

import pyarrow as pa

from sigla_pipelines.land.decoders.notes import DOC

JSON: Final = pa.large_string()
"""JSON text. Another type than that of strings, so that no column has both: in one, 12 and "12" could not be told."""

_SCALARS: Final = {
    str(kind): kind
    for kind in (
        *(pa.bool_(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.binary(), pa.date32()),
        *(pa.timestamp("us"), pa.timestamp("us", tz="UTC"), pa.time64("us")),
    )
} | {"json": JSON}
"""What columns of tables consist of, by the name that Arrow gives it."""

_NAMES: Final = {kind: name for name, kind in _SCALARS.items()}

_DECIMAL: Final = re.compile(r"decimal128\((\d+), (-?\d+)\)")


def schema_form(schema: pa.Schema) -> list[dict[str, Any]]:
    """Raises ValueError for a type that no table has."""
    return [_field_form(field) for field in schema]


def schema(form: list[dict[str, Any]]) -> pa.Schema:
    """What `schema_form` was made of."""
    return pa.schema([_field(each) for each in form])


def _field_form(field: pa.Field) -> dict[str, Any]:
    required = {} if field.nullable else {"required": True}
    doc = (field.metadata or {}).get(DOC)
    comment = {"comment": doc.decode()} if doc else {}
    return {"name": field.name, "type": _type_form(field.type), **required, **comment}


def _type_form(kind: pa.DataType) -> Any:
    if pa.types.is_struct(kind):
        return {"struct": [_field_form(field) for field in kind]}
    if pa.types.is_list(kind):
        return {"list": _type_form(kind.value_type)}
    if pa.types.is_map(kind):
        return {"map": [_type_form(kind.key_type), _type_form(kind.item_type)]}
    if kind not in _NAMES and not _DECIMAL.fullmatch(str(kind)):
        raise ValueError(f"a column of type {kind} cannot be kept in a table")
    return _NAMES.get(kind, str(kind))


def _field(form: dict[str, Any]) -> pa.Field:
    metadata = {DOC: form["comment"].encode()} if "comment" in form else None
    return pa.field(form["name"], _type(form["type"]), nullable=not form.get("required", False), metadata=metadata)


def _type(form: Any) -> pa.DataType:
    if isinstance(form, str):
        decimal = _DECIMAL.fullmatch(form)
        return pa.decimal128(int(decimal[1]), int(decimal[2])) if decimal else _SCALARS[form]
    [(kind, inner)] = form.items()
    if kind == "struct":
        return pa.struct([_field(each) for each in inner])
    if kind == "list":
        return pa.list_(_type(inner))
    return pa.map_(*map(_type, inner))
