"""Which decoder reads which language. What a language needs is imported when a record of it is met."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Final

from sigla.decoding.decoder import Limits
from sigla.languages import MODULES
from sigla_pipelines.land.decoders.decoder import Additional, Decoder, Native, Writer

MakeDecoder = Callable[..., Decoder]
"""(reader: Writer, *, limits: Limits, additional: Additional, native: Native) → Decoder. Raises Unreadable."""


def _language_decoder(module: str, reader: Writer, **options: Limits | Additional | Native) -> Decoder:
    made: Decoder = import_module(f"sigla_pipelines.land.decoders.{module}").decoder(reader, **options)
    return made


DECODERS: Final[Mapping[str, MakeDecoder]] = {
    type_: partial(_language_decoder, module) for type_, module in MODULES.items()
}
"""By `Source.type`."""
