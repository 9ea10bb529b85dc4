"""Exporters: create, update, pause, resume, reset, delete (EXP-1 to EXP-4).

Where nothing would run them, or credentials cannot be kept, every one of these is refused (ExportersClosed).

Credentials are put aside under a new nonce before an exporter names it, and those that it named before are deleted once
it is written: whatever fails in between, an exporter names credentials that are there.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

from sigla import effort
from sigla.changes import ExporterChanged
from sigla.errors import Conflict, StoreError
from sigla.exporters.checks import MOST_EXPORTERS, check_config, check_name, with_description
from sigla.exporters.endless import endless
from sigla.exporters.nouns import Credentials, Exporter, ExporterDraft, ExporterState, Position
from sigla.exporters.refusals import (
    ExporterExists,
    ExporterNotPaused,
    ExportersClosed,
    InvalidExporterConfig,
    TooManyExporters,
)
from sigla.exporters.rules import HIDDEN, URL, plain, secret
from sigla.exporters.verbs.asking import read_exporter, read_progress, secret_settings
from sigla.ports.secrets import SecretName
from sigla.registry import Resources
from sigla.registry.steps.committing import commit, nonce, until_committed

CREATING: Final = "Create exporter operation"
UPDATING: Final = "Update exporter operation"
DELETING: Final = "Delete exporter operation"


def create_exporter(resources: Resources, draft: ExporterDraft) -> Exporter:
    """It runs at once (EXP-3).

    Raises InvalidExporterName, InvalidExporterSubjects, InvalidExporterConfig, ExporterExists, TooManyExporters.
    """
    _check_open(resources)
    exporter = with_description(Exporter(check_name(draft.name)), draft)
    config = draft.config or {}
    check_config(config)
    if HIDDEN in secret(config).values():
        raise InvalidExporterConfig(why=f"{HIDDEN} stands for a setting that is stored, and nothing is stored yet")

    def attempt() -> Exporter:
        names = [each.name for each in resources.catalog.exporters()]
        if exporter.name in names:
            raise ExporterExists(exporter=exporter.name)
        if len(names) >= MOST_EXPORTERS:
            raise TooManyExporters(limit=MOST_EXPORTERS)
        return _write_settings(resources, None, exporter, config)

    return until_committed(resources, CREATING, attempt)


def update_exporter(resources: Resources, name: str, draft: ExporterDraft) -> Exporter:
    """What the client does not say stays; a config replaces the whole config. It stays paused.

    Raises ExporterNotFound, ExporterNotPaused, InvalidExporterSubjects, InvalidExporterConfig.
    """
    _check_open(resources)

    def attempt() -> Exporter:
        seen, _ = _paused(resources, name)
        wanted = with_description(seen, draft)
        if draft.config is None:
            _check_ends(resources, wanted, lambda: {**seen.config, **secret_settings(resources.secrets, seen)})
            return _write(resources, seen, wanted)
        return _write_settings(resources, seen, wanted, _merged(resources, seen, draft.config))

    return until_committed(resources, UPDATING, attempt)


def update_config(resources: Resources, name: str, config: Mapping[str, str]) -> Exporter:
    """Raises as `update_exporter`."""
    return update_exporter(resources, name, ExporterDraft(config=config))


def pause_exporter(resources: Resources, name: str) -> None:
    """From then on nothing is written to the destination, and no progress noted. Raises ExporterNotFound."""
    _turn(resources, name, lambda state: state is not ExporterState.PAUSED, ExporterState.PAUSED)


def resume_exporter(resources: Resources, name: str) -> None:
    """One that is not paused goes on as it does. Raises ExporterNotFound."""
    _turn(resources, name, lambda state: state is ExporterState.PAUSED, ExporterState.STARTING)


def reset_exporter(resources: Resources, name: str) -> None:
    """Its position goes back to the start; it stays paused. Raises ExporterNotFound, ExporterNotPaused."""
    _check_open(resources)

    def attempt() -> None:
        seen, position = _paused(resources, name)
        _write(resources, seen, seen, position=position.restarted())

    until_committed(resources, UPDATING, attempt)


def delete_exporter(resources: Resources, name: str) -> None:
    """With its credentials; what it has written stays. Raises ExporterNotFound, ExporterNotPaused."""
    _check_open(resources)

    def attempt() -> None:
        seen, _ = _paused(resources, name)
        commit(resources, ExporterChanged(name, seen, None, resources.clock.now(), nonce()))
        _forget(resources, seen)

    until_committed(resources, DELETING, attempt)


# --- steps -----------------------------------------------------------------------------------------------------------


def _paused(resources: Resources, name: str) -> tuple[Exporter, Position]:
    """Raises ExporterNotFound, ExporterNotPaused."""
    seen = read_exporter(resources, name)
    progress = read_progress(resources, name)
    if progress.state is not ExporterState.PAUSED:
        raise ExporterNotPaused(exporter=name)
    return seen, progress.position


def _check_open(resources: Resources) -> None:
    """Raises ExportersClosed."""
    if why := resources.options.no_exporters:
        raise ExportersClosed(why=why)


def _turn(resources: Resources, name: str, is_due: Callable[[ExporterState], bool], state: ExporterState) -> None:
    _check_open(resources)

    def attempt() -> None:
        seen = read_exporter(resources, name)
        if is_due(read_progress(resources, name).state):
            _write(resources, seen, seen, state=state)

    until_committed(resources, UPDATING, attempt)


def _merged(resources: Resources, seen: Exporter, offered: Mapping[str, str]) -> dict[str, str]:
    """The settings that are offered, with what is stored for those that are offered hidden.

    Stored credentials belong to the address that they were given for: beside another one they are left out.
    """
    hidden = [name for name, said in secret(offered).items() if said == HIDDEN]
    merged = {name: said for name, said in offered.items() if name not in hidden}
    if hidden and offered.get(URL) == seen.config.get(URL):
        stored = secret_settings(resources.secrets, seen)
        merged |= {name: stored[name] for name in hidden if name in stored}
    return merged


def _check_ends(resources: Resources, wanted: Exporter, settings: Callable[[], Mapping[str, str]]) -> None:
    """Asks the destination, where that matters. One that does not answer passes: each turn of the exporter asks, too.

    settings: reads all of its config. Raises InvalidExporterConfig, StoreError.
    """
    if why := endless(wanted, resources.itself.name):
        config = settings()
        with effort.waiting():
            answers = resources.itself.answers_at(config)
        if answers:
            raise InvalidExporterConfig(why=why.format(shown=config[URL]))


def _write_settings(
    resources: Resources, seen: Exporter | None, wanted: Exporter, config: Mapping[str, str]
) -> Exporter:
    """With its config, of which the secret part is put aside before. Raises InvalidExporterConfig, Conflict."""
    check_config(config)
    _check_ends(resources, wanted, lambda: config)
    hidden = secret(config)
    place = nonce() if hidden else ""
    wanted = replace(wanted, config=plain(config), hidden=tuple(sorted(hidden)), credentials=place)
    if hidden:
        resources.secrets.put(SecretName(wanted.name, place), Credentials(hidden))
    try:
        return _write(resources, seen, wanted)
    except Conflict:
        _forget(resources, wanted)
        raise


def _write(
    resources: Resources,
    seen: Exporter | None,
    wanted: Exporter,
    *,
    state: ExporterState | None = None,
    position: Position | None = None,
) -> Exporter:
    """A new exporter starts; another one is paused, unless a state is given. position: another one than it has."""
    if state is None:
        state = ExporterState.STARTING if seen is None else ExporterState.PAUSED
    ts, mark = resources.clock.now(), nonce()
    written = replace(wanted, ts=ts, revision=mark)
    commit(resources, ExporterChanged(written.name, seen, written, ts, mark, state, position))
    if seen is not None and seen.credentials != written.credentials:
        _forget(resources, seen)
    return written


def _forget(resources: Resources, exporter: Exporter) -> None:
    """What cannot be deleted now stays behind, and no exporter names it."""
    if exporter.credentials:
        with suppress(StoreError):
            resources.secrets.delete(SecretName(exporter.name, exporter.credentials))
