"""What a sign-in is for: the application, and what its request names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.workflows import workflow_choice
from app.identity.authentication.workflows.workflow import RunnableWorkflow
from app.identity.authentication.workflows.workflow_choice import UnlistedWorkflow
from app.identity.directory.organizations.requested_organization import OrganizationRequest
from app.identity.directory.tenants import profile_client
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application


@dataclass(frozen=True)
class SignInTarget:
    """What a sign-in is for.

    `request` are the parameters of its authorization request; a grant without one has `grant_scopes`, and `org_id`, the organization
    that earlier tokens name.
    """

    client: Application | None = None
    named: str | None = None
    provider: str = ""
    """The connection whose identity the interaction has, if it signs in by one."""
    request: Mapping[str, Any] = field(default_factory=dict)
    grant_scopes: tuple[str, ...] = ()
    org_id: str | None = None

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes of the tokens."""
        return tuple(self.request.get("scope") or self.grant_scopes)

    @property
    def organization_request(self) -> OrganizationRequest | None:
        """What the request says about the organization of its tokens; None where they can name none."""
        if self.client is None or not self.request:
            return None
        requested = OrganizationRequest.of(self.client, self.request)
        return None if requested.is_for_person else requested

    def workflow(self, context: Context) -> RunnableWorkflow | None:
        """Return the workflow in force; None where there is none.

        A name that is not offered any more is as good as none: the request was checked when it began.

        Raises WorkflowGone.
        """
        try:
            return workflow_choice.workflow_in_force(context, self.client, self.named)
        except UnlistedWorkflow:
            return workflow_choice.workflow_in_force(context, self.client)


def target_of(context: Context) -> SignInTarget:
    """Return what the sign-in of this request is for: the client that authenticated, or the interaction’s application."""
    interaction = interactions.current(context)
    return of_interaction(context, interaction) if interaction is not None else of_grant(context, context.client)


def of_grant(context: Context, client: Application | None, org_id: str | None = None) -> SignInTarget:
    """Return what a grant without an authorization request is for; `org_id` is the organization that earlier tokens name."""
    return SignInTarget(client, grant_scopes=context.requested_scopes, org_id=org_id)


def of_interaction(context: Context, interaction: Interaction) -> SignInTarget:
    """Return what an interaction is for."""
    state = interaction.state
    client = context.application(client_id=state.client_id) if state.client_id else context.client
    provider = state.identity.claimed.provider if state.identity is not None else ""
    return of_request(client, state.named_workflow, state.authorization, provider)


def of_request(
    client: Application | None, named: str | None, request: Mapping[str, Any], provider: str = ""
) -> SignInTarget:
    """Return what an authorization request is for. The account pages, which make one too, are no application."""
    if client is not None and client.client_id == profile_client.CLIENT_ID:
        return SignInTarget(provider=provider)
    return SignInTarget(client, named, provider, request)
