"""Which logical types Avro knows, and when their attributes make sense (Avro specification, Logical Types)."""

from collections.abc import Callable
from typing import Final

from sigla.languages.avro.tree import Fixed, Json, Primitive, Props

Annotated = Primitive | Fixed


def is_valid(node: Annotated) -> bool:
    """Has the type a logical type that Avro knows and that fits it?"""
    name = node.props.get("logicalType")
    judge = KNOWN.get(name) if isinstance(name, str) else None
    return judge is not None and judge(node)


def _on(*kinds: str) -> Callable[[Annotated], bool]:
    return lambda node: node.kind in kinds


def _fixed_of(node: Annotated, size: int) -> bool:
    return isinstance(node, Fixed) and node.size == size


def _decimal(node: Annotated) -> bool:
    precision, scale = _whole(node.props, "precision", 0), _whole(node.props, "scale", 0)
    if precision is None or scale is None or not 0 <= scale <= precision or precision == 0:
        return False
    return node.kind == "bytes" or (isinstance(node, Fixed) and precision <= _digits(node.size))


def _whole(props: Props, key: str, otherwise: int) -> int | None:
    value: Json = props.get(key, otherwise)
    return value if value.__class__ is int else None


def _digits(size: int) -> int:
    """How many decimal digits always fit into a signed number of so many bytes."""
    # log10(2) to enough places; sizes are below 2^31, so the product is exact enough for its whole part.
    return int((8 * size - 1) * 0.3010299956639812) if size else 0


KNOWN: Final[dict[str, Callable[[Annotated], bool]]] = {
    "decimal": _decimal,
    "big-decimal": _on("bytes"),
    "uuid": lambda node: node.kind == "string" or _fixed_of(node, 16),
    "duration": lambda node: _fixed_of(node, 12),
    "date": _on("int"),
    "time-millis": _on("int"),
    "time-micros": _on("long"),
    "timestamp-millis": _on("long"),
    "timestamp-micros": _on("long"),
    "timestamp-nanos": _on("long"),
    "local-timestamp-millis": _on("long"),
    "local-timestamp-micros": _on("long"),
    "local-timestamp-nanos": _on("long"),
}
