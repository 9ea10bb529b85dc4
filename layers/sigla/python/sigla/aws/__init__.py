"""The stores in the customer's account: a catalog and its journal in DynamoDB, bodies as objects in S3."""
