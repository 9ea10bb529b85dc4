"""What Prometheus reads of a landing job: its own parser understands it, and counters never go back."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from sigla_pipelines.land.exit_status import SourceFailed
from sigla_pipelines.land.landed import QUARANTINE, DataFile, Metric, Span
from sigla_pipelines.land.manifest import Manifest, Range, RecordCounts
from sigla_pipelines.land.prometheus import Ends, Figures, to_file, to_gateway
from sigla_pipelines.land.report import Done
from sigla_pipelines.land.settings import InvalidLanding
from sigla_pipelines.places import open_place

ODD = 'or"ders\\ü\n'
"""A name with all that a label has to escape. Kafka has no such topic; a table may be called so."""


def metric(table: str, rows: int, reason: str = "", additional: int = 0) -> Metric:
    return Metric(table, "orders", "orders-value", 1, 1, reason, rows, 10 * rows, 0, 0, rows - 1, 0, 0, additional)


def done(number: int) -> Done:
    manifest = Manifest(
        query="q",
        number=number,
        ranges=(Range("orders", "u", 0, 0, 990 * (number + 1)), Range("orders", "u", 1, 0, 10 * (number + 1))),
        entries=(),
        files=(DataFile(ODD, "data/a", 992, 1), DataFile(QUARANTINE, "data/c", 8, 1)),
        columns={},
        spans=(Span("orders", 0, 0, 989, 990), Span("orders", 1, 0, 9, 10)),
        metrics=(metric(ODD, 992, additional=7), metric(QUARANTINE, 5, "BAD_UTF8"), metric(QUARANTINE, 3, "EMPTY")),
        reads=(),
        counts=RecordCounts(read=1000, landed=992, quarantined=8),
    )
    return Done("land", manifest, 1_767_268_800_000, 2.5)


def lag(ends: Ends) -> Mapping[str, int]:
    return {topic: 5000 - sum(partitions.values()) for topic, partitions in ends.items()}


def silent(_ends: Ends) -> Mapping[str, int]:
    raise SourceFailed("Kafka does not tell.")


def samples(text: str) -> dict[tuple[str, ...], float]:
    """By name and the values of labels, as Prometheus has them."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_prometheus_reads_what_became_of_records(tmp_path: Path) -> None:
    """Each figure by its topic, table or reason; of every one a type and a help."""
    figures = Figures(open_place(tmp_path), "shop", lag)
    figures.add(done(0))
    assert samples(figures.text()) == {
        ("sigla_land_records_read_total", "shop", "orders"): 1000,
        ("sigla_land_records_landed_total", "shop", ODD): 992,
        ("sigla_land_records_quarantined_total", "shop", "orders", "BAD_UTF8"): 5,
        ("sigla_land_records_quarantined_total", "shop", "orders", "EMPTY"): 3,
        ("sigla_land_additional_properties_total", "shop", "kept"): 7,
        ("sigla_land_batch_duration_seconds_sum", "shop"): 2.5,
        ("sigla_land_batch_duration_seconds_count", "shop"): 1,
        ("sigla_land_last_batch_duration_seconds", "shop"): 2.5,
        ("sigla_land_last_batch_timestamp_seconds", "shop"): 1_767_268_800,
        ("sigla_land_lag_records", "shop", "orders"): 4000,
    }
    families = list(text_string_to_metric_families(figures.text()))
    assert all(family.documentation.endswith(".") for family in families)
    assert {family.type for family in families} == {"counter", "summary", "gauge"}


def test_counters_go_on_in_the_next_run_and_no_batch_counts_twice(tmp_path: Path) -> None:
    """A job that runs each hour is one counter to a monitor of rates; a batch may be told again after a crash."""
    Figures(open_place(tmp_path), "shop", lag).add(done(0))
    second = Figures(open_place(tmp_path), "shop", lag)
    second.add(done(0))
    second.add(done(1))
    found = samples(Figures(open_place(tmp_path), "shop", lag).text())
    assert found["sigla_land_records_read_total", "shop", "orders"] == 2000
    assert found["sigla_land_batch_duration_seconds_count", "shop"] == 2
    assert found["sigla_land_lag_records", "shop", "orders"] == 3000


def test_a_figure_that_nobody_can_tell_is_left_out(tmp_path: Path) -> None:
    """A lag of 0 would say that all is well while Kafka is silent."""
    figures = Figures(open_place(tmp_path), "shop", silent)
    figures.add(done(0))
    assert not [name for name, *_ in samples(figures.text()) if "lag" in name]


def test_a_resolved_record_is_counted(tmp_path: Path) -> None:
    """It was in the quarantine, and a replay has landed it."""
    figures = Figures(open_place(tmp_path), "shop", lag)
    batch = done(0)
    counts = RecordCounts(read=0, landed=4, resolved=4)
    figures.add(replace(batch, manifest=replace(batch.manifest, ranges=(), metrics=(), counts=counts)))
    assert samples(figures.text())["sigla_land_records_resolved_total", "shop"] == 4


def test_the_file_is_whole_whenever_it_is_read(tmp_path: Path) -> None:
    """The collector reads at any moment, and reads any file that ends with .prom."""
    path = tmp_path / "land.prom"
    publish = to_file(path)
    publish("one 1\n")
    publish("two 2\n")
    assert path.read_text() == "two 2\n"
    assert [each.name for each in tmp_path.iterdir()] == ["land.prom"]
    with pytest.raises(InvalidLanding, match="Folder not found: "):
        to_file(tmp_path / "nowhere" / "land.prom")


@contextmanager
def gateway(status: int) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """Its address, and what it was asked: method, path, body."""
    asked: list[tuple[str, str, str]] = []

    class Gateway(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            asked.append((self.command, self.path, body))
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Gateway)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_push_gateway_gets_the_same_text() -> None:
    """For a job that ends before a monitor could ask it."""
    with gateway(200) as (url, asked):
        to_gateway(f"{url}/", "shop/1")("one 1\n")
    assert asked == [("PUT", "/metrics/job/shop%2F1", "one 1\n")]


def test_a_push_gateway_that_refuses_is_told_of() -> None:
    """By an OSError with a reason, which the job prints; it does not stop for it."""
    with gateway(400) as (url, _), pytest.raises(OSError, match="it answers 400 Bad Request"):
        to_gateway(url, "shop")("one 1\n")
    with pytest.raises(InvalidLanding, match=r"Invalid address of a push gateway '.*gateway:9091'"):
        to_gateway("gateway:9091", "shop")
