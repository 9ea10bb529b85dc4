"""An audit on EMR Serverless that leaves what it finds for `sigla usage`: what it is told, and what it may do."""

from tests.infra.reading import Template, as_list
from tests.infra.test_pipelines import granted, may, places, request


def test_an_audit_leaves_what_it_found_beside_the_registry_where_settings_say(
    jobs: Template, telling_jobs: Template
) -> None:
    """One object of one registry; it looks through what is landed, and changes none of it."""
    written_to = may(telling_jobs, "audit", "s3:PutObject")
    (beside,) = {each for each in written_to if not places({each})}
    assert beside.endswith("/orders/audit/found.jsonl.gz")
    assert places(written_to) == {"reports/*"}
    assert beside in may(telling_jobs, "audit", "s3:GetObject")
    assert places(may(telling_jobs, "audit", "s3:GetObject")) == {"raw/*", "tables/*", "reports/*", "work/*"}
    actions = {action for each in granted(telling_jobs, "audit") for action in as_list(each["Action"])}
    assert {each for each in actions if each.startswith("glue:")} == {"glue:GetDatabase", "glue:GetTable"}
    *_, out, land, file, word = request(telling_jobs, "audit")["JobDriver"]["SparkSubmit"]["EntryPointArguments"]
    assert (land, word) == ("--land", "--for-usage")
    assert file.startswith("s3://")
    assert out.startswith("s3://the-lake/reports/audit/")
    asked = request(jobs, "audit")["JobDriver"]["SparkSubmit"]["EntryPointArguments"]
    assert "--for-usage" not in asked
