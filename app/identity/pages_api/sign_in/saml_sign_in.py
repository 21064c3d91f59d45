"""The posted answers of SAML providers on our pages, before their browser is back, and those that no browser asked for."""

from __future__ import annotations

from urllib.parse import urlencode

from app.contract import errors
from app.contract.federation.pages import connection_pages
from app.contract.federation.pages.connection_pages import ConnectedProfile
from app.contract.organizations.setup_operations import ANSWER
from app.contract.steps import RedirectStep, SignedOutStep, StepResponse
from app.identity.authentication.federation import federated_sign_in, offered_connections
from app.identity.authentication.federation.offered_connections import OfferedConnection
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interaction_state import InteractionState
from app.identity.authentication.sign_in.interactions import InteractionKind
from app.identity.directory.tenants.urls.allowed_urls import is_allowed
from app.identity.pages_api.sign_in import federated_login
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context


@connection_pages.accept_saml.implements
def accept_saml(context: Context, req: connection_pages.SamlAnswer) -> StepResponse:
    from app.identity.authentication.federation import saml_answers, saml_trials  # noqa: PLC0415 - few tenants have any

    context.count_request("saml_answer", context.tenant.settings.limits.federation_starts_per_minute_per_address)
    if saml_trials.is_named(req.relay_states):
        found = saml_trials.accept(context, req.address_key, req.path, req.messages, req.relay_states)
        return StepResponse(step=RedirectStep(address=f"{ANSWER}?{urlencode(found)}"))
    connection = _at_address(context, req)
    try:
        accepted = saml_answers.accept(context, connection, req.path, req.messages, req.relay_states)
    except federated_sign_in.ConnectionBroken:
        raise errors.ProviderFailed from None
    address = f"{accepted.path}?{urlencode({'state': accepted.state, 'code': accepted.code})}"
    if accepted.unsolicited:
        address = f"{connection_pages.CONFIRM}?{urlencode({'answer': accepted.unsolicited})}"
    return StepResponse(step=RedirectStep(address=address))


@connection_pages.end_saml_sessions.implements
def end_saml_sessions(context: Context, req: connection_pages.SamlAnswer) -> StepResponse:
    from app.identity.authentication.sign_in.sessions import saml_sign_out  # noqa: PLC0415 - few tenants have any

    connection = _at_address(context, req)
    if connection is None or connection.record is None:
        raise errors.ConnectionNotConfigured
    act = saml_sign_out.end if req.is_request else saml_sign_out.finish
    try:
        lead = act(context, connection.record, query=req.query, messages=req.messages, relay_states=req.relay_states)
    except federated_sign_in.ConnectionBroken:
        raise errors.ProviderFailed from None
    return StepResponse(step=federated_login.step_to(connection, lead) if lead else SignedOutStep())


def _at_address(context: Context, req: connection_pages.SamlAnswer) -> OfferedConnection | None:
    """Return the connection of an address; None for one that the tenant's providers share. Raises ConnectionNotConfigured."""
    if req.address_key:
        connection = offered_connections.at_address(context, req.address_key)
        if not connection.is_saml:
            raise errors.ConnectionNotConfigured
        return connection
    return offered_connections.with_saml_id(context, req.provider_id) if req.provider_id else None


@connection_pages.read_metadata.implements
def read_metadata(context: Context, req: connection_pages.OrganizationStart) -> connection_pages.SamlMetadata:
    """Return the metadata of a connection, active or not: its provider is set up before people sign in."""
    from app.identity.authentication.federation.saml import sp_metadata  # noqa: PLC0415 - few tenants have any

    return connection_pages.SamlMetadata(document=sp_metadata.of_address(context, req.address_key).decode())


@connection_pages.read_unsolicited.implements
def read_unsolicited(context: Context, req: connection_pages.UnsolicitedAnswer) -> ConnectedProfile:
    from app.identity.authentication.federation import saml_answers  # noqa: PLC0415 - few tenants have any

    found = saml_answers.unsolicited(context, req.answer)
    if found is None:
        raise errors.UnknownConnection
    _, connection, identity = found
    return ConnectedProfile(title=connection.title, fields={"email": identity.email or identity.subject})


@connection_pages.confirm_unsolicited.implements
def confirm_unsolicited(context: Context, req: connection_pages.UnsolicitedAnswer) -> StepResponse:
    """Sign in by an answer once, after its person confirmed it. Its RelayState may name where to go."""
    from app.identity.authentication.federation import saml_answers  # noqa: PLC0415 - few tenants have any

    found = saml_answers.unsolicited(context, req.answer)
    if found is None:
        raise errors.UnknownConnection
    token, connection, identity = found
    with context.work.separate_transaction() as work:
        if not continuation_tokens.spend(context.within(work), token):
            raise errors.UnknownConnection
    relay_state = str(token.facts["relay_state"])  # no promise of a page: some providers send a word of their own
    return_url = relay_state if relay_state and is_allowed(context, relay_state) else None
    state = InteractionState(return_url=return_url, action="login")
    interaction, binding = interactions.start(context, InteractionKind.RETURN, state)
    sign_in = federated_login.sign_in_for_organization if connection.org_id else federated_login.sign_in_or_register
    step = sign_in(context, interaction, connection, identity)
    return step.model_copy(update={"binding": step.binding or binding}) if step.interaction_id else step
