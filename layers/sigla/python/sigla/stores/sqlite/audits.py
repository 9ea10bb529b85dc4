"""What an audit has found, a file beside the bodies: `<registry>/audit/found.jsonl.gz`.

It is written without the store's lock, also while the registry runs.
"""

import os
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from sigla import keys
from sigla.errors import StoreError
from sigla.stores.sqlite.links import Disk


class EmbeddedAudits:
    """A `ports.Audits` in a directory."""

    def __init__(self, root: Path, *, registry: str = "default") -> None:
        self._path = root / keys.file_component(registry) / keys.AUDIT_FOUND
        self._disk = Disk(durable=True)

    def put(self, content: bytes) -> None:
        draft = self._path.with_name(f"{self._path.name}.{token_hex(8)}.new")
        try:
            self._disk.write({draft: content})
            os.replace(draft, self._path)
            self._disk.sync([self._path.parent])
        except OSError as failure:
            with suppress(OSError):
                os.unlink(draft)
            raise StoreError("what the audit found cannot be written beside the registry") from failure

    def get(self) -> bytes | None:
        try:
            return self._path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as failure:
            raise StoreError("what an audit found cannot be read") from failure

    def shows(self, context: str, topic: str) -> bool:  # noqa: ARG002 - as `ports.Audits` has it
        return True
