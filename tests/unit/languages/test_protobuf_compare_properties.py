"""What holds for every pair of files, whatever they are."""

from collections import Counter
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from sigla.languages.language import Budget
from sigla.languages.protobuf.compare import differences
from sigla.languages.protobuf.kinds import GROUPS
from sigla.languages.protobuf.normalise import normalised
from sigla.languages.protobuf.rules import RULES
from sigla.languages.protobuf.sentences import SENTENCES, sentence
from sigla.languages.protobuf.tree import Document
from sigla.model import Finding
from tests.unit.languages.protobuf_pairs import PROTO3, between, breaking, document, found

NAMES = st.sampled_from(["A", "B", "C"])
SCALARS = st.sampled_from([*GROUPS])
TYPES = SCALARS | st.sampled_from(["A", "B", ".A", "K", "google.protobuf.Any", "map<string, B>", "map<int32, K>"])
LABELS = st.sampled_from(["", "", "optional ", "repeated "])
MIRRORED = {
    "MESSAGE_ADDED": "MESSAGE_REMOVED",
    "ENUM_ADDED": "ENUM_REMOVED",
    "ENUM_CONST_ADDED": "ENUM_CONST_REMOVED",
    "ONEOF_ADDED": "ONEOF_REMOVED",
    "FIELD_ADDED": "FIELD_REMOVED",
    "REQUIRED_FIELD_ADDED": "REQUIRED_FIELD_REMOVED",
}
MIRROR = {**MIRRORED, **{removed: added for added, removed in MIRRORED.items()}}
OF_ONEOFS = {rule.id for rule in RULES if "ONEOF" in rule.id} - MIRROR.keys()
"""What becomes of a oneof's members is told to the reader in other ways than to the writer."""


@st.composite
def bodies(draw: st.DrawFn, depth: int = 2) -> str:
    """What stands between the braces of a message."""
    tags = draw(st.lists(st.integers(1, 6), unique=True, max_size=4))
    lines = []
    for tag in tags:
        type_ = draw(TYPES)
        member = not type_.startswith("map") and draw(st.booleans())
        label = "" if type_.startswith("map") or member else draw(LABELS)
        name = draw(st.sampled_from(["x", "y"]))
        line = f"{label}{type_} {name}{tag} = {tag};"
        lines.append(f"oneof {name}{tag % 2}{tag} {{ {line} }}" if member else line)
    members = draw(st.lists(st.integers(7, 9), unique=True, max_size=3))
    if members:
        inside = " ".join(f"{draw(SCALARS)} o{tag} = {tag};" for tag in members)
        lines.append(f"oneof {draw(NAMES).lower()} {{ {inside} }}")
    if depth and draw(st.booleans()):
        lines.append(f"message {draw(NAMES)} {{ {draw(bodies(depth - 1))} }}")
    if draw(st.booleans()):
        lines.append(draw(enums()))
    return " ".join(draw(st.permutations(lines)))


@st.composite
def enums(draw: st.DrawFn) -> str:
    numbers = draw(st.lists(st.integers(-1, 3), unique=True, min_size=1, max_size=3))
    constants = " ".join(f"{draw(NAMES)}{number % 7} = {number};" for number in numbers)
    return f"enum K {{ {constants} }}"


@st.composite
def texts(draw: st.DrawFn, *, complete: bool = False) -> str:
    """A small file of few names, so that two of them have much in common. complete: all types used are there."""
    package = draw(st.sampled_from(["", "", "p", "p.q"]))
    names = draw(st.permutations(["A", "B", "C"]) if complete else st.lists(NAMES, unique=True, max_size=3))
    lines = [f"package {package};"] if package else []
    lines += [f"message {name} {{ {draw(bodies())} }}" for name in names]
    if complete or draw(st.booleans()):
        lines.append(draw(enums()))
    return PROTO3 + " ".join(lines).replace(" .A ", f" .{package}.A " if package else " .A ")


def kinds(findings: tuple[Finding, ...]) -> Iterator[str]:
    return (finding.rule for finding in findings if finding.rule not in OF_ONEOFS)


@given(texts())
def test_a_file_does_not_differ_from_itself(text: str) -> None:
    """Read twice, so that no node is shared."""
    assert between(text, text) == []


@given(texts(complete=True), texts(complete=True))
def test_normal_forms_compare_as_the_texts_they_come_from(old: str, new: str) -> None:
    """Normalisation is not meant to influence verdicts (LV-11), where it finds all types."""
    plain, other = document(old), document(new)
    normal, normal_other = Document(normalised(plain), {}), Document(normalised(other), {})
    assert found(plain, normal) == []
    assert breaking(found(normal, normal_other)) == breaking(found(plain, other))


@given(texts(), texts())
def test_what_one_direction_adds_the_other_removes(old: str, new: str) -> None:
    """So a FULL check sees the same changes from both sides."""
    there = Counter(kinds(differences(document(new), document(old), Budget())))
    back = Counter(kinds(differences(document(old), document(new), Budget())))
    assert Counter(MIRROR.get(kind, kind) for kind in there.elements()) == back


@given(texts(), texts())
def test_every_difference_has_a_rule_and_a_path_of_known_names(old: str, new: str) -> None:
    """Whatever is found can be told."""
    for finding in differences(document(new), document(old), Budget()):
        assert finding.rule in SENTENCES
        assert finding.path.startswith("#/")
        assert sentence(finding, "new", "old")
