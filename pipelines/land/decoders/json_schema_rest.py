"""What no property of a JSON Schema names: kept as JSON text where a schema is open, and counted wherever it is.

A schema allows more than it names unless it says otherwise. So beside the columns of its properties an object has one
more, whose text is an object of all others. Together they are the value again, but for properties that are null.
A schema with `properties` and no `type` allows values that are no objects at all: then the text is such a value.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

ADDITIONAL: Final = "_additional"

Found = dict[str, int]
"""How many properties were found, by the path of the column that has them, as in `address._additional`; "" of none."""

Count = Callable[[Any, Found], None]
"""Adds what a value, which fits its column, has beyond it."""

CountBelow = Callable[[str], Count]
"""A path, with a dot behind it unless it is empty → the count of a value there."""


class NoObject(dict[str, Any]):
    """A value that is no object, where objects have columns: without properties, and it remembers what it is."""

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


def count_in_object(names: frozenset[str], column: str, inner: Iterable[tuple[str, CountBelow]]) -> CountBelow:
    """column: of others; "" where there is none. inner: of the properties that may have more."""
    below = list(inner)
    contains = names.issuperset

    def at(above: str) -> Count:
        path = column and f"{above}{column}"
        counts = [(name, count_below(f"{above}{name}.")) for name, count_below in below]

        def count(value: Any, found: Found) -> None:
            if type(value) is not dict:
                found[path] = found.get(path, 0) + 1
                return
            if not contains(value):
                found[path] = found.get(path, 0) + len(value.keys() - names)
            for name, count_inner in counts:
                if (each := value.get(name)) is not None:
                    count_inner(each, found)

        return count

    return at


def count_in_each(items: CountBelow | None, each_of: Callable[[Any], Iterable[Any]]) -> CountBelow | None:
    """Of arrays and maps, whose items have the path of the whole. each_of: the items."""
    if items is None:
        return None
    of_item = items

    def at(above: str) -> Count:
        count_item = of_item(above)

        def count(value: Any, found: Found) -> None:
            for each in each_of(value):
                if each is not None:
                    count_item(each, found)

        return count

    return at
