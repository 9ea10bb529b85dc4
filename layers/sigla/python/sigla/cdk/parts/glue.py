"""The Glue Data Catalog, in which jobs have their Iceberg tables: what finding them and committing to them asks for."""

from aws_cdk import Aws
from aws_cdk import aws_iam as iam

from sigla.cdk.parts.functions import allow


def tables_of(database: str, *actions: str) -> list[iam.PolicyStatement]:
    """Doing this with all tables of one database; nothing without a database. Glue checks the catalog, too."""
    if not database:
        return []
    glue = f"arn:{Aws.PARTITION}:glue:{Aws.REGION}:{Aws.ACCOUNT_ID}"
    return [
        allow("Tables", *actions, on=[f"{glue}:catalog", f"{glue}:database/{database}", f"{glue}:table/{database}/*"])
    ]
