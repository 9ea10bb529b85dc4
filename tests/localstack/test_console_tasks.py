"""Every task of the console behind the doors of AWS, with a deployment that holds nothing else."""

from collections.abc import Callable, Iterator
from inspect import signature
from types import ModuleType

import pytest

from tests.browser import test_changes, test_tasks
from tests.browser.conftest import Opens
from tests.browser.filled import fill
from tests.localstack.conftest import Deployed, deployment, free_port
from tests.localstack.console import ARRIVALS, arrived, behind, carry_out

pytestmark = [pytest.mark.localstack, pytest.mark.soak]

OF_A_SERVER_ALONE = {test_tasks.test_who_changed_what_in_the_whole_registry: "in AWS no page lists all changes"}
MODULES = (test_tasks, test_changes)
"""The first one's look at a registry that the second one's change."""


def tasks(module: ModuleType) -> Iterator[Callable[..., None]]:
    for name, task in vars(module).items():
        if name.startswith("test_") and task not in OF_A_SERVER_ALONE and "come" in signature(task).parameters:
            yield task


TASKS = [(door, task) for module in MODULES for door in ARRIVALS for task in tasks(module)]


@pytest.fixture(scope="module")
def alone() -> Iterator[Deployed]:
    with deployment(free_port()) as deployed:
        fill(behind(deployed, "function"))
        yield deployed


@pytest.mark.parametrize(
    "door, task", [pytest.param(door, task, id=f"{door}-{task.__name__.removeprefix('test_')}") for door, task in TASKS]
)
def test_a_task_is_done_behind_the_doors_of_aws(
    task: Callable[..., None], door: str, opened: Opens, alone: Deployed
) -> None:
    carry_out(task, *arrived(opened, alone, door))


def test_there_are_twenty_five_tasks_at_least() -> None:
    assert len(TASKS) >= 25 * len(ARRIVALS)
