"""`sigla serve` of a region that was passed over: what the directory has is replaced by a copy, and it follows."""

import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sigla.cli.misuse import Misuse
from sigla.errors import Refusal, StoreError

if TYPE_CHECKING:
    from sigla.second_region import OtherRegion
    from sigla.settings import Address

FIRST_PAUSE_S: Final = 0.5
LONGEST_PAUSE_S: Final = 10.0
"""Between two tries to copy a primary that does not answer."""


def served_again(serve: Callable[[], None], address: "Address", region: "OtherRegion") -> None:
    """Serves, and once more with a copy, as often as the data say so. Raises Misuse, and what `serve` raises."""
    from sigla.backups.joining import change_places, is_copied
    from sigla.second_region import BeginsAnew

    directory = Path(address.path)
    if is_copied(directory):  # it was killed when the copy took its place
        change_places(directory)
    while True:
        try:
            serve()
        except BeginsAnew as anew:
            _copy(address, region, anew.url)
            if anew.handed_over:
                return  # the supervisor starts it again, with its sockets
        else:
            return


def _copy(address: "Address", region: "OtherRegion", url: str) -> None:
    """Tries until the primary answers. Raises Misuse for what a person has to put right."""
    from sigla.backoff import Backoff
    from sigla.backups.contents import NotABackup
    from sigla.backups.joining import join_anew
    from sigla.ports.progress import unseen
    from sigla.regions.refusals import NotFollowed
    from sigla.remote.failures import RemoteMisused
    from sigla.remote.primary import RemotePrimary
    from sigla.stores.clock import SystemClock
    from sigla.stores.not_opened import DataNotOpened

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    clock, lost, said = SystemClock(), 0, ""
    backoff = Backoff(clock, FIRST_PAUSE_S, LONGEST_PAUSE_S)
    while True:
        try:
            before = join_anew(address, RemotePrimary(url, region.user, clock), url, unseen)
        except (StoreError, NotFollowed) as silence:
            if said != (said := silence.message if isinstance(silence, NotFollowed) else str(silence)):
                print(f"sigla: {said}; this registry begins anew with a copy of it, and waits.", file=sys.stderr)
            threading.Event().wait(backoff.most_s(lost))
            lost += 1
        except (RemoteMisused, NotABackup, DataNotOpened, Refusal, OSError) as problem:
            raise Misuse(f"{str(problem).removesuffix('.')}.") from None
        else:
            print(f"sigla: {address.path} has a copy of {url} now; {before} has what was there.", file=sys.stderr)
            return
