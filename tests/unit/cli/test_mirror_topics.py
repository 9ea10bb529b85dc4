"""A topic that `sigla mirror` follows, from its brokers; tests/pipelines/spark has a real one."""

import pytest
from confluent_kafka import Producer

from sigla.cli import topics
from sigla.cli.misuse import Refused
from sigla.journal.replay import TopicRecord
from sigla.ports.progress import unseen


def test_brokers_that_do_not_answer_are_not_a_topic_that_has_nothing_new() -> None:
    """To move over would then be to lose what came last."""
    clients = [Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "ignored", "linger.ms": 0})]

    def write() -> None:
        clients[0].produce("schemas", key=b"{}", value=b"{}", partition=0)
        assert clients[0].flush(30) == 0

    write()
    (broker,) = clients[0].list_topics("schemas", timeout=30).brokers.values()
    settings = {"bootstrap.servers": f"{broker.host}:{broker.port}", topics.WAIT: "1000"}
    found: list[TopicRecord] = []
    with topics.consuming("The topic", settings) as reader:
        reader.begin("schemas", 0, 0)
        topic = topics.Following(reader, "kafka://b/schemas", "schemas")
        topic.all(unseen, found)
        topic.more(found)
        write()
        topic.more(found)
        topic.more(found)
        assert [record.offset for record in found] == [0, 1]
        clients.clear()  # with the broker that it carries
        with pytest.raises(Refused, match="kafka://b/schemas does not answer"):
            topic.more(found)
