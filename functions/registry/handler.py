"""The whole API as one Lambda function, behind API Gateway and behind each zone's function URL."""

import gc

# Nothing that is imported is ever garbage; to look for some in it, again and again, is an eighth of a start.
gc.disable()

from sigla import wiring  # noqa: E402 - what is made before this line is all that is looked through

handler = wiring.lambda_handler()

gc.freeze()  # nor is it looked through in the first request
gc.enable()
