"""Lands what is in the quarantine and can be read now.

    sigla replay CONFIG [--reason REASON …]

A schema was registered, a reader mended, a limit raised: what can be read by it is appended to the typed tables and
named in `_resolved`, the rest stays where it is. One process does it, and needs no Spark; it ignores records that
come meanwhile.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from contextlib import closing

from sigla.decoding.reasons import Reason
from sigla_pipelines.exit_status import exit_status_of
from sigla_pipelines.land.driver import driver, read_settings
from sigla_pipelines.land.exit_status import AGAIN, OWN


def main(argv: Sequence[str]) -> int:
    """0: what could be landed is. 1: it could not go on. 2: it was asked for something senseless."""
    parser = argparse.ArgumentParser(
        prog="sigla replay",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("config", metavar="CONFIG", help="land.yaml as it is now, or an s3:// URL of it")
    parser.add_argument(
        "--reason",
        metavar="REASON",
        action="append",
        default=[],
        choices=[reason.value for reason in Reason],
        help="replay only records with this reason; can be repeated",
    )
    asked = parser.parse_args(argv)
    return exit_status_of(lambda: _replayed(asked), OWN, again=AGAIN)


def _replayed(asked: argparse.Namespace) -> int:
    unbound = Counter[str]()
    with closing(driver(read_settings(asked.config))) as opened:
        manifest = opened.replay(asked.reason, unbound)
    print(f"resolved: {manifest.counts.resolved if manifest else 0}")
    for topic, records in sorted(unbound.items()):
        print(f"waiting: {records} of {topic}, which `bind` does not have")
    return 0
