"""What became of the oneofs of a message (contract D.5.2, steps 1 and 2)."""

from collections.abc import Iterator

from sigla import effort
from sigla.languages.protobuf.tree import Field, Message


class Members:
    """The fields of a message by tag, those of oneofs too.

    oneofs: the tags of each oneof, by its name. oneof_of: of the tags in oneofs, the name of the oneof; of several
    the last, for a tag may be used twice where fields are not validated strictly (PP-16).
    """

    __slots__ = ("by_tag", "oneof_of", "oneofs")

    def __init__(self, message: Message) -> None:
        self.by_tag: dict[int, Field] = {field.tag: field for field in message.fields}
        self.oneof_of: dict[int, str] = {}
        self.oneofs: dict[str, set[int]] = {}
        for oneof in message.oneofs:
            effort.pulse(1 + len(oneof.fields))
            tags = self.oneofs.setdefault(oneof.name, set())
            for field in oneof.fields:
                tags.add(field.tag)
                self.by_tag[field.tag] = field
                self.oneof_of[field.tag] = oneof.name

    def origin(self, tag: int, now: str) -> str | None:
        """The oneof that a tag was in, None if none. now: the one it is in now, which is believed first."""
        return now if tag in self.oneofs.get(now, ()) else self.oneof_of.get(tag)


def completely_deleted(reader: Members, writer: Members) -> set[str]:
    """The writer's oneofs of which the reader knows nothing any more, neither the name nor a member's tag."""
    surviving = {oneof for tag, oneof in writer.oneof_of.items() if tag in reader.by_tag}
    return {name for name in writer.oneofs if name not in reader.oneofs and name not in surviving}


def regrouped(message: Message, writer: Members) -> Iterator[tuple[str, str]]:
    """The reader's oneofs whose members could be set together in the writer, and what to call that.

    Members that were in one oneof there share their origin; a field that was in none is an origin of its own.
    """
    for oneof in message.oneofs:
        effort.pulse(2 + len(oneof.fields))
        tags = {field.tag for field in oneof.fields if field.tag in writer.by_tag}
        origins = [writer.origin(tag, oneof.name) for tag in tags]
        alone = origins.count(None)
        if len({*origins} - {None}) + alone > 1:
            yield oneof.name, "MULTIPLE_FIELDS_MOVED_TO_ONEOF" if alone > 1 else "FIELD_MOVED_TO_EXISTING_ONEOF"
