"""The schema languages, in the order in which the API names them. To add one, add a row."""

from collections.abc import Mapping

from sigla.languages import avro, json_schema, protobuf
from sigla.languages.language import Language

LANGUAGES: Mapping[str, Language] = {
    "JSON": json_schema.LANGUAGE,
    "PROTOBUF": protobuf.LANGUAGE,
    "AVRO": avro.LANGUAGE,
}
