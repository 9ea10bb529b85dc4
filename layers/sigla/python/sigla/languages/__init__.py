"""The schema languages, in the order in which the API names them. To add one, add a row.

A language is imported when a schema of it is met first: each costs 5 to 10 ms, and most instances of the registry
meet one language or, reading by id, none.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Final

from sigla.languages.language import Language

MODULES: Final = {
    "JSON": "json_schema",
    "PROTOBUF": "protobuf",
    "AVRO": "avro",
}
"""What its module is called in `sigla.languages` (which has a `language.Language`), in `sigla.decoding` (a
`decoder.RecordLanguage`), and among the decoders of the jobs (`sigla_pipelines.land.decoders.decoder`)."""


class _OnDemand(Mapping[str, Language]):
    """Languages by name, each imported at its first use."""

    def __init__(self) -> None:
        self._met: dict[str, Language] = {}

    def __getitem__(self, name: str) -> Language:
        if name not in self._met:
            language: Language = import_module(f"sigla.languages.{MODULES[name]}").LANGUAGE
            self._met[name] = language
        return self._met[name]

    def __contains__(self, name: object) -> bool:
        return name in MODULES

    def __iter__(self) -> Iterator[str]:
        return iter(MODULES)

    def __len__(self) -> int:
        return len(MODULES)


LANGUAGES: Final[Mapping[str, Language]] = _OnDemand()
