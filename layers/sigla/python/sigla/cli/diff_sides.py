"""What the two arguments of `sigla diff` mean: files, files of git revisions, versions and ids of a registry."""

import argparse
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sigla.cli import credentials, diff_sets, place
from sigla.cli.misuse import Misuse, reading_remote
from sigla.errors import Malformed, Refusal
from sigla.languages import LANGUAGES
from sigla.model import LATEST, Body, BodyKey, Parsed, Resolved, Schema, SchemaId, Version
from sigla.schema_files.used_names import names_of

if TYPE_CHECKING:
    from sigla.registry import Resources
    from sigla.remote.client import Remote

SUFFIXES: Final = {".avsc": "AVRO", ".avro": "AVRO", ".json": "JSON", ".proto": "PROTOBUF"}

REFERENCE: Final = "--reference NAME=FILE"

BodyOf = Callable[[BodyKey], Body]


@dataclass(frozen=True, slots=True)
class Side:
    """text: as it was given. schema, used: what is stored of a version or an id, and what that references."""

    text: str
    parsed: Parsed
    schema: Schema | None = None
    used: Sequence[Resolved] = ()


def read(args: argparse.Namespace) -> tuple[Side, Side]:
    """Raises Misuse, Refused."""
    with ExitStack() as opened:
        registry: list[Callable[[str], tuple[Body, BodyOf] | None]] = []

        def stored(name: str) -> Side:
            if not registry:
                registry.append(opened.enter_context(_registry_side(args)))
            found = registry[0](name)
            if found is None:
                raise Misuse(f"{name} is not in the registry.")
            return _stored(name, *found)

        return _side(args, args.old, stored), _side(args, args.new, stored)


def _side(args: argparse.Namespace, name: str, stored: Callable[[str], Side]) -> Side:
    path = Path(name)
    if path.is_file():
        return _file_side(args, name, "", _bytes_of, stored)
    subject, colon, after = name.rpartition(":")
    if name.isdecimal() or (subject and (after.isdecimal() or after.lower() == "latest")):
        return stored(name)
    if colon and not name.startswith(":"):
        revision, _, inside = name.partition(":")
        return _file_side(args, inside, revision, lambda file: _of_revision(revision, file), stored)
    if args.config.is_file() and (declared := diff_sets.file_of_subject(args.config, name)):
        return _file_side(args, declared, "", _bytes_of, stored)
    raise Misuse(
        f"{name} is not a file here: give a file, SUBJECT:VERSION, an id, REVISION:PATH, or a subject of {args.config}."
    )


def _file_side(
    args: argparse.Namespace,
    path: str,
    revision: str,
    bytes_of: Callable[[str], bytes],
    stored: Callable[[str], Side],
) -> Side:
    """revision: of git; empty for files as they are. stored: a version of the registry."""
    language, text = args.type or SUFFIXES.get(Path(path).suffix), _decoded(path, bytes_of(path))
    # Else sigla.yaml has nothing to say, and may be wrong.
    if not args.reference and args.config.is_file() and (language is None or names_of(language, text).used):
        declared = diff_sets.declared_side(args.config, path, revision)
        if declared is not None:
            return _whole_side(
                path, declared.file.file.type, text, declared.references(partial(_stored_references, stored))
            )
    if language is None:
        raise Misuse(f"The name of {path} does not say its language: give --type.")
    references = []
    for given in args.reference:
        reference, equals, file = given.partition("=")
        if not (reference and equals and file):
            raise Misuse(f"Invalid reference {given!r}: expected NAME=FILE.")
        references.append(Resolved(reference, _decoded(file, bytes_of(file))))
    return _whole_side(path, language, text, references)


def _stored_references(stored: Callable[[str], Side], name: str, version: str) -> list[Resolved]:
    """What is stored under the name of a reference, behind what it references itself."""
    side = stored(version)
    return [*side.used, Resolved(name, side.text)]


def _whole_side(path: str, language: str, text: str, references: Sequence[Resolved]) -> Side:
    parsed = _parsed(path, language, text, references)
    if language == "PROTOBUF":  # its parser leaves open where a name leads; those of other languages do not
        _check_names(path, parsed)
    return Side(text, parsed)


def _check_names(path: str, parsed: Parsed) -> None:
    """A file that was given without what it imports would be compared by half. Raises Misuse."""
    try:
        LANGUAGES[parsed.language].validate(parsed, False)  # noqa: FBT003 - without its fields; a plain function
    except Malformed as malformed:
        raise Misuse(
            f"{path} cannot be compared: {malformed.reason}. Give each file that it imports with {REFERENCE}."
        ) from None


def _bytes_of(path: str) -> bytes:
    return Path(path).read_bytes()


def _of_revision(revision: str, path: str) -> bytes:
    """The file as it was; paths are from here, as those of other arguments. Raises Misuse."""
    try:
        found = subprocess.run(  # noqa: S603 - no shell, and a revision that looks like an option is refused
            ["git", "show", "--end-of-options", f"{revision}:./{path}"],  # noqa: S607 - whichever git the user has
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        raise Misuse("Revisions need git, and it is not installed.") from None
    if found.returncode:
        said = found.stderr.decode(errors="replace").strip().splitlines() or ["it does not say why"]
        raise Misuse(f"git does not show {revision}:{path} ({said[-1].removeprefix('fatal: ')}).")
    return found.stdout


def _decoded(path: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise Misuse(f"{path} is not text in UTF-8.") from None


def _parsed(name: str, language: str, text: str, references: Sequence[Resolved]) -> Parsed:
    try:
        return LANGUAGES[language].parse(text, references, False)  # noqa: FBT003 - leniently; a plain function
    except Malformed as malformed:
        lacking = set(names_of(language, text).used) - {each.name for each in references}
        hint = f" Give each file that it uses with {REFERENCE}." if lacking else ""
        raise Misuse(f"{name} is not a schema of type {language}: {malformed.reason}.{hint}") from None


def _stored(name: str, body: Body, body_of: BodyOf) -> Side:
    from sigla.decoding.decoder import Unreadable
    from sigla.decoding.sources import source

    try:
        found = source(body, body_of)
    except Unreadable as problem:
        raise Misuse(f"{name} cannot be read: {problem}.") from None
    if found.type not in LANGUAGES:
        raise Misuse(f"{name} is of the type {found.type}, which Sigla does not know.")
    return Side(found.text, _parsed(name, found.type, found.text, found.references), body.schema, found.references)


@contextmanager
def _registry_side(args: argparse.Namespace) -> Iterator[Callable[[str], tuple[Body, BodyOf] | None]]:
    """What finds versions and ids. Raises Misuse, Refused."""
    from sigla import opening
    from sigla.settings import REMOTE_URL
    from sigla.terminal.environment import of_another_registry

    url = args.registry or ("" if args.data or args.store else of_another_registry(REMOTE_URL))
    if url:
        from sigla.remote.client import Remote
        from sigla.stores.clock import SystemClock

        user = credentials.user_of(args, url)
        with reading_remote(), closing(Remote(url, user, SystemClock())) as remote:
            yield lambda name: _remote(remote, name, args.context)
        return
    if not (args.data or args.store):
        raise Misuse("Versions and ids need a registry: give --registry URL, --data DIR or --store URL.")
    from sigla.registry import Resources

    address = place.of_url(args.store or f"file:{args.data}")
    with place.explained(address), opening.reading(address) as store:
        resources = Resources(store.catalog, store.bodies, store.clock)
        yield lambda name: _kept(resources, name, args.context)


def _kept(resources: "Resources", name: str, context: str) -> tuple[Body, BodyOf] | None:
    from sigla.registry import lookup
    from sigla.rules import names

    try:
        if name.isdecimal():
            return lookup.meaning(resources, BodyKey(context, SchemaId(int(name))))[0], resources.bodies.get
        subject, _, number = name.rpartition(":")
        version = names.version(number)
        view, row = lookup.locate(
            resources,
            names.subject(subject),
            (version,),
            lambda view: row if (row := view.row(version)) and not row.deleted else None,
            deleted=False,
        )
        return resources.body(view.subject, row), resources.bodies.get
    except Refusal:
        return None


def _remote(remote: "Remote", name: str, context: str) -> tuple[Body, BodyOf] | None:
    from urllib.parse import quote

    from sigla.remote.schemas import RemoteSchemas
    from sigla.rules import names

    schemas = RemoteSchemas(remote)
    with schemas.understood():
        if name.isdecimal():
            scope = {} if context == "." else {"subject": f":{context}:"}
            users = remote.find(f"/schemas/ids/{name}/versions", **scope)
            if not users:
                return None
            subject, version = users[0]["subject"], users[0]["version"]
        else:
            subject, _, number = name.rpartition(":")
            asked = "latest" if names.version(number) == LATEST else number
            answer = remote.find(f"/subjects/{quote(subject, safe='')}/versions/{asked}")
            if not answer:
                return None
            version = Version(answer["version"])
        _, body = schemas.version(subject, version)
    return body, dict(filter(None, schemas.known.values())).__getitem__
