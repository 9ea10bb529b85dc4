"""`sigla serve`: a registry on this machine."""

import argparse
import sys
from collections.abc import Callable, Mapping
from itertools import zip_longest
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sigla import __version__
from sigla.cli.credentials import add_user_option, user_of
from sigla.cli.misuse import Misuse
from sigla.errors import StoreError
from sigla.terminal.arguments import name_argument, path_argument

if TYPE_CHECKING:
    from sigla.second_region import OtherRegion
    from sigla.serving import Started
    from sigla.settings import Address

DESCRIPTION = """\
Serves the Confluent Schema Registry API from this machine: one process, no other service.
What it acknowledged is on disk; stop it as you like, it starts again where it was.

With --zones it plays a deployment in AWS with so many zones: an endpoint for each, on --port and those that follow,
with a cache ring (valkey-server or redis-server where there is one, else within this process) and four instances that
share it. http://127.0.0.1:8081/zones/live shows from where they have their schemas.

With --registry, again and again, it serves several registries that know nothing of each other, each in a directory of
its name below --data. Clients name theirs by the host name or behind the user, as in etl@payments (docs/registries.md).
"""

BANNER = """\
Sigla {version}: a schema registry for Kafka

  url       {urls}
{zones}{registries}  data      {data}
  access    {access}
{tls}  try       curl {options}{door}/subjects
  clients   schema.registry.url={all}
{console}  docs      {url}/docs   metrics {url}/metrics   health {url}/health

Stop with Ctrl-C.
"""

CONSOLE = """\
  console   {url}/console/
"""

ZONES = """\
  rings     {rings}
  live      {url}/zones/live   directory {url}/zones
"""

REGISTRIES = """\
  registry  {each}
"""

TLS = """\
  tls       {certificate}
"""

DISK_FULL = """
            Its disk is full: make room there, or nothing can be registered. /health/ready says 503 until then."""

HIGHEST_PORT = 65_535
MOST_ZONES = 9


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "serve",
        help="run a registry on this machine",
        description=DESCRIPTION,
        epilog=_settings_help(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--host", type=name_argument, default="127.0.0.1", help="address to listen on (default %(default)s)"
    )
    parser.add_argument("--port", type=_port, default=8081, help="port to listen on (default %(default)s; 0 for any)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--data", type=path_argument, default=Path("data"), metavar="DIR", help="the data directory (default ./data)"
    )
    where.add_argument("--memory", action="store_true", help="keep nothing: for tests and trials")
    where.add_argument("--store", type=name_argument, metavar="URL", help="the same as a URL: file:DIR or memory:")
    parser.add_argument("--auth", action="store_true", help="ask for API keys, which `sigla keys` makes")
    parser.add_argument(
        "--tls-cert",
        type=path_argument,
        metavar="FILE",
        help="speak TLS with this certificate (PEM, its chain behind it)",
    )
    parser.add_argument("--tls-key", type=path_argument, metavar="FILE", help="the key of that certificate (PEM)")
    parser.add_argument(
        "--zones", type=_zones, default=0, metavar="N", help="emulate N zones, each with a URL and a ring"
    )
    parser.add_argument(
        "--registry",
        type=name_argument,
        action="append",
        default=[],
        metavar="NAME[=HOST]",
        help="serve several registries: this one in DIR/NAME, at NAME.localhost and at this host name",
    )
    follow = parser.add_argument_group("a second region")
    follow.add_argument(
        "--follow",
        type=name_argument,
        metavar="URL",
        help="follow the registry there: an empty directory gets a copy of it, and keeps in step (docs/regions.md)",
    )
    add_user_option(follow)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Serves until it is told to stop; 0 then. Raises Misuse."""
    from sigla import wiring

    address = _address(args)
    data = None if address.scheme == "memory" else Path(address.path)
    last = args.port + max(args.zones, 1) - 1
    if last > HIGHEST_PORT:
        raise Misuse(
            f"{args.zones} zones from port {args.port} on would need port {last}; the highest is {HIGHEST_PORT}."
        )
    region = _region(args, address)
    ports = [args.port]
    announcement = _announcement(data)

    def announce(started: "Started") -> None:
        ports[:] = [urlsplit(started.urls[0]).port or args.port]
        announcement(started)

    def serve() -> None:
        wiring.serve(
            address,
            args.host,
            ports[0],
            zones=args.zones,
            registries=args.registry,
            closed=args.auth,
            tls=(args.tls_cert, args.tls_key),
            region=region,
            announce=announce,
        )

    try:
        if region is None:
            serve()
        else:
            from sigla.cli.serve_anew import served_again

            served_again(serve, address, region)
    except wiring.STARTUP_PROBLEMS as problem:
        raise Misuse(_sentence(problem, data)) from None
    return 0


def _region(args: argparse.Namespace, address: "Address") -> "OtherRegion | None":
    """Fills an empty directory that is to follow. Raises Misuse."""
    from sigla.backups import making
    from sigla.ports.progress import unseen
    from sigla.second_region import OPEN_WITH_CREDENTIALS, OtherRegion
    from sigla.settings import REMOTE_USER
    from sigla.terminal.environment import of_another_registry

    if args.zones or args.registry or address.scheme == "memory":
        if args.follow:
            raise Misuse(
                "A registry that follows is one alone, in a directory: leave out --zones, --registry and --memory."
            )
        return None

    def copy(file: Path) -> None:
        making.make(address, file, force=True, keys=True, progress=unseen)

    name, secret = map(of_another_registry, REMOTE_USER)
    user = user_of(args, args.follow or "") if args.follow or args.user else f"{name}:{secret}".strip(":")
    region = OtherRegion(copy, args.follow or "", user)
    if args.follow and user and not args.auth:
        raise Misuse(OPEN_WITH_CREDENTIALS)  # before a copy is made, by which the other region is followed
    if args.follow:
        _join(args, address, region)
    return region


def _join(args: argparse.Namespace, address: "Address", region: "OtherRegion") -> None:
    """Raises Misuse."""
    from sigla.backups.contents import NotABackup
    from sigla.backups.joining import join
    from sigla.cli import progress
    from sigla.errors import Refusal
    from sigla.remote.failures import RemoteMisused
    from sigla.remote.primary import RemotePrimary
    from sigla.stores.clock import SystemClock
    from sigla.stores.not_opened import DataNotOpened
    from sigla.stores.sqlite.reading import CATALOG

    if (Path(address.path) / CATALOG).exists():
        return  # what it is, the data say
    try:
        primary = RemotePrimary(args.follow, region.user, SystemClock())
        primary.check_copy()  # one that is silent is noticed soon: a copy takes it a while before its first byte
        with progress.shown() as told:
            join(address, primary, args.follow, told)
    except (RemoteMisused, NotABackup, DataNotOpened, StoreError, Refusal, OSError) as problem:
        if isinstance(problem, OSError):
            raise Misuse(_sentence(problem, Path(address.path))) from None
        raise Misuse(f"{str(problem).removesuffix('.')}.") from None


def _address(args: argparse.Namespace) -> "Address":
    """Raises Misuse."""
    from sigla.settings import Address, InvalidSetting

    try:
        address = Address.read(args.store) if args.store else Address.of("" if args.memory else str(args.data))
    except InvalidSetting as problem:
        raise Misuse(str(problem)) from None
    if address.scheme not in ("file", "memory"):
        raise Misuse(f"{args.store} is not on this machine: give file:DIR or memory:.")
    return address


def _sentence(problem: Exception, data: Path | None) -> str:
    if isinstance(problem, StoreError):
        cause = f" ({problem.__cause__})" if str(problem.__cause__ or "") not in str(problem) else ""
        return f"In {data} {problem}{cause}; put it right, or choose another directory with --data."
    if isinstance(problem, OSError) and problem.errno is not None:
        return f"The data cannot be kept in {data} ({problem.strerror}); choose another directory with --data."
    return str(problem)


def _announcement(data: Path | None) -> "Callable[[Started], None]":
    where = "in memory, forgotten at the end" if data is None else str(data.resolve())

    def announce(started: "Started") -> None:
        url, *_ = started.urls
        doors = _doors(started)
        # Without zones there is one address, and no name beside it.
        urls = [f"{each}   {zone}".rstrip() for each, zone in zip_longest(started.urls, started.zones, fillvalue="")]
        in_directories = f"{where}, for each registry a directory of its name" if doors and data else where
        told = BANNER.format(
            version=__version__,
            urls=f"\n{'':12}".join(urls),
            url=url,
            door=next(iter(doors.values()), url),
            options=_curl_options(started),
            all=next(iter(doors.values()), ",".join(started.urls)),
            registries=REGISTRIES.format(each=_door_lines(doors)) if doors else "",
            zones=ZONES.format(rings=started.rings, url=url) if started.zones else "",
            data=in_directories if started.writable else in_directories + DISK_FULL,
            access=started.access,
            console=CONSOLE.format(url=url) if started.console else "",
            tls=TLS.format(certificate=started.certificate) if started.certificate else "",
        )
        # Standard error: standard output is for the log, a line of JSON per request.
        print(told, file=sys.stderr, flush=True)

    return announce


def _doors(started: "Started") -> Mapping[str, str]:
    """The URL of each of several registries: with its first host name, so that no client has to name it otherwise."""
    from sigla.web.http.guard import in_authority

    parts = urlsplit(started.urls[0])
    return {
        name: f"{parts.scheme}://{in_authority(hosts[0])}:{parts.port}" for name, hosts in started.registries.items()
    }


def _door_lines(doors: Mapping[str, str]) -> str:
    width = max(map(len, doors))
    return f"\n{'':12}".join(f"{name:{width}}   {url}" for name, url in doors.items())


def _curl_options(started: "Started") -> str:
    """What curl needs to be told besides the URL."""
    trusted = f"--cacert {quote(started.trusted)} " if started.trusted else ""
    return trusted + ("-u NAME:SECRET " if started.closed else "")


def _zones(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= MOST_ZONES:
        raise argparse.ArgumentTypeError(f"invalid number of zones {text!r}: expected 1 to {MOST_ZONES}")
    return int(text)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or int(text) > HIGHEST_PORT:
        raise argparse.ArgumentTypeError(f"invalid port {text!r}: expected 0 to {HIGHEST_PORT}")
    return int(text)


def _settings_help() -> str:
    from sigla.settings import described

    lines = "\n".join(f"  {name:<36} {default}" for name, default in described())
    return f"settings (environment variables) and their defaults:\n{lines}"
