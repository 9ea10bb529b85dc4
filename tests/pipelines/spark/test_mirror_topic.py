"""`sigla mirror` of the topic of a registry, from a real broker, while it grows."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sigla.journal.replay import TopicRecord
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.store import EmbeddedStore
from tests.pipelines.broker import Broker, written
from tests.protocol.dumped import differences, reads, records
from tests.protocol.test_mirror import mirroring

# PySpark leaves its sockets to the collector.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]


def sent(record: TopicRecord) -> dict[str, Any]:
    return {"key": record.key, "value": record.value, "timestamp": record.ts}


def test_the_recorded_topic_played_into_a_broker_ends_as_the_registry_that_wrote_it(
    kafka: Broker, tmp_path: Path
) -> None:
    """A real topic, its second half while the mirror runs and after it was killed; then all that can be read of it."""
    whole, data = records(), tmp_path / "data"
    kafka.create("mirrored-schemas", cleanup_policy="compact")
    source = f"kafka://{kafka.address}/mirrored-schemas"
    half, rest = len(whole) // 2, len(whole) * 3 // 4
    written(kafka.producer(), "mirrored-schemas", *map(sent, whole[:half]))
    with mirroring(source, data) as mirror:
        mirror.wait_for(lambda told: "In step: " in told.output)
        written(kafka.producer(), "mirrored-schemas", *map(sent, whole[half:rest]))
        mirror.wait_for(lambda told: "Z brought" in told.output.partition("In step")[2])
        mirror.kill()
    with mirroring(source, data, "--cut-over", "--source-stopped", "--i-mean-it") as mirror:
        written(kafka.producer(), "mirrored-schemas", *map(sent, whole[rest:]))
        assert mirror.wait() == 0, mirror.said
    with mirroring(source, tmp_path / "second", "--once") as mirror:
        assert mirror.wait() == 0, mirror.said
    with EmbeddedStore(data) as store:
        registry = Registry(store.catalog, store.bodies, SystemClock())
        wanted = [read for read in reads() if not read["path"].startswith("/mode")]
        assert asyncio.run(differences(registry, wanted)) == []
