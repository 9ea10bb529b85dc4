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


def test_a_long_name_has_the_hash_of_the_platform() -> None:
    """Long names are hashed in pieces; `h = 31 * h + unit`, for each 16 bits of the name, is what the platform says."""
    for name in ("m" * 63, "m" * 64, "m" * 65, "n" * 128, "x" * 1_000 + "é😀" * 40, "\ud800" * 200):
        units = name.encode("utf-16-be", "surrogatepass")
        code = 0
        for at in range(0, len(units), 2):
            code = (31 * code + int.from_bytes(units[at : at + 2])) % 2**32
        bucket = (code ^ code >> 16) % 16
        for letter in "@ABCDEFGHIJKLMNO":  # in the buckets 0 to 15
            assert in_java_order([name, letter])[0] == (name if bucket <= ord(letter) % 16 else letter)
