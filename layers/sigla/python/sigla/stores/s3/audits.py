"""What an audit has found, an object of the bucket: `<registry>/audit/found.jsonl.gz`."""

from sigla import keys
from sigla.stores.s3.objects import Objects


class AwsAudits:
    """A `ports.Audits`."""

    def __init__(self, objects: Objects, *, registry: str = "default") -> None:
        self._objects = objects
        self._name = keys.audit_object(registry)

    def put(self, content: bytes) -> None:
        def attempt() -> bool | None:
            standing = self._objects.read(self._name)
            if standing is None:
                return self._objects.create(self._name, content) or None
            if standing.content == content:  # our own, whose answer was lost
                return True
            return self._objects.replace(self._name, content, standing) or None

        self._objects.insist("writing what the audit found", attempt)

    def get(self) -> bytes | None:
        found = self._objects.read(self._name)
        return None if found is None else found.content

    def shows(self, context: str, topic: str) -> bool:  # noqa: ARG002 - as `ports.Audits` has it
        return True
