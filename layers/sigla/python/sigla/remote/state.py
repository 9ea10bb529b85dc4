"""The state that another registry answers from, read through its API.

Karapace and old releases of Confluent's lack some of the API; what they lack has the value that it has by default.
What an API does not tell is not in it: ids without a holder; but for Sigla's also settings of subjects without a
version, and whether a global setting is set or is only the default.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any
from urllib.parse import quote

from sigla import records
from sigla.contract import DEFAULT_LEVEL, READWRITE
from sigla.journal import replay
from sigla.journal.replay import State, TopicRecord
from sigla.model import GLOBAL, REGISTRY_WIDE, BodyKey, Config, SchemaId, Subject
from sigla.ports.clock import Clock
from sigla.ports.progress import Progress, unseen
from sigla.remote import associations
from sigla.remote import keys as keys_of_fields
from sigla.remote.client import Remote
from sigla.remote.failures import NoRegistry, RemoteMisused, WrittenMeanwhile
from sigla.rules import names

PAGE = 1000
"""Schemas of an answer: the reference's default, and its most."""
SETTINGS = "/settings"
"""Sigla's own list of what is set, scope by scope."""
EVERYWHERE = ":*:"
NOBODYS = ":.~:~"
"""A subject in no part of a registry: who may ask for it may ask for all. To others lists would leave out the rest."""
INSIDE = "/contexts/"
"""What a path to one context has, whose settings would be answered where those of all are asked for."""

ALWAYS_ANSWERED = {GLOBAL: (Config(level=DEFAULT_LEVEL), READWRITE)}
"""Scopes that answer with a default where nothing is set: what is not told from the default is not set here."""
ALWAYS_ANSWERED[REGISTRY_WIDE] = ALWAYS_ANSWERED[GLOBAL]

Json = dict[str, Any]


def read(
    url: str,
    user: str,
    clock: Clock,
    progress: Progress = unseen,
    *,
    page: int = PAGE,
    behind: Callable[[int], object] = lambda _: None,
) -> State:
    """What the registry at a URL holds. user: `name:secret`, where the URL has none.

    page: schemas, or scopes, of an answer; 2 at least. behind: gets by how many milliseconds that may be behind what is
    written elsewhere. Raises RemoteMisused, RemoteRefused.
    """
    remote = Remote(url, user, clock)
    whole, inside, _ = remote.shown.partition(INSIDE)
    if inside:
        raise RemoteMisused(f"A registry is imported whole, with all of its contexts: give {whole}.")
    try:
        found = _state(remote, progress, page)
    except (LookupError, TypeError, AttributeError, ValueError, RecursionError):
        raise NoRegistry(f"{remote.shown} answers, but not as a schema registry does.") from None
    finally:
        remote.close()
    behind(remote.behind_ms)
    return found


@dataclass(frozen=True, slots=True)
class Api:
    """What a registry can be asked for.

    Karapace has no contexts; Confluent's had none before 7.0, and no lists of schemas before 5.5.

    contexts: None if the registry has none. mode: what a subject may answer that has no mode of its own; None: nothing.
    """

    contexts: Sequence[str] | None
    lists_schemas: bool
    mode: str | None

    @property
    def everywhere(self) -> Mapping[str, str]:
        """What to ask a list for, so that it tells of all contexts."""
        return {} if self.contexts is None else {"subjectPrefix": EVERYWHERE}


def api_of(remote: Remote) -> Api:
    contexts = remote.find("/contexts")
    # Karapace answers for every subject that it may be written to, whether that was set or not.
    mode = READWRITE if contexts is None and _mode(remote, "/mode") in (None, READWRITE) else None
    return Api(contexts, remote.find("/schemas", limit=1) is not None, mode)


def _state(remote: Remote, progress: Progress, page: int) -> State:
    api = api_of(remote)
    found = _schemas(remote, api, progress, page) if api.lists_schemas else schemas_one_by_one(remote, progress)
    schemas = _as_written(remote, found, progress)
    remote.get(f"/subjects/{quote(NOBODYS, safe='')}/versions")
    contexts = [name for name in api.contexts or () if name != GLOBAL.context]
    subjects = list(dict.fromkeys(each["subject"] for each in schemas))
    if set(subjects) != set(remote.get("/subjects", **api.everywhere, deleted="true") or ()):
        raise _written_meanwhile(remote)
    registry_wide = [] if api.contexts is None else [REGISTRY_WIDE]
    scopes = [GLOBAL, *registry_wide, *(Subject(name, "") for name in contexts), *map(names.subject, subjects)]
    records_found = [replay.from_answer(each) for each in schemas]
    records_found += [TopicRecord(*records.context_record(name, listed=True), 0, 0) for name in contexts]
    records_found += _what_is_set(remote, api, page, scopes, progress)
    records_found += associations.read(remote, progress)
    records_found += keys_of_fields.read(remote, progress)
    state = replay.replayed(record._replace(offset=offset) for offset, record in enumerate(records_found))
    keys = [BodyKey(context, id) for context, id in state.highest.items()]
    return replace(state, highest=dict(remote.many(partial(_highest, api=api), keys, "counters", progress)))


def _as_written(remote: Remote, schemas: Sequence[Json], progress: Progress) -> list[Json]:
    """As they were written, as far as is known. The id that stands for a content comes last of its ids (JRN-5).

    Times do not tell that id: a version that is deleted gets another one.
    """
    ids: dict[str, set[BodyKey]] = defaultdict(set)
    for each in schemas:
        ids[each.get("guid") or ""].add(_body_key(each))
    several = [guid for guid, keys in ids.items() if guid and len(keys) > len({key.context for key in keys})]
    standing = set(chain.from_iterable(remote.many(_known_ids, several, "ids", progress)))

    def order(each: Json) -> tuple[bool, int, int]:
        return (each.get("guid"), _body_key(each)) in standing, each.get("ts") or 0, each["version"]

    return sorted(schemas, key=order)


def _body_key(schema: Json) -> BodyKey:
    return BodyKey(names.subject(schema["subject"]).context, schema["id"])


def _known_ids(remote: Remote, guid: str) -> list[tuple[str, BodyKey]]:
    """By which id a content is known in each context; nothing where the registry does not tell that."""
    found = remote.find(f"/schemas/guids/{quote(guid, safe='')}/ids") or ()
    return [(guid, BodyKey(each["context"], each["id"])) for each in found]


def _schemas(remote: Remote, api: Api, progress: Progress, page: int) -> list[Json]:
    """Every version; of those that are soft-deleted, `deleted` says so."""
    found = listed_schemas(remote, api, progress, page, deleted="true")
    if any("deleted" in each for each in found.values()):
        return list(found.values())
    # A registry of old lists soft-deleted versions like all others.
    live = listed_schemas(remote, api, progress, page)
    return [{**each, "deleted": place not in live} for place, each in found.items()]


def listed_schemas(
    remote: Remote, api: Api, progress: Progress, page: int, **query: str
) -> dict[tuple[str, int], Json]:
    """Versions by subject and number: page by page, until one has nothing new."""
    found: dict[tuple[str, int], Json] = {}
    known = -1
    while known < len(found):
        known = len(found)
        answer = remote.get("/schemas", **api.everywhere, **query, offset=known, limit=page)
        found |= {(each["subject"], each["version"]): each for each in answer or ()}
        progress("schemas", len(found))
    return found


def schemas_one_by_one(remote: Remote, progress: Progress) -> list[Json]:
    """As `_schemas`, where there is no list of them."""
    subjects = remote.get("/subjects", deleted="true") or ()
    places = [place for some in remote.many(_versions_of, subjects, "subjects", progress) for place in some]
    return list(remote.many(_version, places, "schemas", progress))


def _versions_of(remote: Remote, subject: str) -> list[tuple[str, int, bool]]:
    """Each version of a subject, and whether it is soft-deleted."""
    path = f"/subjects/{quote(subject, safe='')}/versions"
    live = remote.get(path) or ()
    return [(subject, version, version not in live) for version in remote.get(path, deleted="true") or live]


def _version(remote: Remote, place: tuple[str, int, bool]) -> Json:
    subject, version, deleted = place
    answer: Json | None = remote.get(f"/subjects/{quote(subject, safe='')}/versions/{version}", deleted="true")
    if answer is None:
        raise _written_meanwhile(remote)
    return {**answer, "deleted": deleted}


def _what_is_set(
    remote: Remote, api: Api, page: int, scopes: Sequence[Subject], progress: Progress
) -> Iterator[TopicRecord]:
    """All that is set, where the registry lists that; else what is set for the scopes."""
    settings_of(remote, GLOBAL, api=api)  # another server may answer with an empty list, and has none of these
    listed = _listed_settings(remote, page, progress)
    if listed is None:
        for some in remote.many(partial(settings_of, api=api), scopes, "settings", progress):
            yield from some
        return
    for each in listed:
        scope = names.subject(each["subject"])
        if "config" in each:
            yield TopicRecord(*records.config_record(scope, each["config"]), 0, 0)
        if "mode" in each:
            yield TopicRecord(*records.mode_record(scope, each["mode"]), 0, 0)


def _listed_settings(remote: Remote, page: int, progress: Progress) -> list[Json] | None:
    """None where the registry has no such list. Each page begins with the last scope of the one before."""
    found: list[Json] = []
    while True:
        known = max(len(found) - 1, 0)
        answer = remote.find(SETTINGS, subjectPrefix=EVERYWHERE, offset=known, limit=page)
        if answer is None:
            return None
        if found and (not answer or answer[0]["subject"] != found[-1]["subject"]):
            raise _written_meanwhile(remote)
        found[known:] = answer
        progress("settings", len(found))
        if len(answer) < page:
            return found


def settings_of(remote: Remote, scope: Subject, *, api: Api) -> list[TopicRecord]:
    """What is set for the scope itself."""
    place = f"/{quote(scope.qualified, safe='')}" if scope != GLOBAL else ""
    config, mode = remote.get(f"/config{place}"), _mode(remote, f"/mode{place}")
    default_config, default_mode = ALWAYS_ANSWERED.get(scope, (None, api.mode))
    found = []
    if config is not None and records.config(config) != default_config:
        found.append(records.config_record(scope, config))
    if mode is not None and mode != default_mode:
        found.append(records.mode_record(scope, mode))
    return [TopicRecord(*pair, 0, 0) for pair in found]


def _mode(remote: Remote, path: str) -> str | None:
    """None where nothing is set, and where the registry knows no modes."""
    answer = remote.find(path)
    return None if answer is None else answer["mode"]


def _highest(remote: Remote, key: BodyKey, *, api: Api) -> tuple[str, SchemaId]:
    """The highest id that a context ever had. key: the highest of its schemas."""
    scope = {} if api.contexts is None else {"subject": Subject(key.context, "").qualified}
    answer = remote.get(f"/schemas/ids/{key.id}", **scope, **replay.ASK_HIGHEST)
    return key.context, replay.highest_of(answer or {}, key.id)


def _written_meanwhile(remote: Remote) -> WrittenMeanwhile:
    return WrittenMeanwhile(f"{remote.shown} was written to while it was read: make it READONLY and begin again.")
