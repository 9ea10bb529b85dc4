"""Every URL of a deployment, and whom AWS lets call it. Nothing else in cdk/ opens one.

    URL                       of                    reached                          settings
    RestUrl                   the REST API          from the internet                front_door.public
    DomainUrl                 the same              from the internet                front_door.domain_name
    FunctionUrl               the function          from the internet                front_door.function_url
    ZoneUrl…                  a zone's function     from the internet                front_door.zone_urls
    ZonePrivateUrl…           a zone's REST API     by the zone's endpoint alone     front_door.private_zonal

AWS asks none of their callers for credentials: clients of Kafka cannot sign requests, and the registry itself asks for
an API key behind each of them (`auth`). A private API has a policy besides (`parts/private_door.py`).
"""

from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_lambda as lambda_

ON_FUNCTION_URLS = lambda_.FunctionUrlAuthType.NONE
ON_REST_APIS = apigateway.AuthorizationType.NONE


def function_url(alias: lambda_.Alias) -> str:
    """A URL of the function itself, with a slash at its end."""
    return str(alias.add_function_url(auth_type=ON_FUNCTION_URLS).url)


def answer_every_path(api: apigateway.RestApi, target: lambda_.IFunction) -> None:
    """Every path and method of the API is handed to the function."""
    everything = apigateway.LambdaIntegration(target, allow_test_invoke=False)
    api.root.add_method("ANY", everything, authorization_type=ON_REST_APIS)
    api.root.add_resource("{proxy+}").add_method("ANY", everything, authorization_type=ON_REST_APIS)
