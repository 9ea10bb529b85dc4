"""Default, then specific, then override (§4.4)."""

from sigla.model import Metadata, Rule, RuleSet
from sigla.rules.merge import (
    merge_metadata,
    merge_rule_sets,
    stamp_of,
    stamped,
    unstamped,
    without_rules,
)

A, B, C = (Rule(name=name, type="CEL") for name in "abc")
NEW_A = Rule(name="a", type="CEL", expr="new")


def test_nothing_merged_with_something_is_something() -> None:
    """Either side may be absent."""
    metadata, rules = Metadata(properties={"k": "v"}), RuleSet(domain=(A,))
    assert merge_metadata(None, metadata) == merge_metadata(metadata, None) == metadata
    assert merge_rule_sets(None, rules) == merge_rule_sets(rules, None) == rules
    assert merge_metadata(None, None) is None
    assert merge_rule_sets(None, None) is None


def test_properties_are_united_and_the_new_one_wins() -> None:
    """Precedence goes key by key."""
    merged = merge_metadata(Metadata(properties={"a": "1", "b": "1"}), Metadata(properties={"b": "2", "c": "2"}))
    assert merged == Metadata(properties={"a": "1", "b": "2", "c": "2"})


def test_tags_of_a_path_are_replaced_whole() -> None:
    """A path keeps either its old tags or its new ones, never a mixture."""
    merged = merge_metadata(Metadata(tags={"x": ("a", "b"), "y": ("a",)}), Metadata(tags={"x": ("c",)}))
    assert merged == Metadata(tags={"x": ("c",), "y": ("a",)})


def test_sensitive_names_are_a_union_in_order() -> None:
    """A name once called sensitive stays so."""
    merged = merge_metadata(Metadata(sensitive=("b", "c")), Metadata(sensitive=("a", "b")))
    assert merged == Metadata(sensitive=("a", "b", "c"))


def test_old_rules_that_are_not_named_anew_come_first() -> None:
    """List by list: the old ones in their order, then all new ones."""
    merged = merge_rule_sets(RuleSet(domain=(A, B), migration=(C,)), RuleSet(domain=(C, NEW_A)))
    assert merged == RuleSet(domain=(B, C, NEW_A), migration=(C,))


def test_the_newer_moment_of_effect_wins_if_there_is_one() -> None:
    """`enableAt` is inherited where the new side is silent."""
    old = RuleSet(domain=(A,), enable_at="CLIENT")
    assert merge_rule_sets(old, RuleSet()) == old
    merged = merge_rule_sets(old, RuleSet(enable_at="SERVER"))
    assert merged is not None
    assert merged.enable_at == "SERVER"


def test_rules_are_removed_by_name_from_every_list() -> None:
    """Also from lists that were not looked into."""
    rules = RuleSet(migration=(A, B), domain=(C,), encoding=(A,))
    assert without_rules(rules, ["a", "c", "nobody"]) == RuleSet(migration=(B,))
    assert without_rules(None, ["a"]) is None


def test_a_stamp_is_a_property_like_any_other() -> None:
    """Stamping makes missing metadata, and keeps what is said already."""
    assert stamped(None, 3) == Metadata(properties={"confluent:version": "3"})
    kept = stamped(Metadata(tags={"x": ("a",)}, properties={"k": "v", "confluent:version": "1"}), 2)
    assert kept == Metadata(tags={"x": ("a",)}, properties={"k": "v", "confluent:version": "2"})
    assert unstamped(kept) == Metadata(tags={"x": ("a",)}, properties={"k": "v"})
    assert unstamped(None) == Metadata()


def test_only_a_number_is_a_stamp() -> None:
    """Anything else is a property that says nothing about versions (§5.2)."""

    def stamp(text: str) -> int | None:
        return stamp_of(Metadata(properties={"confluent:version": text}))

    assert (stamp("3"), stamp("-1"), stamp("+3"), stamp("003")) == (3, -1, 3, 3)
    assert [stamp(text) for text in ("", "x", "1.0", "1_0", " 1 ", "99999999999", "9" * 5000)] == [None] * 7
    assert stamp_of(None) is None
    assert stamp_of(Metadata()) is None
