"""Credentials of exporters, a file each that only its owner may read: `<registry>/secrets/<exporter>.<nonce>.json`.

A file is written before a row names it, and taken away once no committed row does: what stands in a row can be read,
whatever fails. A crash in between leaves a file that the next opening takes away.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import orjson

from sigla import keys
from sigla.errors import StoreError
from sigla.exporters.nouns import Credentials
from sigla.ports.secrets import KeptSecret, NoSecrets, SecretName
from sigla.stores.sqlite import exporters
from sigla.stores.sqlite.links import Disk
from sigla.stores.sqlite.unit import Writer

OWNER_ALONE: Final = 0o600
_OURS = re.compile(rf"(\+[a-z2-7]+|[a-z0-9_%-]+)\.[a-z0-9_%-]+\.json({re.escape(keys.DRAFT)})?")


class EmbeddedSecrets:
    """A `Secrets` in a directory."""

    def __init__(self, root: Path, unit: Writer, disk: Disk, *, registry: str = "default") -> None:
        self._root = root
        self._registry = registry
        self._unit = unit
        self._disk = disk
        self._unneeded: set[SecretName] = set()
        unit.flushed.append(lambda _, __: self._tidy())
        self._sweep()

    def put(self, name: SecretName, credentials: Credentials) -> None:
        path = self._path(name)
        draft = path.with_name(f"{path.name}{keys.DRAFT}")
        try:
            self._disk.write({draft: orjson.dumps(dict(credentials.settings))}, mode=OWNER_ALONE)
            os.replace(draft, path)
            self._disk.sync([path.parent])
        except OSError as failure:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            raise StoreError(f"the credentials of the exporter {name.exporter} cannot be written") from failure

    def get(self, name: SecretName) -> Credentials | None:
        try:
            return Credentials(orjson.loads(self._path(name).read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as failure:
            raise StoreError(f"the credentials of the exporter {name.exporter} cannot be read") from failure

    def delete(self, name: SecretName) -> None:
        """Inside a group when that is on disk: until then the row that names them may come back."""
        self._unneeded.add(name)
        if not self._unit.inside:
            self._tidy()

    def kept(self) -> Iterator[KeptSecret]:
        return _kept_in(self._root / keys.secrets_directory(self._registry))

    def _tidy(self) -> None:
        """What cannot be taken away now is tried again with the next commit, and by the next opening."""
        for name in [*self._unneeded]:
            stands = exporters.exporter(self._unit.committed, name.exporter)
            if stands is None or stands.credentials != name.nonce:
                with suppress(OSError):
                    self._path(name).unlink(missing_ok=True)
                    self._unneeded.discard(name)

    def _sweep(self) -> None:
        """Takes away what a crash left."""
        folder = self._root / keys.secrets_directory(self._registry)
        if not folder.is_dir():
            return
        named = {self._path(SecretName(one.name, one.credentials)) for one in exporters.exporters(self._unit.committed)}
        for path in folder.iterdir():
            if path not in named and _OURS.fullmatch(path.name):
                with suppress(OSError):
                    path.unlink()

    def _path(self, name: SecretName) -> Path:
        return self._root / keys.secret_file(self._registry, name.exporter, name.nonce)


class SeenSecrets(NoSecrets):
    """Those of a directory, for whoever may know which there are, and neither reads nor changes them."""

    def __init__(self, root: Path, *, registry: str = "default") -> None:
        self._folder = root / keys.secrets_directory(registry)

    def kept(self) -> Iterator[KeptSecret]:
        return _kept_in(self._folder)


def _kept_in(folder: Path) -> Iterator[KeptSecret]:
    try:
        found = sorted(folder.iterdir())
    except FileNotFoundError:
        return
    except OSError as failure:
        raise StoreError("the credentials of exporters cannot be listed") from failure
    for path in found:
        if _OURS.fullmatch(path.name) and path.suffix == ".json":
            with suppress(FileNotFoundError, ValueError):  # taken away since; a name that stands for no exporter
                name = SecretName(*keys.secret_of_file(path.name))
                yield KeptSecret(name, round(1000 * path.stat().st_mtime))
