"""Which registry a command works on without a server: a directory, or a bucket and a table."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sigla.cli.misuse import Misuse, Refused
from sigla.terminal.addresses import add_address_options, address_of

AWS_CLIENT = frozenset({"boto3", "botocore", "jmespath", "s3transfer"})
"""What the extra `aws` brings."""
INSTALL = "pip install 'sigla-registry[aws]'"

if TYPE_CHECKING:
    from sigla.ports.store import Store
    from sigla.settings import Address


def add_to(parser: argparse.ArgumentParser) -> None:
    add_address_options(parser, default=Path("data"))


def address(args: argparse.Namespace, *, bodies_alone: bool = False) -> "Address":
    """The address, as `address_of` finds it. Raises Misuse."""
    from sigla.settings import InvalidSetting

    try:
        return address_of(args, bodies_alone=bodies_alone)
    except InvalidSetting as half:
        raise Misuse(str(half)) from None


def of_url(url: str) -> "Address":
    """The store that --store names, of whatever registry. Raises Misuse."""
    from sigla.settings import InvalidSetting
    from sigla.terminal.addresses import address_of_url

    try:
        return address_of_url(url)
    except InvalidSetting as wrong:
        raise Misuse(str(wrong)) from None


def tell_lost_catalog(held: "Store", where: "Address") -> None:
    """Tells it on standard error. It may be meant: a journal is imported into a new table beside its bucket."""
    from sigla.upkeep.claiming import has_lost_its_catalog

    if has_lost_its_catalog(held):
        print(
            f"sigla: {where} has bodies, but the catalog knows nothing of this registry. If an import was cut off, it "
            "goes on when it is run again. Else check that it is the right one. If it was lost, restore it from its "
            "backup (docs/deploy.md#restoring), or import the journal or a dump.",
            file=sys.stderr,
        )


def _reason(failure: Exception) -> str:
    """What the system said, as far as the failure does not say it already."""
    from sigla.errors import Unusable

    if isinstance(failure, Unusable):
        return ""  # it says all, and what is below it may be the page of a proxy
    cause = failure.__cause__
    said = (cause.strerror if isinstance(cause, OSError) else None) or str(cause or "")
    return f" ({said})" if said not in str(failure) else ""


@contextmanager
def explained(where: "Address | str") -> Iterator[None]:
    """where: as people call it. What hinders the work there becomes one sentence. Raises Misuse, Refused."""
    from sigla.errors import BodyLost, StoreError, Unusable
    from sigla.regions.refusals import IdMayBeGiven, NoBlock
    from sigla.settings import InvalidSetting
    from sigla.stores.not_opened import DataNotOpened

    try:
        yield
    except (DataNotOpened, InvalidSetting) as problem:
        raise Misuse(str(problem)) from None
    except ModuleNotFoundError as missing:
        if missing.name not in AWS_CLIENT:
            raise  # whatever else is missing, an installation is broken
        raise Misuse(
            f"A registry in AWS needs the AWS client, and {missing.name} is not installed: {INSTALL}."
        ) from None
    except NoBlock as told:
        raise Refused(
            f"In {where}: {told.message}. Commands do not ask a region that follows a directory. If it can begin anew "
            "afterwards, give it up with `sigla regions dismiss` first."
        ) from None
    except IdMayBeGiven as told:
        raise Refused(f"In {where}: {told.message}.") from None
    except BodyLost as lost:
        raise Refused(f"In {where} {lost}: run sigla scrub, which names its versions and the remedy.") from None
    except StoreError as failure:
        cause = _reason(failure)
        kind = Misuse if isinstance(failure, Unusable) else Refused
        said = " ".join(f"In {where} {failure}{cause}".split())
        raise kind(said.rstrip(".") + ".") from None
    except BrokenPipeError:
        raise  # who reads what is told here has gone away
    except OSError as failure:
        raise Misuse(f"{failure.filename or where} cannot be used ({failure.strerror}).") from None
