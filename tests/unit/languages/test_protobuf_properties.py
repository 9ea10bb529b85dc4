"""What holds for every .proto file, whatever it is."""

from contextlib import suppress
from pathlib import Path
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sigla.errors import Malformed
from sigla.languages.protobuf import canonical, normalise, parse
from sigla.languages.protobuf.tree import Document, File
from tests.unit.languages import protobuf_drawn
from tests.unit.languages.protobuf_drawn import META, source
from tests.unit.languages.protobuf_files import meant

FILES = protobuf_drawn.files()
RANDOM = st.randoms(use_true_random=False)
SHARED = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
"""What a fixture gives may be used by all examples."""


def tidy(text: str) -> str:
    return canonical.written(normalise.normalised(Document(parse.read(text), {})))


@SHARED
@given(FILES, RANDOM)
def test_canonical_text_is_read_back_as_what_it_says(file: File, random: Random) -> None:
    """However a file was written, one text comes of it, and that text is its own."""
    text = canonical.written(file)
    assert canonical.written(parse.read(text)) == text
    assert canonical.written(parse.read(source(file, random))) == text


@SHARED
@given(FILES, RANDOM)
def test_a_normal_form_is_its_own_normal_form(file: File, random: Random) -> None:
    """Normalising twice is normalising once, from the tree and from the text; and the file stays as it was."""
    document = Document(parse.read(source(file, random)), {})
    before = canonical.written(document.file)
    normal = normalise.normalised(document)
    text = canonical.written(normal)
    assert canonical.written(document.file) == before
    assert canonical.written(normalise.normalised(Document(normal, {}))) == text
    assert tidy(text) == text


@SHARED
@given(FILES)
def test_without_extensions_a_file_can_still_be_read(file: File) -> None:
    """What is left is a schema, and nothing more can be left out."""
    text = canonical.without_extensions(file)
    left = parse.read(text)
    assert canonical.written(left) == text
    assert canonical.without_extensions(left) == text
    assert "(meta)" not in text


@SHARED
@given(FILES, RANDOM)
def test_protoc_understands_all_forms_of_a_file_alike(tmp_path: Path, file: File, random: Random) -> None:
    """The canonical text and the normal form mean what was written, up to order."""
    written = source(file, random) + META
    expected = compiled(written, tmp_path)
    assert compiled(canonical.written(parse.read(written)), tmp_path) == expected
    assert compiled(tidy(written), tmp_path) == expected


def compiled(text: str, folder: Path) -> str:
    """The descriptor that protoc makes of a text, as text, with everything sorted whose order we may change."""
    (folder / "a.proto").write_text(text, encoding="utf-8")
    return meant(folder, ["a.proto"])["a.proto"]


@SHARED
@given(FILES, RANDOM, st.integers(0, 10_000), st.text(max_size=3) | st.sampled_from("{}[]()<>=;:,.\"'/*-+ \0"))
def test_a_text_with_a_slip_is_read_or_refused(file: File, random: Random, at: int, slip: str) -> None:
    """A character too many, or a part that is gone: never another exception, and what is read can be printed."""
    text = source(file, random)
    at %= len(text) + 1
    for changed in (text[:at] + slip + text[at:], text[:at], text[:at] + slip + text[at + 7 :]):
        document = read_or_refused(changed)
        if document:
            printed = canonical.written(document.file)
            assert canonical.written(parse.read(printed)) == printed
            normalise.normalised(document)


@given(st.text(st.characters(codec="utf-8")) | st.text("{}[]()<>=;:,.\"'/*-+ \n\\xmessage0", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Never another exception."""
    read_or_refused(text)


def read_or_refused(text: str) -> Document | None:
    with suppress(Malformed):
        return Document(parse.read(text), {})
    return None
