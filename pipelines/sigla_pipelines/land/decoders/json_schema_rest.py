"""What no property of a JSON Schema names: kept as JSON text where a schema is open, and counted wherever it is.

A schema allows more than it names unless it says otherwise. So beside the columns of its properties an object has one
more, whose text is an object of all others. Together they are the value again, but for properties that are null.
A schema with `properties` and no `type` allows values other than objects: then the text is such a value.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

ADDITIONAL: Final = "_additional"

Found = dict[str, int]
"""How many properties were found, by the path of the column that has them, as in `address._additional`; "" of none."""

Count = Callable[[Any, Found], None]
"""Adds what a value, which fits its column, has beyond it."""

CountBelow = Callable[[str], Count]
"""A path, with a dot behind it unless it is empty → the count of a value there."""


@dataclass(frozen=True, slots=True)
class Rest:
    """What values may have beyond the columns of their properties.

    count: of one value. is_in: whether an array of such values keeps any of it in its columns, which is quick to tell.
    has_closed: whether some objects of them have no column for it, because their schema allows nothing.
    """

    count: CountBelow
    is_in: Callable[[pa.Array], bool]
    has_closed: bool


class NoObject(dict[str, Any]):
    """A value other than an object, where objects have columns: it has no properties, and remembers what it is."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


def free_name(properties: Iterable[str]) -> str:
    """The name of the column of others. Spark does not tell names apart by their case."""
    taken = {name.casefold() for name in properties}
    name = ADDITIONAL
    while name in taken:
        name = f"_{name}"
    return name


def others_than(names: frozenset[str]) -> Callable[[Any], Any]:
    """What an object has beside these properties; None where there is nothing."""
    contains = names.issuperset

    def others(value: Any) -> Any:
        if contains(value):
            return value.value if type(value) is NoObject else None
        return {name: each for name, each in value.items() if name not in names}

    return others


def rest_of_object(names: Sequence[str], column: str, inner: Iterable[tuple[str, Rest]]) -> Rest:
    """names: of the properties, in the order of their columns.

    column: the column of other properties, behind them; "" without one. inner: of the properties that may have more.
    """
    known, below = frozenset(names), list(inner)
    contains = known.issuperset

    def count_below(above: str) -> Count:
        path = column and f"{above}{column}"
        counts = [(name, rest.count(f"{above}{name}.")) for name, rest in below]

        def count(value: Any, found: Found) -> None:
            if type(value) is not dict:
                found[path] = found.get(path, 0) + 1
                return
            if not contains(value):
                found[path] = found.get(path, 0) + len(value.keys() - known)
            for name, count_inner in counts:
                if (each := value.get(name)) is not None:
                    count_inner(each, found)

        return count

    places = [(names.index(name), rest.is_in) for name, rest in below]

    def is_in(array: pa.Array) -> bool:
        others = array.field(len(names)) if column else array
        return (column != "" and others.null_count < len(others)) or any(
            is_inner(array.field(place)) for place, is_inner in places
        )

    return Rest(count_below, is_in, has_closed=not column or any(rest.has_closed for _, rest in below))


def rest_of_each(
    items: Rest | None, each_of: Callable[[Any], Iterable[Any]], column_of: Callable[[pa.Array], pa.Array]
) -> Rest | None:
    """The rest of arrays and maps, whose items have the path of the whole. each_of: the items.

    column_of: the array of them.
    """
    if items is None:
        return None
    of_item = items

    def count_below(above: str) -> Count:
        count_item = of_item.count(above)

        def count(value: Any, found: Found) -> None:
            for each in each_of(value):
                if each is not None:
                    count_item(each, found)

        return count

    return Rest(count_below, lambda array: of_item.is_in(column_of(array)), of_item.has_closed)
