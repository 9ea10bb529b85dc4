"""What a role remembers of regions that are out, for people."""

from hypothesis import given
from hypothesis import strategies as st

from sigla.regions.nouns import RegionKind, Role, Trace

NAME = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=8)
TRACE = st.builds(Trace, NAME, st.sampled_from(["", "http://b:8081"]), st.integers(0, 2**50))
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


@given(st.text(max_size=20))
def test_whatever_another_region_puts_there_can_be_shown(text: str) -> None:
    role = Role(3, RegionKind.PRIMARY, reconciled=False, lost="x", traces=text)
    assert "x" in [each.name for each in role.out]
    assert role.without_traces("y").out
