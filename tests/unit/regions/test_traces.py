"""What a role remembers of regions that are out, for people."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sigla.regions.nouns import KnownBy, RegionKind, Role, Trace
from sigla.regions.rejoining import reconciled

NAME = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=8)
TRACE = st.builds(Trace, NAME, st.sampled_from(["", "http://b:8081"]), st.integers(0, 2**50), st.just(value=False))
OUT = Role(3, RegionKind.PRIMARY, reconciled=False)


@given(st.lists(TRACE, max_size=4, unique_by=lambda each: each.name))
def test_each_region_is_remembered_until_it_is_back(traces: list[Trace]) -> None:
    """Whatever its name has, also a separator of lines beside the control characters."""
    role = OUT
    for each in traces:
        role = role.with_trace(each)
    assert role.out == traces
    for each in traces:
        role = role.without_traces(each.name)
        assert each not in role.out
    assert role == OUT


def test_a_region_that_is_out_is_called_by_its_url_where_that_is_known() -> None:
    """One cannot look for a region by a name that was drawn for it."""
    role = replace(OUT, lost="one, two")
    assert role.shown_out == "one, two"
    assert role.with_trace(Trace("one", "http://one", 7)).shown_out == "http://one, two"
    assert replace(OUT, peer=KnownBy("A")).shown_out == "A"


@given(st.text(max_size=20))
def test_whatever_another_region_puts_there_can_be_shown(text: str) -> None:
    role = Role(3, RegionKind.PRIMARY, reconciled=False, lost="x", traces=text)
    assert "x" in [each.name for each in role.out]
    assert role.without_traces("y").out


def test_one_that_is_abandoned_is_not_out_any_more_and_is_known_all_the_same() -> None:
    """So it is closed should it take writes one day. Where it was not known where it is, nothing is remembered."""
    one, two = Trace("one", "http://one", 7), Trace("two", "", 9)
    role = replace(OUT, lost="one, two").with_trace(one).with_trace(two)
    left = role.without("one", abandoned=one)
    assert (left.lost, left.reconciled, left.out) == ("two", False, [two])
    assert left.abandoned == [Trace("one", "http://one", 7, abandoned=True)]
    last = left.without("two", abandoned=two)
    assert (last.lost, last.reconciled, last.out) == ("", True, [])
    assert last.elsewhere == ["http://one"]


def test_a_region_that_is_back_leaves_the_follower_of_the_other_one_alone() -> None:
    """A moment without it would let ids be given that it is not told of."""
    role = replace(OUT, lost="one, two", peer=KnownBy("three"), at="http://three")
    assert role.without("one") == replace(role, lost="two")
    assert role.without("one").without("two") == replace(role, lost="", reconciled=True)


def test_one_that_is_not_waited_for_does_not_stand_for_the_one_that_was_passed_over() -> None:
    role = replace(OUT, peer=KnownBy(url="http://first"))
    stranger = Role(1, RegionKind.PRIMARY, name="another", open=False)
    assert reconciled(role, stranger) == role
    assert reconciled(role, replace(stranger, kind=RegionKind.JOINING, epoch=2)) == role
    assert reconciled(role, replace(stranger, epoch=2)).reconciled


def test_of_two_primaries_one_goes_on() -> None:
    """Also where both are of the same epoch, because one of them was abandoned, and is back."""
    first, named, later = OUT, replace(OUT, name="b"), replace(OUT, epoch=4)
    assert named.outranks(first)
    assert not first.outranks(named)
    assert later.outranks(named)
    assert not named.outranks(later)
    assert not named.outranks(named)


def test_the_region_that_is_followed_is_not_out() -> None:
    """A follower knows of its primary that this is not reconciled with the lost region: the primary itself is there."""
    lost = Trace("A", "http://a:8081", 7)
    primary = replace(OUT, peer=KnownBy(url="http://a:8081")).with_trace(lost)
    follower = replace(primary, kind=RegionKind.FOLLOWER, peer=KnownBy(url="http://b:8081"))
    assert primary.out == follower.out == [lost]
