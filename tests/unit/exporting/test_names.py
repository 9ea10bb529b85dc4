"""What is called otherwise at the destination, and what speaks of it there."""

from tests.unit.exporting.places import AVRO, Line, places
from tests.unit.exporting.stories import RULES, configure, kek, register, use, wrap


def test_references_name_subjects_as_they_are_called_there() -> None:
    """A schema that names another by a name which is not there could not be read."""
    with places() as (source, target):
        register("base", 0)(source)
        register(":.c:other", 1)(source)
        use("user", 1, "base")(source)
        use("across", 2, ":.c:other")(source)
        line = Line(source, target).begin(
            context_type="CUSTOM", contextType="CUSTOM", context="dr", subjectRenameFormat="dc_${subject}"
        )
        line.run()
        assert target("GET", "/subjects") == [":.dr.c:dc_other", ":.dr:dc_across", ":.dr:dc_base", ":.dr:dc_user"]
        user = target("GET", "/subjects/:.dr:dc_user/versions/1")
        assert [each["subject"] for each in user["references"]] == ["dc_base"]
        across = target("GET", "/subjects/:.dr:dc_across/versions/1")
        assert [each["subject"] for each in across["references"]] == [":.dr.c:dc_other"]
        assert user["id"] == source("GET", "/subjects/user/versions/1")["id"]


def test_what_is_referenced_goes_along_though_the_exporter_does_not_take_it() -> None:
    """What a schema needs to be read is a part of it."""
    with places() as (source, target):
        register("base", 0)(source)
        register("base", 1)(source)
        register("elsewhere", 2)(source)
        use("orders-value", 1, "base")(source)
        Line(source, target).begin(subjects=["orders-*"]).run()
        assert target("GET", "/subjects") == ["base", "orders-value"]
        assert target("GET", "/subjects/base/versions") == [1]


def test_the_one_subject_with_another_name_does_not_give_it_to_what_it_references() -> None:
    """Two subjects of one name would be written over each other, and the schema would reference itself."""
    with places() as (source, target):
        register("base", 0)(source)
        use("orders", 1, "base")(source)
        Line(source, target).begin(subjects=["orders"], subjectRenameFormat="purchases").run()
        assert target("GET", "/subjects") == ["base", "purchases"]
        assert [each["subject"] for each in target("GET", "/subjects/purchases/versions/1")["references"]] == ["base"]


def test_a_name_that_would_lead_into_another_context_there_is_left_out() -> None:
    """Names like that are odd and legal: who may write in one context must not reach another one by an exporter."""
    with places() as (source, target):
        register(":.mine::.theirs:s", 0)(source)
        register(":.mine:s", 1)(source)
        register(":.theirs:s", 7)(target)
        target("PUT", "/mode/:.theirs:?force=true", {"mode": "IMPORT"})
        Line(source, target).begin(contextType="DEFAULT").run()
        assert target("GET", "/subjects?subjectPrefix=:*:") == [":.theirs:s", "s"]
        assert target("GET", "/subjects/:.theirs:s/versions") == [1]


def test_an_alias_leads_to_the_same_subject_there() -> None:
    with places() as (source, target):
        register("orders", 0)(source)
        configure("old-name", alias="orders")(source)
        Line(source, target).begin(contextType="CUSTOM", context="dr", subjectRenameFormat="x-${subject}").run()
        assert target("GET", "/subjects/:.dr:x-old-name/versions/1")["subject"] == ":.dr:x-orders"


def test_the_rule_of_a_schema_names_the_key_as_it_is_called_there() -> None:
    """A client finds the key of a field by the name that the schema has for it."""
    with places() as (source, target):
        kek("k1")(source)
        wrap("k1", "orders")(source)
        source.register("orders", AVRO % 1, ruleSet=RULES)
        Line(source, target).begin(kekRenameFormat="dc-${kek}").run()
        rule = target("GET", "/subjects/orders/versions/1")["ruleSet"]["domainRules"][0]
        assert rule["params"]["encrypt.kek.name"] == "dc-k1"
        assert target("GET", "/dek-registry/v1/keks") == ["dc-k1"]
        assert target("GET", "/dek-registry/v1/keks/dc-k1/deks/orders")["encryptedKeyMaterial"] == "AAEC"
