"""The order of a hash set of names, as clients of the reference see it."""

from sigla.languages.java_order import in_java_order


def test_names_come_by_the_bucket_of_their_hash() -> None:
    """Neither by the alphabet nor as they were written."""
    assert in_java_order(["Leg", "Trip"]) == ["Trip", "Leg"]
    assert in_java_order(["Y", "C", "X", "A", "B"]) == ["A", "B", "C", "X", "Y"]


def test_names_of_one_bucket_come_in_the_order_of_arrival() -> None:
    """`Aa` and `BB` are the textbook's pair of one hash; `Top` and `Second` have a bucket in common."""
    assert in_java_order(["Top", "Second"]) == ["Top", "Second"]
    assert in_java_order(["Second"], ["Top", "Second"]) == ["Second", "Top"]
    assert in_java_order(["Aa", "BB"]) == ["Aa", "BB"]
    assert in_java_order(["BB"], ["Aa", "BB"]) == ["BB", "Aa"]


def test_each_name_comes_once() -> None:
    """Whichever of the two has it, or both."""
    assert in_java_order([], []) == []
    assert in_java_order(["A"], ["A"]) == ["A"]
    assert sorted(in_java_order(["A", "B", "A"], ["B", "C"])) == ["A", "B", "C"]


def test_a_table_that_grows_spreads_its_names() -> None:
    """`A` and `Q` share one of 16 buckets; of 32, which thirteen names need, they do not."""
    few = ["Q", "B", "A"]
    assert in_java_order(few) == ["Q", "A", "B"]
    assert in_java_order([*few, *"CDEFGHIJKL"]) == [*"ABCDEFGHIJKL", "Q"]


def test_letters_beyond_the_first_plane_count_as_two_units() -> None:
    """Names of JSON properties may be anything, even half a character."""
    assert in_java_order(["é", "😀"]) == ["😀", "é"]
    assert in_java_order(["\ud800"]) == ["\ud800"]
