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
from sigla.regions.follower import Here, RegionFollower, check_follows
from sigla.regions.nouns import RegionKind, Role
from sigla.stores.not_opened import DataNotOpened
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web.local import regions
from sigla.web.local.following import Following
from sigla.web.local.forwarding import Forwarding
from sigla.web.local.leading import Leading
from sigla.web.local.news import News
from sigla.web.local.regions import RegionOfServer

FAREWELL_S: Final = 5.0
"""For so long the end waits for what a follower carries out."""


class OtherRegion(NamedTuple):
    """What the command says of another region.

    copy: fills a file with a backup, for one that follows. name: of this registry, to the one that it follows. url,
    user: of that one, with NAME:SECRET; the URL is empty where the data say it.
    """

    copy: Callable[[Path], None]
    name: str
    url: str = ""
    user: str = ""


def follows(store: EmbeddedStore) -> bool:
    """Whether it is not the primary of two regions."""
    role = store.region.role()
    return role is not None and role.kind is not RegionKind.PRIMARY


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
    tell: Teller,
    until: ExitStack,
) -> RegionOfServer:
    """What a server has of another region, as the data of its registry say. until: ends what was begun.

    authenticate, guesses: of the API.

    Raises DataNotOpened.
    """
    role = store.region.role()
    follower = PolledFollower(store.clock)
    leading = Leading(followed(store, follower), said.copy, authenticate, guesses, store.clock)
    if role is not None and role.kind is not RegionKind.PRIMARY:
        return _following(store, said, role, leading, tell=tell, until=until)
    if said.url and role is None:
        raise DataNotOpened(
            f"The registry in {store.path} is not empty, and never followed: choose an empty directory with --data."
        )
    if said.url and role is not None:
        tell({"event": "region-primary", "epoch": role.epoch, "ignored": f"--follow {said.url}"})
    store.follow_ceilings(follower)
    store.on_committed(leading.wake)
    return regions.led(leading, follower, store.journal.end)


def _following(
    store: EmbeddedStore, said: OtherRegion, role: Role, leading: Leading, *, tell: Teller, until: ExitStack
) -> RegionOfServer:
    from sigla.remote.failures import RemoteMisused
    from sigla.remote.primary import RemotePrimary

    try:
        primary = RemotePrimary(said.url or role.peer, said.user, store.clock)
    except RemoteMisused as wrong:
        if said.url:
            raise DataNotOpened(str(wrong)) from None
        raise DataNotOpened(
            f"The registry in {store.path} follows another one, and its data do not say where that is served: give "
            "its URL with --follow."
        ) from None
    replayer = store.replayer(partial(check_follows, store.region, role.epoch))
    here = Here(store.region, replayer, store.group, store.journal.last_place, store.clock)
    news = News()
    follower = RegionFollower(here, primary, role, name=said.name, tell=tell, moved=news.tell)
    follower.start()
    until.callback(follower.stop, FAREWELL_S)
    forwarding = Forwarding(primary, store.clock)
    following = Following(forwarding, lambda: follower.complete_at, follower.reaches, news, store.clock)
    return regions.follows(leading, follower, following)
