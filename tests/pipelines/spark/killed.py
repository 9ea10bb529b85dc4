"""A job that is killed at a step of its first batch, with Spark and all: what a machine that goes away looks like.

python -m tests.pipelines.spark.killed before|after CONFIG      the manifest is put
"""

import os
import signal
import sys

from sigla_pipelines.land import job
from sigla_pipelines.land.manifest import Manifest, Manifests

put = Manifests.put


def before(_: Manifests, __: Manifest) -> Manifest:
    os.killpg(0, signal.SIGKILL)
    raise AssertionError


def after(self: Manifests, manifest: Manifest) -> Manifest:
    put(self, manifest)
    return before(self, manifest)


if __name__ == "__main__":
    setattr(Manifests, "put", {"before": before, "after": after}[sys.argv[1]])  # noqa: B010 - a method, not an attribute
    sys.exit(job.main(sys.argv[2:]))
