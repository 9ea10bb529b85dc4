"""Where a `$ref` leads (contract C.3): to what any of the two loaders of the reference would find (DV-15).

The network is never asked (DV-5): what resolves is a place in the text itself, a reference by its name, what stands at
an address relative to those, or one of the metaschemas.
"""

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from sigla import effort
from sigla.errors import Malformed
from sigla.languages.json_schema import text
from sigla.languages.json_schema.text import Json
from sigla.model import Resolved

STEPS_OF_A_VALUE: Final = 3
ANCHORS: Final = ("$anchor", "$dynamicAnchor")

METASCHEMAS: Final = ("http://json-schema.org/", "https://json-schema.org/")


class Home:
    """What a `$ref` is relative to.

    document: the whole text, and address: under which it is known ("" for the root). resource: the part of it whose
    id is the nearest around the place, and base: that id, made absolute; None and the address without one.
    """

    __slots__ = ("address", "base", "document", "resource")

    def __init__(self, document: Json, address: str, base: str, resource: Json = None) -> None:
        self.document = document
        self.address = address
        self.base = base
        self.resource = resource


Place: TypeAlias = tuple[Json, Home]


class Resources:
    """Everything that a schema can refer to. References are read when they are first needed (JR-18)."""

    __slots__ = ("addresses", "documents", "home", "id", "named", "texts")

    def __init__(self, root: Json, references: Sequence[Resolved], id: str) -> None:
        self.id = id
        self.home = Home(root, "", "")
        self.texts = {reference.name: reference.text for reference in reversed(references)}
        self.addresses = self._addresses()
        self.documents: dict[str, Json] = {}
        self.named: dict[int, dict[str, Place]] = {}

    def _addresses(self) -> dict[str, str]:
        """Names by every address they answer to: as they are, and relative to the id of the root (JR-2 to JR-5)."""
        base = self.entered(self.home, self.home.document).base
        addresses = {name: name for name in self.texts}
        for name in self.texts:
            plain = name.removesuffix("#")
            for other in (plain, plain.removeprefix("./"), joined(base, plain)):
                addresses.setdefault(other, name)
        return addresses

    def entered(self, home: Home, value: Json) -> Home:
        """The home of what is inside the value: another one if the value has an id."""
        if not isinstance(value, dict) or value is home.resource:
            return home
        id = value.get(self.id)
        if not isinstance(id, str) or id.startswith("#"):
            return home
        return Home(home.document, home.address, joined(home.base, id.partition("#")[0]), value)

    def find(self, name: str, home: Home) -> Place:
        """What the `$ref` of this name, met at home, refers to, and its own home. Raises Malformed."""
        address, _, fragment = name.partition("#")
        fragment = unquoted(fragment)
        for value, at in self.starts(address, home):
            place = self.within(value, at, fragment)
            if place is not None:
                return place
        raise Malformed(f"The reference '{name}' cannot be resolved")

    def starts(self, address: str, home: Home) -> Iterator[Place]:
        """Where the fragment may be looked for, the likeliest first."""
        if not address:
            if home.resource is not None:
                yield home.resource, home
            yield home.document, Home(home.document, home.address, home.address)
            return
        wanted = (address, address.removeprefix("./"), joined(home.base, address), joined(home.address, address))
        for candidate in wanted:
            if candidate in self.addresses:
                yield self.document(self.addresses[candidate])
        for candidate in wanted:
            if candidate in (names := self.names(home)):
                yield names[candidate]
        if address.startswith(METASCHEMAS) and (document := self.metaschema(address)) is not None:
            yield document, Home(document, address, address)

    def document(self, name: str) -> Place:
        if name not in self.documents:
            try:
                self.documents[name] = text.read(self.texts[name])
            except Malformed as malformed:
                raise Malformed(f"The reference '{name}' is not a JSON Schema: {malformed.reason}") from None
        document = self.documents[name]
        address = joined(self.entered(self.home, self.home.document).base, name)
        return document, Home(document, name, address)

    def metaschema(self, address: str) -> Json:
        from sigla.languages.json_schema import metaschemas  # noqa: PLC0415 - they are hardly ever referred to

        if address not in self.documents:
            self.documents[address] = metaschemas.metaschema(address)
        return self.documents[address]

    def within(self, value: Json, home: Home, fragment: str) -> Place | None:
        if not fragment:
            return value, home
        if fragment.startswith("/"):
            return self.pointed(value, home, fragment) or self.pointed(value, home, fragment.rstrip("/"))
        return self.names(home).get(f"#{fragment}")

    def pointed(self, value: Json, home: Home, pointer: str) -> Place | None:
        """What a JSON Pointer (RFC 6901) leads to. `/$defs` may also stand for `/definitions` (JR-8).

        Many write `#/` for the whole document: slashes at the end count if there is a member without a name.
        """
        for raw in pointer.split("/")[1:]:
            home = self.entered(home, value)
            step = raw.replace("~1", "/").replace("~0", "~")
            if isinstance(value, list) and step.isascii() and step.isdigit() and int(step) < len(value):
                value = value[int(step)]
            elif isinstance(value, dict) and step in value:
                value = value[step]
            elif isinstance(value, dict) and step == "$defs" and "definitions" in value:
                value = value["definitions"]
            else:
                return None
        return value, home

    def names(self, home: Home) -> dict[str, Place]:
        """The ids and anchors inside the document at home; the first of a name counts."""
        known = self.named.get(id(home.document))
        if known is None:
            known = self.named[id(home.document)] = {}
            todo: list[Place] = [(home.document, Home(home.document, home.address, home.address))]
            while todo:
                effort.pulse(STEPS_OF_A_VALUE)
                value, at = todo.pop()
                inside = self.entered(at, value)
                for name in self.own_names(value, inside):
                    known.setdefault(name, (value, at))
                parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
                todo.extend((part, inside) for part in reversed(list(parts)) if isinstance(part, dict | list))
        return known

    def own_names(self, value: Json, inside: Home) -> Iterator[str]:
        if not isinstance(value, dict):
            return
        if inside.resource is value:
            yield inside.base
        own = value.get(self.id)
        if isinstance(own, str) and own.startswith("#"):
            yield own
        for keyword in ANCHORS:
            anchor = value.get(keyword)
            if isinstance(anchor, str):
                yield f"#{anchor}"


def joined(base: str, address: str) -> str:
    """The address relative to the base (RFC 3986); itself where there is no base, or where one of them is not a URI."""
    if not base:
        return address
    from urllib.parse import urljoin  # noqa: PLC0415 - schemas with ids or references alone need it

    try:
        return urljoin(base, address)
    except ValueError:
        return address


def unquoted(fragment: str) -> str:
    if "%" not in fragment:
        return fragment
    from urllib.parse import unquote  # noqa: PLC0415 - few fragments are escaped

    return unquote(fragment)
