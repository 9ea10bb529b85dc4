"""Removes files that attempts have left: of no manifest, and older than a week.

    sigla gc CONFIG [--delete]

Without --delete it only says which.
"""

import argparse
from collections.abc import Sequence
from contextlib import closing

from sigla_pipelines.exit_status import exit_status_of
from sigla_pipelines.land import gc
from sigla_pipelines.land.driver import driver, read_settings
from sigla_pipelines.land.exit_status import OWN


def main(argv: Sequence[str]) -> int:
    """0: they are gone, or were told. 1: a store does not answer. 2: it was asked for something senseless."""
    parser = argparse.ArgumentParser(
        prog="sigla gc", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("config", metavar="CONFIG", help="land.yaml, or an s3:// URL of one")
    parser.add_argument("--delete", action="store_true", help="remove the files; without it they are only listed")
    asked = parser.parse_args(argv)
    return exit_status_of(lambda: _collected(asked), OWN, again="Start the job again when it does.")


def _collected(asked: argparse.Namespace) -> int:
    with closing(driver(read_settings(asked.config))) as opened:
        found = gc.remove_orphans(opened.lake, opened.manifests, opened.now(), dry_run=not asked.delete)
    print(*(name for name, _ in found), sep="\n", end="\n" if found else "")
    print(
        f"{'removed' if asked.delete else 'to be removed'}: {len(found)} files, {sum(size for _, size in found)} bytes"
    )
    return 0
