"""Goes on with a run of tests after one of its processes has crashed.

pytest-xdist gives what a crashed worker had left to the others, and with it each file that it had finished. A worker
that is given a finished file has nothing to tell, so it is given no other one, and the run waits for ever. It waits for
ever, too, when a worker is given one test alone: a worker begins a test when it knows the one after it, or the end.
"""

from typing import TYPE_CHECKING

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController


class Files(LoadFileScheduling):  # type: ignore[misc]  # pytest-xdist ships no types
    """`--dist loadfile`, where a worker may crash at any moment."""

    def remove_node(self, node: "WorkerController") -> str | None:
        files = self.assigned_work[node]
        self.assigned_work[node] = {file: tests for file, tests in files.items() if not all(tests.values())}
        crashed_at: str | None = super().remove_node(node)
        return crashed_at

    def _reschedule(self, node: "WorkerController") -> None:
        if node not in self.registered_collections:  # it has crashed, and the one in its place is still collecting
            return
        super()._reschedule(node)
        while not node.shutting_down and self._pending_of(self.assigned_work[node]) < 2:
            super()._reschedule(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Files | None:
    return Files(config, log) if config.getvalue("dist") == "loadfile" else None
