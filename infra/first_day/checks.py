"""The table of all that is asked, in the order in which it is asked."""

from typing import Final

from infra.first_day import account, doors, figures, jobs
from infra.first_day.day import Check

NO_POLICIES: Final = "because LocalStack does not enforce policies"
NOT_PLAYED: Final = "because LocalStack accepts it without emulating it"
NO_GATEWAY: Final = "because LocalStack's doors do not compress and have no limits"

CHECKS: Final = (
    # First, while no environment is warm.
    Check("many clients at once are all answered", figures.many_come_at_once, each_door=True),
    Check("a subject's name arrives as it was sent", doors.names_arrive, each_door=True),
    Check("HEAD has the headers of GET", doors.head_is_get, each_door=True),
    Check("a client that has the answer already gets 304", doors.unchanged_is_304, each_door=True),
    Check("answers are compressed as promised", doors.answers_are_packed, each_door=True, hidden=NO_GATEWAY),
    Check(
        "compressed bodies are accepted as promised",
        doors.packed_bodies_are_understood,
        each_door=True,
        hidden=NO_GATEWAY,
    ),
    Check("a body over the limit is refused with 413", doors.too_large_is_413, each_door=True),
    Check(
        "a body too large for Lambda is refused with 413, too",
        doors.much_too_large_is_413,
        each_door=True,
        hidden=NO_GATEWAY,
    ),
    Check("a request without a key is refused", doors.strangers_are_refused, each_door=True),
    Check("unknown paths and methods are refused in the envelope", doors.nonsense_is_refused, each_door=True),
    Check("reads by id are answered in time", figures.reads_are_quick, each_door=True),
    Check("registrations are answered in time", figures.writes_are_quick, each_door=True),
    Check("more requests than the door allows get 429", doors.more_is_429, each_door=True, hidden=NO_GATEWAY),
    Check(
        "a function that cannot start gives 503 with Retry-After", account.failing_functions_are_503, hidden=NOT_PLAYED
    ),
    Check("table and bucket have the deployment's identity", account.identity_is_borne),
    Check("the stack cannot be destroyed by one command", account.stack_is_protected, hidden=NOT_PLAYED),
    Check("the table is protected and can be restored", account.table_is_protected, hidden=NOT_PLAYED),
    Check("the bucket refuses a put that could replace a body", account.puts_are_conditional, hidden=NO_POLICIES),
    Check("the bucket allows no deletion", account.nothing_is_deleted, hidden=NO_POLICIES),
    Check("the bucket speaks TLS 1.2 and newer only", account.tls_is_new, hidden=NO_POLICIES),
    Check("each function starts from an active snapshot", account.snapshots_are_active, hidden=NOT_PLAYED),
    Check("GET /zones reports each zone as healthy", account.zones_are_told),
    Check("each zone runs where it was put, before its ring", account.zones_run_where_they_are_put),
    Check("what is written reaches the journal in the bucket", account.journal_is_written),
    Check("what is written reaches the bus of events", account.events_are_taken),
    Check("one job runs to its end and writes its log", jobs.one_job_runs, hidden=NOT_PLAYED),
    # Last: what was asked here must not have made one ring.
    Check("no alarm rings", account.alarms_are_quiet, hidden=NOT_PLAYED),
)
