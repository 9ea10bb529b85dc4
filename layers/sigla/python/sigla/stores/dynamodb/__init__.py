"""The catalog in DynamoDB: ids, versions, settings and the journal in one table. Bodies are in `stores/s3`."""
