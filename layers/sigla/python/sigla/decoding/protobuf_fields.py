"""The fields of a message: its own, and those by which the files of its schema extend it (proto2).

A message is asked through its class: of the message itself, a field called `HasField` is what the name stands for.
"""

from collections.abc import Mapping
from functools import lru_cache
from operator import attrgetter
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message


@lru_cache(maxsize=1_000)
def fields(descriptor: Descriptor) -> Mapping[int, FieldDescriptor]:
    """By number, in the order of the text, and extensions behind them in the order of their numbers."""
    extensions = descriptor.file.pool.FindAllExtensions(descriptor)
    return {field.number: field for field in (*descriptor.fields, *sorted(extensions, key=attrgetter("number")))}


def called(field: FieldDescriptor) -> str:
    """An extension has its full name in brackets, as in Protobuf's JSON: those of two packages may be called alike."""
    return f"[{field.full_name}]" if field.is_extension else field.name


def value(message: Message, field: FieldDescriptor) -> Any:
    return extensions(message)[field] if field.is_extension else getattr(message, field.name)


def extensions(message: Any) -> Any:
    """Their values by field."""
    return type(message).Extensions.__get__(message)


def there(message: Any, field: FieldDescriptor) -> bool:
    """Whether a field that knows presence was written. message: Any; the published types know extensions otherwise."""
    known = type(message)
    found: bool = known.HasExtension(message, field) if field.is_extension else known.HasField(message, field.name)
    return found
