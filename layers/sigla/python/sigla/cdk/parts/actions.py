"""Actions of AWS that several functions are allowed, and the kinds of objects that they are allowed on."""

OBJECTS = ("schemas", "guids")
"""Kinds of objects that two regions have alike."""

HANDED = "handed"
"""Commits of keys that one region has handed to the other one."""

READ = ("dynamodb:BatchGetItem", "dynamodb:Query")
ROWS = (
    "dynamodb:BatchGetItem",
    "dynamodb:BatchWriteItem",
    "dynamodb:ConditionCheckItem",
    "dynamodb:DeleteItem",
    "dynamodb:PutItem",
    "dynamodb:Query",
    "dynamodb:UpdateItem",
)

# To whom Lambda hands the records of a stream.
STREAM = ("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams")
