"""What was landed, as a picture: which schema wrote how many records when, and what is in the quarantine."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from sigla_pipelines.demo.generator import DAY_US
from sigla_pipelines.demo.topics import TOPICS
from sigla_pipelines.land.sinks.sink import Sink

BINS: Final = 96
"""A quarter of an hour each."""
COLOURS: Final = ("Blues", "Oranges", "Greens", "Purples", "Greys", "Reds")
"""The colours of each topic; later schemas are darker."""
COUNTED: Final = "{x:,.0f}"
"""How an axis tells numbers of records."""


def over_time(sink: Sink, ids: Mapping[str, int]) -> dict[str, list[int]]:
    """Records of each bin, by the name of the schema that wrote them, as the tables tell it."""
    names = {id: name for name, id in ids.items()}
    edges = DAY_US[0] + np.arange(BINS + 1) * (DAY_US[1] // BINS)
    found: dict[str, Any] = {}
    for topic in TOPICS:
        for batch in sink.rows(topic.name):
            id_column = batch.column("_sr_schema_id").fill_null(0)
            by_id = np.asarray(id_column)
            at = np.asarray(batch.column("_sr_ts").cast(pa.int64()))
            for id in np.unique(by_id):
                if id:  # else a tombstone, which no schema wrote
                    name = names[int(id)]
                    found[name] = found.get(name, 0) + np.histogram(at[by_id == id], edges)[0]
    return {name: [int(count) for count in counts] for name, counts in found.items()}


def draw(counts: Mapping[str, list[int]], reasons: Counter[str], path: Path) -> None:
    import matplotlib as mpl  # noqa: PLC0415 - it takes a second, and only the picture needs it
    from matplotlib.figure import Figure  # noqa: PLC0415 - see above

    # The same figures make the same bytes.
    with mpl.rc_context({"svg.hashsalt": "sigla", "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure = Figure(figsize=(13, 5.6), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(2.2, 1))
        _draw_schemas(left, counts, mpl.colormaps)
        _draw_reasons(right, reasons)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _draw_schemas(axes: Any, counts: Mapping[str, list[int]], colormaps: Any) -> None:
    shades, names = [], []
    for topic, colour in zip(TOPICS, COLOURS, strict=True):
        written = [schema.name for schema in topic.written if schema.name in counts]
        names += written
        shades += [colormaps[colour](0.35 + 0.5 * n / max(1, len(written) - 1)) for n in range(len(written))]
    middle = DAY_US[0] / 1e6 + (np.arange(BINS) + 0.5) * DAY_US[1] / BINS / 1e6
    hours = [datetime.fromtimestamp(second, UTC) for second in middle]
    axes.stackplot(hours, *(counts[name] for name in names), labels=names, colors=shades)
    axes.set(title="Records landed, by the schema that wrote them", ylabel="records in a quarter of an hour")
    axes.set_xlim(hours[0], hours[-1])
    axes.xaxis.set_major_formatter(lambda days, _: f"{int(days * 24 + 0.5) % 24:02}:00")
    axes.yaxis.set_major_formatter(COUNTED)
    axes.legend(loc="upper left", fontsize="small", ncols=3, reverse=False)
    axes.set_ylim(0, 1.3 * max(map(sum, zip(*counts.values(), strict=True))))
    axes.spines[["top", "right"]].set_visible(False)


def _draw_reasons(axes: Any, reasons: Counter[str]) -> None:
    named = sorted(reasons.items(), key=lambda item: (item[1], item[0]))
    bars = axes.barh([name for name, _ in named], [rows for _, rows in named], color="#b2182b")
    axes.bar_label(bars, fmt="{:,.0f}", padding=3, fontsize="small")
    axes.xaxis.set_major_formatter(COUNTED)
    axes.set(title="In the quarantine, by reason", xlabel="records")
    axes.tick_params(axis="y", labelsize="small")
    axes.margins(x=0.15)
    axes.spines[["top", "right"]].set_visible(False)
