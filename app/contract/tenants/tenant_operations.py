"""Operations that read the public part of a tenant's configuration."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from app.contract.auth import API_KEY
from app.contract.catalogue import operation
from app.contract.tenants.settings import Mode
from app.kit.operations.wire import From, Wire

Json = dict[str, Any]


class ReadAppinfo(Wire):
    pass


class Appinfo(Wire):
    """The tenant's configuration, as sign-in pages and client libraries read it."""

    model_config = ConfigDict(extra="allow")

    app_name: str
    email_verification_flow: Mode
    api_version: dict[str, bool]
    login_locked_configuration: Json
    two_factor_authentication: Json
    registration_form_schema: list[Json]


class ReadServerinfo(Wire):
    """`timedifference`: minutes between the start and the end of the pair for a SOTT."""

    time_difference: Annotated[int, From.QUERY] = Field(default=10, ge=1, le=129_600)


class SottPeriod(Wire):
    start_time: str
    end_time: str
    time_difference: str


class Serverinfo(Wire):
    server_location: str
    server_name: str
    current_time: str
    sott: SottPeriod


appinfo = operation(
    "tenants.appinfo", "GET /ciam/appinfo", ReadAppinfo, Appinfo, auth=API_KEY, row="U48",
    summary="Get the tenant’s public configuration",
    description="Returns what a sign-in page needs: the sign-up form, social providers, security questions and which ways to sign in "
    "are on. It contains no secrets.",
)  # fmt: skip
serverinfo = operation(
    "tenants.serverinfo", "GET /identity/v2/serverinfo", ReadServerinfo, Serverinfo, auth=API_KEY, row="U47",
    summary="Get the server time",
    description="Returns the server’s name and current time, and a start and end time for a SOTT that you create yourself.",
)  # fmt: skip
