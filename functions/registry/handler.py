"""The whole API as one Lambda function, behind API Gateway and behind each zone's function URL."""

import os

from sigla import wiring
from sigla.web import gateway

handler = gateway.handler(wiring.lambda_registry(os.environ))
