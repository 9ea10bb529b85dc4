"""Where the demonstration keeps what, and the settings of its job."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID

from sigla import opening
from sigla.model import DEFAULT_CONTEXT, LATEST, Draft, Subject
from sigla.settings import Address
from sigla_pipelines.audit.tables import NotEmpty
from sigla_pipelines.demo.generator import PARTITIONS, KnownSchema
from sigla_pipelines.demo.topics import MAX_BYTES, TOPICS, Schema, Topic
from sigla_pipelines.land.settings import Landing, read_settings

MARK: Final = "name: pipeline-demo\n"
"""How the settings begin in a folder that is the demonstration's."""

LAND: Final = """\
registry: {{data: {registry}}}
source: {{kind: files, path: {raw}, batch_files: {files}}}
bind:
{bindings}
checks: {{deleted: fail, max_bytes: {max_bytes}}}
sink: {{lake: {lake}}}
work: {work}
"""


@dataclass(frozen=True, slots=True)
class Estate:
    """Folders below one that is ours alone."""

    root: Path

    @property
    def registry(self) -> Path:
        return self.root / "registry"

    @property
    def raw(self) -> Path:
        return self.root / "raw"

    @property
    def lake(self) -> Path:
        return self.root / "lake"

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def picture(self) -> Path:
        return self.root / "landed.svg"

    @property
    def settings(self) -> Path:
        return self.root / "land.yaml"

    def check(self) -> None:
        """Raises NotEmpty where something lies that is not the demonstration's, OSError where no folder can be."""
        found = set(self.root.iterdir()) if self.root.exists() else set()
        marked = self.settings in found and self.settings.read_bytes().startswith(MARK.encode())
        if not found <= ({self.picture, *self._passing} if marked else {self.picture}):
            raise NotEmpty(f"{self.root} contains files that no demonstration made: choose an empty folder.")

    def begin(self) -> Landing:
        """Everything anew. Raises as `check` does."""
        self.check()
        self.clear()
        self.picture.unlink(missing_ok=True)
        self.root.mkdir(parents=True, exist_ok=True)
        text = LAND.format(
            registry=self.registry,
            raw=self.raw,
            files=len(TOPICS) * PARTITIONS,
            bindings="\n".join(f"  - {{topic: {topic.name}}}" for topic in TOPICS),
            max_bytes=MAX_BYTES,
            lake=self.lake,
            work=self.work,
        )
        self.settings.write_text(f"{MARK}{text}")
        self.raw.mkdir()
        return read_settings(self.settings)

    def register(self, schemas: tuple[tuple[Topic, Schema], ...]) -> dict[str, KnownSchema]:
        """Registers as producers do before they write. The registry is open for as long as that takes."""
        known = {}
        with opening.writing(Address.of(data=str(self.registry))) as writing:
            registry = writing.registry
            for topic, schema in schemas:
                subject = Subject(DEFAULT_CONTEXT, topic.subject)
                registry.change_config(subject, {"level": topic.level})
                registered = registry.register(subject, Draft(text=schema.text, type=schema.type))
                found = registry.version(subject, LATEST)
                known[schema.name] = KnownSchema(int(registered.id or 0), UUID(found.guid))
                if schema.deleted and found.version:
                    registry.delete_version(subject, found.version)
        return known

    def clear(self) -> None:
        """All but the picture goes."""
        for path in self._passing:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    @property
    def _passing(self) -> tuple[Path, ...]:
        """The settings last, which say whose the rest is."""
        return self.registry, self.raw, self.lake, self.work, self.settings
