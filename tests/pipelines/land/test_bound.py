"""Topics by their names and by patterns: each has one binding, and everybody can tell which."""

import re

import pytest

from sigla_pipelines.land.bindings import Binding
from sigla_pipelines.land.bound import expression
from sigla_pipelines.land.settings import Landing, parse_landing

FORM = """
registry: {data: registry}
source: {kind: kafka, brokers: b}
sink: {lake: lake}
work: work
"""


def landing(bind: str) -> Landing:
    return parse_landing(f"{FORM}{bind}", "land.yaml")


def bound(bind: str, *topics: str) -> dict[str, Binding]:
    """By topic, what values of topics are bound as."""
    return {each.topic: each for each in landing(bind).bound.bindings(topics) if each.part == "value"}


@pytest.mark.parametrize(
    "pattern, topics, others",
    [
        ("shop.*", ["shop.orders", "shop.eu.orders", "shop."], ["shop", "shopping", "my.shop.orders", "shop_x"]),
        ("*.orders", ["eu.orders", "a.b.orders"], ["orders", "eu_orders", "eu.orders.old", "_x.orders"]),
        ("*", ["orders", "a.b-c_d"], ["_schemas", "__consumer_offsets"]),
        ("a*b*c", ["abc", "aXbYc"], ["ab", "acb"]),
    ],
)
def test_a_star_stands_for_any_part_of_a_name_and_a_dot_for_itself(
    pattern: str, topics: list[str], others: list[str]
) -> None:
    """What begins with `_` is a program's own: a star does not begin with it."""
    assert [each for each in topics + others if re.fullmatch(expression(pattern), each)] == topics


def test_a_topic_that_is_named_is_bound_by_its_name_and_of_patterns_the_first_counts() -> None:
    """Whatever stands first: an exception is said beside the rule, and rules from the narrow to the wide."""
    said = """
bind:
  - {topic: 'shop.*', reader: {version: 1}}
  - {topic: '*', reader: {version: 2}}
  - {topic: shop.orders, reader: {version: 3}}
"""
    found = bound(said, "shop.orders", "shop.paid", "clicks", "_schemas")
    assert {topic: each.reader.number for topic, each in found.items()} == {
        "shop.orders": 3,
        "shop.paid": 1,
        "clicks": 2,
    }


def test_what_a_pattern_skips_is_bound_by_the_next_one_or_not_at_all() -> None:
    said = "bind: [{topic: 'shop.*', skip: ['*.dlq', shop.tmp]}, {topic: '*.tmp', table: t}]"
    found = bound(said, "shop.orders", "shop.orders.dlq", "shop.tmp", "shop.tmp2")
    assert {topic: each.table for topic, each in found.items()} == {
        "shop.orders": "shop.orders",
        "shop.tmp": "t",
        "shop.tmp2": "shop.tmp2",
    }


def test_a_rule_says_how_tables_are_called() -> None:
    """By the topic, by what the stars stand for, and by the record."""
    said = """
bind:
  - {topic: 'cdc.*.*', table: '{1}_{2}'}
  - {topic: 'log.*', strategy: TopicRecordName, table: 'logs.{1}.{record}'}
  - {topic: orders, table: 'raw_{topic}'}
"""
    found = bound(said, "cdc.eu.orders", "log.web")
    assert found["cdc.eu.orders"].table_of() == "eu_orders"
    assert found["log.web"].table_of("acme.Seen") == "logs.web.acme.Seen"
    assert found["orders"].table_of() == "raw_orders"


def test_what_all_bindings_say_is_said_once() -> None:
    """A binding may say otherwise; keys have no tables."""
    said = """
defaults: {reader: {version: 2}, table: 'lake_{topic}', strategy: TopicName}
bind:
  - {topic: orders}
  - {topic: orders, part: key}
  - {topic: clicks, reader: latest, table: clicks}
  - {topic: 'shop.*'}
"""
    found = landing(said).bound.bindings(["shop.paid"])
    assert [(each.topic, each.part, each.reader.kind, each.table) for each in found] == [
        ("orders", "value", "version", "lake_orders"),
        ("orders", "key", "version", "orders"),
        ("clicks", "value", "latest", "clicks"),
        ("shop.paid", "value", "version", "lake_shop.paid"),
    ]


def test_keys_are_bound_by_patterns_where_values_are_bound() -> None:
    said = "bind: [{topic: orders}, {topic: 'a.*'}, {topic: '*', part: key}]"
    found = landing(said).bound.bindings(["orders", "a.b", "other"])
    assert [(each.topic, each.part) for each in found] == [
        ("orders", "value"),
        ("a.b", "value"),
        ("a.b", "key"),
        ("orders", "key"),
    ]


def test_one_expression_says_to_spark_which_topics_are_read() -> None:
    said = "bind: [{topic: a.b}, {topic: 'shop.*', skip: ['*.dlq']}, {topic: '*', part: key}]"
    pattern = landing(said).bound.pattern
    assert [each for each in ("a.b", "a_b", "shop.x", "shop.x.dlq", "y") if re.fullmatch(pattern, each)] == [
        "a.b",
        "shop.x",
    ]
