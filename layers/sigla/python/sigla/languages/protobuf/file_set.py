"""The files of a schema as descriptors: its own and all that it needs, in an order in which a pool can take them."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Final

from sigla.languages.protobuf import known, option_values, to_descriptor
from sigla.languages.protobuf.names import Names
from sigla.languages.protobuf.to_descriptor import Pending
from sigla.languages.protobuf.tree import Document, File

if TYPE_CHECKING:
    from google.protobuf import descriptor_pb2 as pb

DEFAULT: Final = "default"
"""The name of every schema's own file."""

META: Final = "confluent/meta.proto"
EXTENSIBLE: Final = ("google/protobuf/descriptor.proto", META)
"""What options are, and the extensions that everybody may use without an import."""

_KNOWN: Final[dict[str, "pb.FileDescriptorProto"]] = {}
"""The requested files among those that are always available."""


def protos(document: Document) -> list["pb.FileDescriptorProto"]:
    """Each file after those that it needs itself, so the schema's own is the last one.

    Unknown imports are left out (PP-37); what is used without an import is added to the imports (PP-40).
    """
    return list(FileSet(document).read().values())


class FileSet:
    """Reads the files of one document. unimported: what files use without an import, as (user, used)."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.names = Names(document)
        self.paths = {id(file): path for path, file in document.imported.items()}
        self.pending: list[Pending] = []
        self.unimported: list[tuple[str, str]] = []

    def read(self) -> dict[str, "pb.FileDescriptorProto"]:
        """By path, each after those that it needs. If files import each other, one has to be first."""
        opened: dict[str, pb.FileDescriptorProto] = {}
        closed: dict[str, pb.FileDescriptorProto] = {}
        # A stack of our own: a chain of imports may be longer than Python's.
        todo = [(DEFAULT, self.document.file)]
        while todo:
            path, file = todo[-1]
            if path in opened:
                closed[path] = opened[path]
                todo.pop()
                continue
            proto = opened[path] = self.proto(path, file)
            todo += [(each, found) for each in proto.dependency if each not in opened and (found := self.find(each))]
        option_values.fill(self.pending, self.names, chain(_extensible(closed), closed.values()))
        return closed

    def find(self, path: str) -> File | None:
        return self.document.imported.get(path) or known.file(path)

    def proto(self, path: str, file: File) -> "pb.FileDescriptorProto":
        if file is not self.document.file and path not in self.document.imported:
            return known_proto(path)
        built = to_descriptor.build(file, path, self.names)
        proto = built.proto
        self.pending += built.pending
        visible = self.visible(file)
        hidden = [self.path(each) for each in built.used if id(each) not in visible]
        self.unimported += [(path, each) for each in hidden]
        _import(proto, [each for each in file.imports if self.find(each)], hidden)
        _import(proto, [each for each in file.public if self.find(each)], public=True)
        return proto

    def visible(self, file: File) -> set[int]:
        """The files that it imports, and those that these import publicly."""
        seen: set[int] = set()
        todo = [*file.imports, *file.public]
        while todo:
            found = self.find(todo.pop())
            if found and id(found) not in seen:
                seen.add(id(found))
                todo += found.public
        return seen

    def path(self, file: File) -> str:
        return self.paths.get(id(file)) or next(
            path for path in known.paths_of(file.package) if known.file(path) is file
        )


def _import(proto: "pb.FileDescriptorProto", *lists: Iterable[str], public: bool = False) -> None:
    for path in chain(*lists):
        if path not in proto.dependency:
            if public:
                proto.public_dependency.append(len(proto.dependency))
            proto.dependency.append(path)


def _extensible(present: dict[str, "pb.FileDescriptorProto"]) -> Iterator["pb.FileDescriptorProto"]:
    """Those that are not there yet; read when they are needed."""
    return (present.get(path) or known_proto(path) for path in EXTENSIBLE)


def known_proto(path: str) -> "pb.FileDescriptorProto":
    """The file of this import path, which is one of those that are always available. Raises KeyError."""
    if path not in _KNOWN:
        file = known.file(path)
        if file is None:
            raise KeyError(path)
        names = Names(Document(file, {}))
        built = to_descriptor.build(file, path, names)
        _import(built.proto, file.imports)
        option_values.fill(built.pending, names, ())
        _KNOWN[path] = built.proto
    return _KNOWN[path]
