"""A subject's file: whatever the subject is called, on whatever file system."""

from pathlib import PurePosixPath

from hypothesis import given
from hypothesis import strategies as st

from sigla.model import Subject
from sigla.schema_files.file_names import path_for
from sigla.schema_files.trees import is_pattern

NAMES = st.one_of(
    st.text(min_size=1, max_size=300),
    st.sampled_from(
        ["..", ".", "a/b", "a\\b", "CON", "nul.x", "~a", "a*", ".a", "Ä", "ä", "A", "a", "a.avsc", "é", "e\u0301"]
    ),
)
SUBJECTS = st.builds(Subject, st.sampled_from([".", ".eu", "..", ".a/b", ".avsc"]), NAMES)
TYPES = st.sampled_from(["AVRO", "JSON", "PROTOBUF"])


@given(st.lists(st.tuples(SUBJECTS, TYPES), max_size=12, unique_by=lambda each: each[0]))
def test_each_subject_has_a_file_of_its_own(subjects: list[tuple[Subject, str]]) -> None:
    """Also where case makes no difference, and letters are put together in another way."""
    taken: set[str] = set()
    for subject, schema_type in subjects:
        path = path_for(subject, schema_type, taken)
        assert path.lower() not in taken
        taken.add(path.lower())
        steps = PurePosixPath(path).parts
        assert path.isascii()
        assert not is_pattern(path)
        assert not set(path) & set('\\:*?"<>|')
        assert all(len(step) < 255 and not step.startswith(".") for step in steps)
        assert steps[:-1] == () or (steps[0], len(steps)) == ("contexts", 3)


def test_plain_names_stay_as_they_are() -> None:
    """They are what people look for."""
    assert path_for(Subject(".", "orders-value"), "AVRO", ()) == "orders-value.avsc"
    assert path_for(Subject(".eu", "com.acme.Order_1"), "PROTOBUF", ()) == "contexts/eu/com.acme.Order_1.proto"
    assert path_for(Subject(".", "a/../b"), "JSON", ()) == "a%2F..%2Fb.json"
    assert path_for(Subject(".", ".."), "JSON", ()) == "%2E..json"
    assert path_for(Subject(".", "con"), "AVRO", ()) == "%63on.avsc"
    assert path_for(Subject(".", "Orders"), "AVRO", {"orders.avsc"}).startswith("Orders~")
