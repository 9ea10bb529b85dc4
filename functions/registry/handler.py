"""The whole API as one Lambda function, behind API Gateway and behind each zone's function URL."""

from sigla import wiring

handler = wiring.lambda_handler()
