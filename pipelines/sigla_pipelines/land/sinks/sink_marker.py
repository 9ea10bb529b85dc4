"""Which tables a work directory is about: kept in it before its first manifest, as `sink.json`.

What its manifests say is landed is in these tables. Others would get what comes, and lack what was there before.
"""

import os
from collections.abc import Mapping
from typing import Final

import orjson

from sigla_pipelines.land.manifest import FOLDER
from sigla_pipelines.land.settings import InvalidLanding, SinkPart
from sigla_pipelines.places import Folder, Place

NAME: Final = "sink.json"


def checked(work: Place, lake: Place, part: SinkPart) -> SinkPart:
    """The settings with the kind that holds: where they do not name one, a work directory goes on with its own.

    So a job whose settings are older than a default lands to the tables that it has. Raises InvalidLanding where the
    work directory is about other tables, or does not say about which.
    """
    text = work.read(NAME)
    form = None if text is None else orjson.loads(text)
    named = "kind" in part.model_fields_set
    if form is None:
        if not named and next(work.names(FOLDER), None) is not None:
            raise InvalidLanding(
                f"{work.url} has landed batches, but does not record the kind of their tables. Write `kind: parquet` "
                "or `kind: iceberg` in `sink`, whichever is true."
            )
        return part
    if not named:
        part = part.model_copy(update={"kind": form["kind"]})
    _check_unchanged(work, form, _form(work, lake, part))
    return part


def keep(work: Place, lake: Place, part: SinkPart) -> None:
    """From now on it is about these.

    Raises InvalidLanding if it is about others already, or if another driver was faster with others.
    """
    form = _form(work, lake, part)
    _check_unchanged(work, orjson.loads(work.read(NAME) or work.put_if_absent(NAME, orjson.dumps(form))), form)


def _form(work: Place, lake: Place, part: SinkPart) -> dict[str, str]:
    # Two folders may be moved, or mounted, together.
    beside = isinstance(work, Folder) and isinstance(lake, Folder)
    form = {"kind": part.kind, "lake": os.path.relpath(lake.url, work.url) if beside else lake.url}
    return form | ({"namespace": part.namespace} if part.kind == "iceberg" else {})


def _check_unchanged(work: Place, kept: Mapping[str, str], form: Mapping[str, str]) -> None:
    for name in form:
        if kept.get(name) != form[name]:
            raise InvalidLanding(
                f"{work.url} belongs to other tables: `sink.{name}` was {kept.get(name)} and is {form[name]} now. "
                "Restore the old value, or use a new work directory and a new lake."
            )
