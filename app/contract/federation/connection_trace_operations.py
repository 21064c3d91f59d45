"""Management programs read why answers of identity providers were refused. The docstrings are published."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.contract.auth import MACHINE_TOKEN
from app.contract.catalogue import operation
from app.contract.error_profiles import MANAGE
from app.contract.federation.connection_checks import CallFailure, ConnectionCheck
from app.kit.operations.wire import From, Wire


class ConnectionTraceFilters(Wire):
    """Which refused answers to list."""

    connection: Annotated[str | None, From.QUERY, Field(min_length=1, max_length=100)] = Field(
        default=None,
        description="The name of a connection: only its answers. A JWT provider has the prefix `jwt:`.",
        examples=["google"],
    )
    reference: Annotated[str | None, From.QUERY, Field(min_length=1, max_length=64)] = Field(
        default=None,
        description="The ID that the person’s page showed, or `X-Request-Id` of the app’s answer: only this request.",
        examples=["BCDF-GHJK-LMNP"],
    )
    limit: Annotated[int, From.QUERY, Field(ge=1, le=100)] = Field(
        default=50, description="The maximum number of answers.", examples=[50]
    )


class RefusedAnswer(Wire):
    """An answer of a provider that was refused. No value is a secret, a token or a code, and claims of persons are only named."""

    date: str = Field(description="When it was refused.", examples=["2026-11-30T08:00:00.000Z"])
    reference: str = Field(description="The ID of the request.", examples=["BCDF-GHJK-LMNP"])
    connection: str = Field(description="The name of the connection.", examples=["google"])
    org_id: str | None = Field(
        default=None,
        description="The organization whose connection it is; null for the tenant’s own.",
        examples=[None],
    )
    check: str = Field(
        description=f"The check that failed: {', '.join(ConnectionCheck)}, or a rule of SAML messages.",
        examples=["aud"],
    )
    cause: str = Field(
        description="What happened, where the check calls the provider and no usable answer came: "
        f"{', '.join(CallFailure)}. Empty for other failures.",
        examples=["too_long"],
    )
    problem: str = Field(
        description="What the failure means.", examples=["The token’s `aud` doesn’t have this client."]
    )
    expected: str = Field(description="What was expected.", examples=["aud: shop"])
    received: str = Field(
        description="What was received instead, without control characters.", examples=["another-client"]
    )
    advice: str = Field(
        description="What to change at the provider.",
        examples=[
            "Set the connection’s client ID, or the audience of a JWT provider, to what the provider issues tokens for."
        ],
    )


class RefusedAnswers(Wire):
    """Refused answers, the newest first."""

    data: list[RefusedAnswer] = Field(description="The answers.")


list_traces = operation(
    "connection_traces.list", "GET /v2/manage/connection-traces", ConnectionTraceFilters, RefusedAnswers, auth=MACHINE_TOKEN,
    scope="provider:read", error_profile=MANAGE, summary="List refused answers of identity providers",
    description="Tells for the last seven days which answers of social providers, custom providers and organization connections were "
    "refused, by which check, and what to change at the provider. Each connection has its newest 100.",
)  # fmt: skip
