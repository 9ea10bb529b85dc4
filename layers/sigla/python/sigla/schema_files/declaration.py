"""`sigla.yaml`: which files are schemas of which subjects, and how subjects and contexts are set up.

What stands in it is said in the words of the API: config, metadata and rule sets are as clients send them, and are read
by what reads a client's. Unknown keys are refused, which the API does not do.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sigla import strict_yaml
from sigla.contract import CONFIG_UPDATE, LEVELS, MODES
from sigla.errors import InvalidSubject
from sigla.languages import LANGUAGES
from sigla.model import GLOBAL, LATEST, Draft, Subject, Version
from sigla.rules import names
from sigla.schema_files.trees import is_pattern
from sigla.schema_files.yaml_parts import InvalidDeclaration, YamlPart
from sigla.web.api.wire import requests
from sigla.web.api.wire.known_members import METADATA, OF_METADATA, OF_RULE, OF_RULE_SET, RULE_LISTS, RULE_SET
from sigla.web.http.refusals import BadRequest

FILE: Final = "sigla.yaml"

_TOP: Final = ("schemas", "config", "mode", "settings", "owns")
_SCOPE: Final = ("config", "mode")
_ENTRY: Final = (
    "files",
    "subject",
    "type",
    "references",
    "compatibility",
    "normalize",
    METADATA,
    RULE_SET,
    "config",
    "mode",
)
_REFERENCE: Final = ("subject", "version")

NO_JSON: Final = "expected what JSON can say: texts, numbers, lists and mappings"

Patch = Mapping[str, Any]
"""Fields of a config, by the names that PUT has for them; None where one is to be cleared."""


@dataclass(frozen=True, slots=True)
class DeclaredSettings:
    """What is said of a scope: only that is compared and changed. line: where."""

    scope: Subject
    config: Patch
    mode: str | None
    line: int


@dataclass(frozen=True, slots=True)
class NamedVersion:
    """Which version a name stands for. version: the latest where none is said."""

    subject: str
    version: Version = LATEST


@dataclass(frozen=True, slots=True)
class SchemaEntry:
    """Files that are registered alike. draft: what is said beside the text. references: by name; None: not said.

    subject: the template of its name. type: None where the file's name tells it.
    """

    files: tuple[str, ...]
    subject: str
    type: str | None
    references: Mapping[str, NamedVersion] | None
    normalize: bool
    draft: Draft
    config: Patch
    mode: str | None
    line: int

    @property
    def is_for_one_file(self) -> bool:
        return len(self.files) == 1 and not is_pattern(self.files[0])


@dataclass(frozen=True, slots=True)
class Declaration:
    """name: of the file. owns: prefixes or names of subjects of which these files are the whole truth."""

    name: str
    entries: tuple[SchemaEntry, ...] = ()
    settings: tuple[DeclaredSettings, ...] = ()
    owns: tuple[str, ...] = ()


def read_declaration(content: bytes, name: str = FILE) -> Declaration:
    """Raises InvalidDeclaration."""
    try:
        document = strict_yaml.read_document(content)
    except strict_yaml.Unreadable as problem:
        raise InvalidDeclaration(name, problem.line, f"it cannot be read: {problem}") from problem
    if document.value is None:
        raise InvalidDeclaration(name, 1, "it is empty, and needs `schemas`, a list of files and their subjects")
    top = YamlPart(name, document).members(_TOP)
    entries = tuple(_entry(part) for part in top["schemas"].elements()) if "schemas" in top else ()
    settings = [_settings(GLOBAL, top, min(top[key].line for key in _SCOPE if key in top))] if _says(top) else []
    if "settings" in top:
        for scope, part in top["settings"].members().items():
            settings.append(_settings(_named_scope(scope, part), part.members(_SCOPE), part.line))
    return Declaration(name, entries, tuple(settings), _owned(top["owns"]) if "owns" in top else ())


def _owned(part: YamlPart) -> tuple[str, ...]:
    """`:*:` in front is any context; a `*` elsewhere would be a part of names, and own nothing.

    Raises InvalidDeclaration.
    """
    found = part.texts()
    for each in found:
        if "*" in each.removeprefix(":*:")[:-1]:
            part.refuse(f"{each}: a * stands only at the end, as in payments-*")
    return found


def _says(members: Mapping[str, YamlPart]) -> bool:
    return any(key in members for key in _SCOPE)


def _settings(scope: Subject, members: Mapping[str, YamlPart], line: int) -> DeclaredSettings:
    config = _config(members["config"]) if "config" in members else {}
    return DeclaredSettings(scope, config, members["mode"].word(MODES) if "mode" in members else None, line)


def _named_scope(text: str, part: YamlPart) -> Subject:
    try:
        return names.subject(text)
    except InvalidSubject as refusal:
        part.refuse(refusal.message.rstrip("."))


def _entry(part: YamlPart) -> SchemaEntry:
    found = part.members(_ENTRY)
    for needed in ("files", "subject"):
        if needed not in found:
            part.refuse(f"`{needed}` is missing")
    config = dict(_config(found["config"])) if "config" in found else {}
    if "compatibility" in found:
        if "compatibility" in config:
            found["compatibility"].refuse("`config` says it, too: leave one of them out")
        config["compatibility"] = found["compatibility"].word(LEVELS)
    return SchemaEntry(
        files=tuple(_pattern(each, found["files"]) for each in found["files"].texts()),
        subject=found["subject"].text(),
        type=found["type"].word(tuple(LANGUAGES)) if "type" in found else None,
        references=_references(found["references"]) if "references" in found else None,
        normalize="normalize" in found and found["normalize"].flag(),
        draft=_draft(found),
        config=config,
        mode=found["mode"].word(MODES) if "mode" in found else None,
        line=part.line,
    )


def _pattern(text: str, part: YamlPart) -> str:
    found = text.removeprefix("./")
    if found.startswith("/") or ".." in found.split("/"):
        part.refuse(f"{text} leads out of the folder of {part.name}")
    return found


def _references(part: YamlPart) -> dict[str, NamedVersion]:
    return {name: _named_version(each) for name, each in part.members().items()}


def _named_version(part: YamlPart) -> NamedVersion:
    if isinstance(part.value, str):
        return NamedVersion(part.text())
    found = part.members(_REFERENCE)
    if "subject" not in found:
        part.refuse("`subject` is missing")
    return NamedVersion(found["subject"].text(), Version(found["version"].number()) if "version" in found else LATEST)


# --- what clients send as well ---------------------------------------------------------------------------------------


def _draft(found: Mapping[str, YamlPart]) -> Draft:
    """With metadata and rule set, and without a text."""
    said = next((found[key] for key in (RULE_SET, METADATA) if key in found), None)
    if said is None:
        return Draft(None)
    form = {}
    if METADATA in found:
        _check_metadata(found[METADATA])
        form[METADATA] = found[METADATA].value
    if RULE_SET in found:
        _check_rule_set(found[RULE_SET])
        form[RULE_SET] = found[RULE_SET].value
    try:
        return requests.read_draft(json.dumps(form, allow_nan=False).encode(), "")
    except (TypeError, ValueError):
        said.refuse(NO_JSON)
    except BadRequest as refusal:
        said.refuse(refusal.message)


def _config(part: YamlPart) -> Patch:
    """Raises InvalidDeclaration."""
    fields = {field.wire: field for field in CONFIG_UPDATE}
    for key, member in part.members(tuple(fields)).items():
        if fields[key].kind == "metadata":
            _check_metadata(member)
        if fields[key].kind == "rule set":
            _check_rule_set(member)
    if str(part.value.get("compatibility") or LEVELS[0]).upper() not in LEVELS:
        part.members()["compatibility"].word(LEVELS)
    found: Patch = part.value
    try:
        json.dumps(found, allow_nan=False)
    except (TypeError, ValueError):
        part.refuse(NO_JSON)
    try:
        config_fields(found)
    except BadRequest as refusal:
        part.refuse(refusal.message)
    return found


def config_fields(patch: Patch) -> dict[str, object]:
    """Reads a patch: its fields by the names of `model.Config`. Raises BadRequest."""
    return requests.read_config_patch(json.dumps(patch).encode(), "")


def _check_metadata(part: YamlPart) -> None:
    part.members(OF_METADATA)


def _check_rule_set(part: YamlPart) -> None:
    for key, rules in part.members(OF_RULE_SET).items():
        if key in RULE_LISTS:
            for rule in rules.elements():
                rule.members(OF_RULE)
