"""A real Kafka broker, one process that is its own controller, for the tests that must not believe in a substitute.

python -m tests.pipelines.broker --install      fetches it by Maven, once
python -m tests.pipelines.broker                runs one until Ctrl-C and prints where; --port 9092: there
"""

import argparse
import contextlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic

from localstack import foreground
from sigla_pipelines.connectors.installation import HOME
from sigla_pipelines.connectors.maven import Unavailable, class_path, fetch_jars, is_fetched, java

POM = Path(__file__).parent / "broker.pom.xml"
PLACE = HOME / "broker"
READY_WITHIN_S = 60.0
STOPS_WITHIN_S = 5.0
ANSWERS_WITHIN_S = 30.0

# Everything that Kafka keeps in several copies, in one; groups and compaction begin at once.
SETTINGS: Mapping[str, str] = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "auto.create.topics.enable": "false",
    **{
        f"{topic}.{setting}": "1"
        for topic in ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")
        for setting in ("replication.factor", "num.partitions")
    },
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "log.cleaner.backoff.ms": "100",
    "log.initial.task.delay.ms": "100",
}
SMALL = ("-Xms128m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


@dataclass(frozen=True, slots=True)
class Broker:
    """address: what clients call `bootstrap.servers`."""

    address: str

    def admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.address})

    def create(self, topic: str, partitions: int = 1, **settings: str) -> None:
        """A topic with nothing in it. settings: of the topic, `_` for `.`."""
        config = {name.replace("_", "."): value for name, value in settings.items()}
        admin = self.admin()  # it is waited for
        [made] = admin.create_topics([NewTopic(topic, partitions, 1, config=config)]).values()
        made.result(ANSWERS_WITHIN_S)

    def delete(self, topic: str) -> None:
        admin = self.admin()
        [gone] = admin.delete_topics([topic]).values()
        gone.result(ANSWERS_WITHIN_S)

    def widen(self, topic: str, partitions: int) -> None:
        """So many partitions from now on."""
        admin = self.admin()
        [done] = admin.create_partitions([NewPartitions(topic, partitions)]).values()
        done.result(ANSWERS_WITHIN_S)

    def producer(self, **settings: str) -> Producer:
        """settings: `_` for `.`, as `transactional_id`."""
        return Producer(
            {"bootstrap.servers": self.address, "linger.ms": 5}
            | {name.replace("_", "."): value for name, value in settings.items()}
        )


def written(producer: Producer, topic: str, *records: Mapping[str, Any]) -> list[tuple[str, int, int]]:
    """Sends records (`value`, `key`, `headers`, `partition`, `timestamp`); the topic, partition and offset of each."""
    places: dict[int, tuple[str, int, int]] = {}
    for number, record in enumerate(records):

        def lies(error: object, message: Message, number: int = number) -> None:
            assert error is None, error
            places[number] = topic, message.partition() or 0, message.offset() or 0

        while True:
            try:
                producer.produce(topic, on_delivery=lies, **record)
                break
            except BufferError:
                producer.poll(1)
    producer.flush(ANSWERS_WITHIN_S)
    return [places[number] for number in range(len(records))]


def install() -> None:
    """Fetches the broker; nothing to do when it is there. Raises Unavailable."""
    fetch_jars(POM, PLACE)


@contextlib.contextmanager
def running(port: int = 0) -> Iterator[Broker]:
    """A broker without topics; it ends with the block, and what it held is gone. Raises Unavailable.

    port: one that is free, unless it is said.
    """
    if not is_fetched(POM, PLACE):
        raise Unavailable("Kafka's broker is not installed here: python -m tests.pipelines.broker --install")
    folder = Path(tempfile.mkdtemp(prefix="kafka-"))
    try:
        address, settings = _configured(folder, port)
        _java("kafka.tools.StorageTool", "format", "-t", "c2lnbGEtdGVzdHMtcnVuLQ", "-c", settings, "--standalone")
        with (folder / "log").open("wb+") as log:
            server = subprocess.Popen(
                [java(), *SMALL, "-cp", class_path(PLACE), "kafka.Kafka", settings],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is ours to hear
            )
            try:
                broker = Broker(address)
                if not _ready(server, broker):
                    log.seek(0)
                    raise Unavailable(f"Kafka did not come up; it said\n{log.read().decode(errors='replace')}")
                yield broker
            finally:
                _stop(server)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _configured(folder: Path, port: int) -> tuple[str, str]:
    """Its address, and the path of its settings. port: 0 for one that is free."""
    free, other = _free_ports()
    here, controller = f"127.0.0.1:{port or free}", f"127.0.0.1:{other}"
    listeners = f"PLAINTEXT://{here},CONTROLLER://{controller}"
    settings = dict(SETTINGS) | {
        "listeners": listeners,
        "advertised.listeners": listeners,
        "controller.quorum.bootstrap.servers": controller,
        "log.dirs": str(folder / "data"),
    }
    path = folder / "server.properties"
    path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    return here, str(path)


def _free_ports() -> tuple[int, int]:
    with socket.socket() as first, socket.socket() as second:
        first.bind(("127.0.0.1", 0))
        second.bind(("127.0.0.1", 0))
        return first.getsockname()[1], second.getsockname()[1]


def _java(*command: str) -> None:
    done = subprocess.run(
        [java(), *SMALL, "-cp", class_path(PLACE), *command], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Unavailable(f"Kafka could not be prepared; it said\n{done.stdout}{done.stderr}")


def _ready(server: "subprocess.Popen[bytes]", broker: Broker) -> bool:
    deadline = time.monotonic() + READY_WITHIN_S
    # A client that was refused waits longer each time: one that begins anew is answered sooner.
    while server.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(KafkaException):
            if _listening(broker.address) and broker.admin().list_topics(timeout=5).brokers:
                return True
        time.sleep(0.05)
    return False


def _listening(address: str) -> bool:
    host, port = address.split(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


def _stop(server: "subprocess.Popen[bytes]") -> None:
    """What it holds is worth nothing, so it is not asked to write it down."""
    server.kill()
    server.wait(STOPS_WITHIN_S)


@contextlib.contextmanager
def _told(port: int) -> Iterator[str]:
    with running(port) as broker:
        yield f"Kafka answers on {broker.address}; Ctrl-C stops it."


if __name__ == "__main__":
    options = argparse.ArgumentParser(prog="python -m tests.pipelines.broker", description="A Kafka broker")
    options.add_argument("--install", action="store_true", help="fetch it and stop")
    options.add_argument("--port", type=int, default=0, help="where it answers (default: a port that is free)")
    asked = options.parse_args()
    sys.exit(foreground.run(install, None if asked.install else partial(_told, asked.port)))
