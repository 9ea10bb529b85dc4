"""The schema languages. To add one, add a row."""

from collections.abc import Mapping

from sigla.languages import avro
from sigla.languages.language import Language

LANGUAGES: Mapping[str, Language] = {"AVRO": avro.LANGUAGE}
