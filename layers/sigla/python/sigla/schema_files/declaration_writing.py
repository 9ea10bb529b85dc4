"""`sigla.yaml` as it is written: in the words that `declaration` reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

import yaml

from sigla import records
from sigla.contract import CONFIG, CONFIG_UPDATE
from sigla.model import GLOBAL, LATEST, Config, Metadata, RuleSet, Subject
from sigla.rules.merge import unstamped
from sigla.schema_files.declaration import NamedVersion, Patch
from sigla.schema_files.files import type_of
from sigla.web.api.wire.known_members import METADATA, RULE_SET

Json = dict[str, Any]

HEAD: Final = "# Written by sigla pull, which writes over it only as long as it is unchanged: "
_WIRE: Final = {old.wire: new.wire for old, new in zip(CONFIG, CONFIG_UPDATE, strict=True)}


@dataclass(frozen=True, slots=True)
class WrittenEntry:
    """A file and all that is said of its subject."""

    path: str
    subject: Subject
    type: str
    references: Mapping[str, NamedVersion]
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None
    config: Patch | None = None
    mode: str | None = None
    normalize: bool = False

    def form(self) -> Json:
        form: Json = {"files": self.path, "subject": _template(self.subject)}
        if type_of(self.path) != self.type:
            form["type"] = self.type
        if self.references:
            form["references"] = {name: _version_form(each) for name, each in self.references.items()}
        if self.normalize:
            form["normalize"] = True
        # An empty one is another one than none, for which the newest version's is taken.
        if self.metadata is not None:
            form[METADATA] = records.metadata_json(unstamped(self.metadata))
        if self.rule_set is not None:
            form[RULE_SET] = records.rule_set_json(self.rule_set)
        return form | scope_form(self.config, self.mode)


def patch_of(config: Config | None) -> Patch:
    """What a PUT makes of an empty entry."""
    return {} if config is None else {_WIRE[name]: value for name, value in records.config_json(config).items()}


def scope_form(config: Patch | None, mode: str | None) -> Json:
    return ({"config": dict(config)} if config else {}) | ({"mode": mode} if mode else {})


def _version_form(version: NamedVersion) -> Any:
    return version.subject if version.version == LATEST else {"subject": version.subject, "version": version.version}


def _template(subject: Subject) -> str:
    return subject.qualified.replace("{", "{{").replace("}", "}}")


def declaration_text(entries: Sequence[WrittenEntry], settings: Mapping[Subject, Json], owns: Sequence[str]) -> str:
    """settings: of scopes without a file, as `scope_form` has them."""
    form: Json = dict(settings.get(GLOBAL, {}))
    if entries:
        form["schemas"] = [each.form() for each in entries]
    others = {scope.qualified: each for scope, each in settings.items() if scope != GLOBAL and each}
    if others:
        form["settings"] = others
    if owns:
        form["owns"] = list(owns)
    if not form:
        form["schemas"] = []
    said: str = yaml.dump(form, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
    return f"{HEAD}{_seal(said)}\n{said}"


def is_untouched(content: str) -> bool:
    """Whether it is as `declaration_text` made it."""
    head, _, said = content.partition("\n")
    return head == f"{HEAD}{_seal(said)}"


def _seal(said: str) -> str:
    return sha256(said.encode(errors="surrogatepass")).hexdigest()[:16]


class _Dumper(yaml.SafeDumper):
    """Writes out what stands twice, without the marks by which YAML says so."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - as PyYAML calls it
        return True
