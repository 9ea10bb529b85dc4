"""What jobs cost while they find little to do: the page shows what is computed."""

from pathlib import Path

from infra import prices, usage
from tests.infra.reading import Template

DEPLOY = (Path(__file__).parents[2] / "docs" / "deploy.md").read_text(encoding="utf-8")
HOURLY, QUARTERLY = 730, 4 * 730


def test_the_page_shows_what_jobs_cost(jobs: Template) -> None:
    """While they find little to do; each hour is the default."""
    scrubs, days = round(730 / (7 * 24)), 730 // 24
    rows = [
        ("landing each hour, two minutes a run", HOURLY, HOURLY * usage.run("land")),
        ("landing each quarter of an hour", QUARTERLY, QUARTERLY * usage.run("land")),
        ("upkeep of tables each day, five minutes a run", days, days * usage.run("maintain")),
        ("a scrub each week, ten minutes a run", scrubs, scrubs * usage.run("scrub")),
        ("metrics in alarms of jobs", 3, 3 * prices.ALARM),
        ("metrics of landing", 2, 2 * usage.METRIC),
    ]
    for what, count, dollars in rows:
        assert f"| {what} | {count} | {dollars:.2f} |" in DEPLOY


def test_runs_that_a_schedule_starts_are_counted(jobs: Template) -> None:
    """They are paid while the registry gets no requests."""
    counted = {item.what: item.count for item in prices.idle(jobs)}
    assert counted["runs of land that find little to do"] == HOURLY
    assert counted["runs of maintain that find little to do"] == 30
    assert counted["runs of scrub that find little to do"] == 4
    assert counted["runs of audit that find little to do"] == 30, "a calendar is taken for once a day"
