"""A registry of `sigla serve` and another region: as its data say, it may be followed, or it follows."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from sigla.auth.credentials import Authenticator
from sigla.auth.guesses import Guesses
from sigla.observe import Teller
from sigla.regions.followed import Followed, PolledFollower
from sigla.regions.handing import HandsOver
from sigla.regions.installed import Installed
from sigla.regions.installed_here import installed_here
from sigla.regions.nouns import RegionKind, Role
from sigla.regions.refusals import NotFollowed
from sigla.remote.failures import RemoteMisused
from sigla.remote.region import RemoteRegion
from sigla.second_region.control import ServedRegion
from sigla.second_region.keeper import BeginsAnew, Exporters, RegionKeeper
from sigla.second_region.metrics import region_lines
from sigla.second_region.views import ServedRegionViews
from sigla.stores.not_opened import DataNotOpened
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web.local.leading import Leading
from sigla.web.local.regions import RegionOfServer
from sigla.web.local.role_tables import RoleTables

__all__ = [
    "OPEN_WITH_CREDENTIALS",
    "BeginsAnew",
    "OtherRegion",
    "begin_exporters",
    "followed",
    "installed_here",
    "region_of_server",
]

OPEN_WITH_CREDENTIALS: Final = (
    "This server asks for no keys and has credentials for the other region (SIGLA_USER): whoever reaches it could have "
    "them sent to another address. Start it with --auth, or without them where the other region asks for no keys."
)


class OtherRegion(NamedTuple):
    """What the command says of another region.

    copy: fills a file with a backup, for one that follows. url, user: of the one that is followed, with NAME:SECRET;
    the URL is empty where the data say it.
    """

    copy: Callable[[Path], None]
    url: str = ""
    user: str = ""


def begin_exporters(store: EmbeddedStore, exporters: Exporters, *, is_kept: bool) -> None:
    """is_kept: whether a keeper begins those of two regions, once it has looked whether the other one takes writes."""
    role = store.region.role()
    if role is None or (role.writes and not is_kept):
        exporters.start()


def polled_follower(store: EmbeddedStore) -> PolledFollower:
    """The region that follows the registry of a directory."""

    def is_alone() -> bool:
        role = store.region.role()
        return role is not None and (role.is_alone or (role.writes and role.reconciled and not role.is_followed))

    return PolledFollower(store.clock, is_alone)


def followed(store: EmbeddedStore, follower: PolledFollower) -> Followed:
    """The registry of a directory, as another region follows it."""
    region, journal = store.region, store.journal
    return Followed(
        region, store.shipper(), follower, store.clock, place=journal.place, end=journal.end, counters=region.counters
    )


def region_of_server(
    store: EmbeddedStore,
    said: OtherRegion,
    authenticate: Authenticator | None,
    guesses: Guesses | None,
    *,
    exporters: Exporters,
    served: str,
    tell: Teller,
    until: ExitStack,
    required: bool = False,
    installed: Installed,
) -> RegionOfServer:
    """What a server has of another region, as the data of its registry say. until: ends what was begun.

    authenticate, guesses: of the API. served: the URL of this server, for the primary that it follows. required: as of
    `HandsOver`. installed: what this server runs.

    Raises BeginsAnew, DataNotOpened.
    """
    role = store.region.role()
    said = _to_be_used(said, store, role, is_open=authenticate is None, tell=tell)
    polled = polled_follower(store)
    leading = Leading(followed(store, polled), said.copy, authenticate, guesses, store.clock)
    store.follow_ceilings(polled)
    store.on_committed(leading.wake)
    store.on_role_changed(leading.hear)
    over = HandsOver(polled, role, required=required, tell=tell)
    store.on_role_changed(over.hear)
    store.hand_over(over)
    tables = RoleTables(store.journal.end, store.region.look, store.inventory.buried)
    other = partial(RemoteRegion, credentials=said.user, clock=store.clock)
    keeper = RegionKeeper(
        store, tables, exporters, polled=polled, other=other, user=said.user, served=served, tell=tell
    )
    until.callback(keeper.stop)
    _begin(keeper, store, role, said.url)
    control = ServedRegion(store, keeper, polled=polled, other=other, user=said.user, installed=installed)
    views = ServedRegionViews(store, control, other)
    return RegionOfServer(
        tables.table,
        leading.routes(),
        partial(region_lines, polled, over, keeper),
        control,
        lambda: views,
        leading.close,
        lambda: keeper.begins_anew,
    )


def _to_be_used(
    said: OtherRegion, store: EmbeddedStore, role: Role | None, *, is_open: bool, tell: Teller
) -> OtherRegion:
    """What the command says of the other region, as far as that counts. Raises DataNotOpened."""
    if is_open and said.user:
        if said.url or role is not None:
            raise DataNotOpened(OPEN_WITH_CREDENTIALS)
        said = said._replace(user="")  # for another command, perhaps: an open server has none to send anywhere
    if said.url and role is None:
        raise DataNotOpened(
            f"The registry in {store.path} is not empty, and never followed: choose an empty directory with --data."
        )
    if said.url and role is not None and role.kind is RegionKind.PRIMARY:
        tell({"event": "region-primary", "epoch": role.epoch, "ignored": f"--follow {said.url}"})
    return said


def _begin(keeper: RegionKeeper, store: EmbeddedStore, role: Role | None, url: str) -> None:
    """Raises BeginsAnew, DataNotOpened."""
    try:
        keeper.begin(role, url)
    except NotFollowed as refused:
        raise DataNotOpened(refused.message) from None
    except RemoteMisused as wrong:
        if url:
            raise DataNotOpened(str(wrong)) from None
        raise DataNotOpened(
            f"The registry in {store.path} follows another one, and its data do not say where that is served: give "
            "its URL with --follow."
        ) from None
