"""`sigla apply`: has a registry be as the files say."""

import argparse
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sigla.cli import compared, credentials, place, plan, progress, pruned
from sigla.cli.asking import add_yes_option, asking
from sigla.cli.misuse import Misuse, reading_remote

if TYPE_CHECKING:
    from sigla.cli.pruned import UsageOf
    from sigla.model import Subject
    from sigla.ports.progress import Progress
    from sigla.registry import Options
    from sigla.schema_files.applying import Target
    from sigla.schema_files.facts import RegistryFacts

DESCRIPTION = """\
Does what `sigla plan` shows: in the order of references, subject by subject, each change only if its subject is still
as it was when the plan was made. It stops at the first that is not, and says what is done and what is not; applying
again does the rest.

  sigla apply --registry URL           shows the plan, asks, and does it
  sigla apply --registry URL --yes     without asking, as in CI
"""

EPILOG = """\
0: the registry is as the files say. 1: not all of it is done: something was refused, has changed meanwhile, or the
registry does not answer. 2: nothing was done: a mistake in the command or a file.
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "apply",
        help="has a registry be as the files of sigla.yaml say",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    plan.add_plan_options(parser)
    compared.add_options(parser, revisions=False, dumps=False)
    add_yes_option(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Raises Misuse, Refused."""
    from sigla.schema_files.applying import Applied, apply_steps
    from sigla.schema_files.plan_reports import applied_form, applied_text
    from sigla.stores.clock import SystemClock

    known = plan.read_declared(args)
    with progress.shown() as told, _opened_target(args, told) as (facts, options, target, usage_of):
        found = plan.planned(args, known, facts, options, told)
        remarks = plan.remarks_on_files(args, known, facts)
        if not found.is_accepted or not found.steps:
            plan.print_plan(args, found, facts, remarks)
            return int(not found.is_accepted)
        if not args.json:
            plan.print_plan(args, found, facts, remarks)
        if not asking(args)(pruned.question(found.steps, usage_of, facts.shown)):
            print("Nothing was done.")
            return 1
        total = len(found.steps)
        applied: Applied = apply_steps(target, found.steps, SystemClock(), lambda done: told("changes", done, total))
    print(json.dumps(applied_form(applied, facts.shown)) if args.json else applied_text(applied, facts.shown))
    return int(applied.stopped is not None)


class _Opened(NamedTuple):
    facts: "RegistryFacts"
    options: "Options"
    target: "Target"
    usage_of: "UsageOf"


@contextmanager
def _opened_target(args: argparse.Namespace, told: "Progress") -> Iterator[_Opened]:
    """Raises Misuse, Refused."""
    if args.data:
        with _directory(args.data) as opened:
            yield opened
        return
    url = compared.url_of(args)
    if not url:
        raise Misuse("Nothing to apply to: give --registry URL (or set SIGLA_URL) or --data DIR.")
    with _behind_url(args, url, told) as opened:
        yield opened


@contextmanager
def _directory(directory: Path) -> Iterator[_Opened]:
    from sigla import opening
    from sigla.schema_files.store_facts import StoredRegistry
    from sigla.schema_files.store_target import StoreTarget
    from sigla.settings import Address

    address = Address.of(str(directory))
    options = compared.as_served_here()
    with place.explained(address), opening.writing(address, "apply") as (registry, store):
        facts = StoredRegistry(store.catalog, store.bodies, str(address))
        yield _Opened(facts, options, StoreTarget(registry), partial(pruned.usage_in_store, registry))


@contextmanager
def _behind_url(args: argparse.Namespace, url: str, told: "Progress") -> Iterator[_Opened]:
    from sigla.registry import Options
    from sigla.registry.conditions import state_tag
    from sigla.remote.client import Remote
    from sigla.schema_files.remote_facts import RemoteRegistry
    from sigla.schema_files.remote_target import RemoteTarget
    from sigla.schema_files.scratch import scratch
    from sigla.stores.clock import SystemClock

    user = credentials.user_of(args, url)
    options = Options()
    with reading_remote(), closing(Remote(url, user, SystemClock())) as remote:
        facts = RemoteRegistry(remote, told)

        def tag_now(scope: "Subject") -> str:
            with scratch(RemoteRegistry(remote), options) as scratched:
                view = scratched.look(scope)
                return state_tag(view.head, view.chain.own)

        target = RemoteTarget(remote, tag_now, conditional=facts.is_ours)
        yield _Opened(facts, options, target, partial(pruned.usage_behind_url, remote))
