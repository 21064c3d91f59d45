"""Federated sign-in on our pages: the redirect to the provider, the callback, and the account (decision 0130)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from app.contract import errors
from app.contract.federation.pages import connection_pages
from app.contract.step_reasons import LoginReason, RefusedPart
from app.contract.steps import FormPostStep, LoginStep, RedirectStep, RefusedStep, RegisterStep, StepResponse
from app.identity.authentication.federation import (
    connection_traces,
    federated_sign_in,
    offered_connections,
    token_handoff,
)
from app.identity.authentication.federation.offered_connections import OfferedConnection
from app.identity.authentication.passwordless import federated_account
from app.identity.authentication.passwordless.federated_account import EmailUse
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interaction_state import NEW, InteractionState
from app.identity.authentication.sign_in.interactions import Interaction, InteractionKind
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.directory.accounts import account_store, linked_identities
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.account_store import IdentifierTaken
from app.identity.directory.identity_provider import PostedRequest, ProviderIdentity
from app.identity.directory.tenants import registration_form
from app.identity.pages_api.interactions import (
    interaction_handoff,
    jwt_login_page,
    next_step,
    page_sign_in,
    pending_identities,
)
from app.identity.pages_api.sign_in import account_confirmation, federated_completion
from app.identity.platform.context import Context
from app.identity.protocols.oauth.authorize.request import CheckedRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.identity.authentication.passwordless.organization_account import CompletedForm, ConnectionAdmission

LANDING: Final = "/identities"
TAKEN: Final = "taken"
"""The value of `problem` of that page for an identity that is linked to another account."""
_PROVABLE: Final = (LoginReason.CONNECTS, LoginReason.UNKNOWN_IDENTITY)
"""Refusals of an identity that its owner can link after a sign-in by another method."""


@connection_pages.begin.implements
def begin(context: Context, req: connection_pages.ConnectionStart) -> StepResponse:
    context.count_request("connection", context.tenant.settings.limits.federation_starts_per_minute_per_address)
    connection = offered_connections.find_to_begin(context, req.provider)
    interaction = next_step.open_interaction(context, req.interaction_id) if req.interaction_id else None
    if isinstance(interaction, StepResponse):
        return interaction
    state, handoff = (interaction.state, interaction.state.handoff) if interaction is not None else (NEW, None)
    if state.linking_session_id is not None:
        return next_step.START_AGAIN  # linking another provider begins again at its form
    if (connection.org_id or connection.login_url) and handoff is not None and handoff.links:
        return next_step.START_AGAIN  # these only sign in: nothing checks the address of a link
    if connection.login_url:
        return jwt_login_page.lead(context, connection, interaction)
    return redirect_to_provider(context, connection, interaction, hint=req.login_hint)


@connection_pages.find.implements
def find(context: Context, req: connection_pages.DomainLookUp) -> StepResponse:
    from app.identity.authentication.federation import home_realms  # noqa: PLC0415 - few tenants have any

    realm = home_realms.look_up(context, req.identifier) or home_realms.HomeRealm()
    interaction = interactions.find(context, req.interaction_id) if req.interaction_id else None
    return page_sign_in.lead(context, interaction, realm)


@connection_pages.begin_for_organization.implements
def begin_for_organization(context: Context, req: connection_pages.OrganizationStart) -> StepResponse:
    context.count_request("connection", context.tenant.settings.limits.federation_starts_per_minute_per_address)
    connection = offered_connections.at_address(context, req.address_key)
    state = InteractionState(return_url=req.return_url or None, action="login")
    return redirect_to_provider(context, connection, None, state, hint=req.login_hint)


def redirect_to_provider(
    context: Context,
    connection: OfferedConnection,
    interaction: Interaction | None,
    state: InteractionState = NEW,
    *,
    hint: str = "",
) -> StepResponse:
    """Redirect the browser to a provider; without an interaction, begin one with `state`.

    The provider must reauthenticate a signed-in user, and a user whose application requests it.
    """
    ids = interactions.new_ids()
    reauthenticate = _needs_reauthentication(interaction) or sessions.current(context) is not None
    interaction_id = interaction.interaction_id if interaction else ids.interaction_id
    handoff, hint = (interaction.state if interaction else state).handoff, hint or _hint(interaction)
    scope = handoff.scope_at(connection.name) if handoff is not None else ""
    try:
        lead = federated_sign_in.begin(
            context, connection, interaction_id, reauthenticate=reauthenticate, hint=hint, scope=scope
        )
    except federated_sign_in.ConnectionBroken as failure:
        found, begun = (state, None) if interaction is None else (interaction.state, interaction_id)
        return return_with_reason(context, found, failure.reason, begun)
    step = step_to(connection, lead)
    if interaction is not None:
        return StepResponse(step=step, interaction_id=interaction_id)
    started, binding = interactions.start(context, InteractionKind.RETURN, state, ids)
    return StepResponse(step=step, interaction_id=started.interaction_id, binding=binding)


def step_to(connection: OfferedConnection, lead: str | PostedRequest) -> RedirectStep | FormPostStep:
    """Return the step that leads the browser to the provider, under the name that visitors may see: anyone can begin a sign-in."""
    name, title = connection.name if connection.org_id else None, connection.public_title
    if isinstance(lead, PostedRequest):
        return FormPostStep(address=lead.address, fields=dict(lead.fields), connection=name, title=title)
    return RedirectStep(address=lead, connection=name, title=title if name else None)


@connection_pages.handle.implements
def handle(context: Context, req: connection_pages.ConnectionHandler) -> StepResponse:
    context.count_request("connection", context.tenant.settings.limits.federation_starts_per_minute_per_address)
    connection = offered_connections.find_app(context, req.provider, req.social_app_name)
    handoff = interaction_handoff.parse(context, req, connection.name)
    if handoff is None:
        return StepResponse(step=RefusedStep(error="invalid_request", part=RefusedPart.REDIRECT_URI))
    step = redirect_to_provider(context, connection, None, InteractionState(handoff=handoff))
    if handoff.guid:
        token_handoff.register_guid(context, handoff.guid, links=handoff.links)
    return step


@connection_pages.finish.implements
def finish(context: Context, req: connection_pages.ConnectionCallback) -> StepResponse:
    """Handle the callback. Only one of several callbacks with one state succeeds; the others get the interaction's next step."""
    (interaction, token), session = interactions.find_with_state(context, req.state), sessions.current(context)
    if interaction is None:
        federated_sign_in.record_other_browser(context, req.state)
        return next_step.START_AGAIN
    if interaction.is_done:
        return next_step.after_end(session)
    parameters = req.model_dump(include={"code", "error", "iss", "user"}, exclude_defaults=True)
    callback = connection_pages.callback_path(req.address_key, is_saml=req.is_saml)
    try:
        identity, connection = federated_sign_in.finish(context, req.state, token, parameters, callback=callback)
    except federated_sign_in.UnknownState:
        return next_step.advance(context, interaction, session)
    except federated_sign_in.ConnectionFailed as failure:
        return return_with_reason(context, interaction.state, failure.reason, interaction.interaction_id)
    if _needs_reauthentication(interaction) and connection.can_reauthenticate and not identity.is_anew:
        return _refuse(context, interaction, identity, LoginReason.NOT_REAUTHENTICATED)
    if connection.org_id:  # links no identity to another account, whatever began the interaction
        return sign_in_for_organization(context, pending_identities.clear(context, interaction), connection, identity)
    if interaction.state.linking_session_id is not None:
        return _link(context, interaction, identity.signed)
    handoff = interaction.state.handoff
    if handoff is not None and handoff.links:
        return interaction_handoff.with_candidate(context, interaction, handoff, identity.signed)
    return sign_in_or_register(context, interaction, connection, identity)


@connection_pages.report_state.implements
def report_state(context: Context, req: connection_pages.ForeignState) -> connection_pages.StateReported:
    federated_sign_in.record_other_browser(context, req.state)
    return connection_pages.StateReported()


@connection_pages.read_profile.implements
def read_profile(context: Context, req: connection_pages.ConnectedProfileRequest) -> connection_pages.ConnectedProfile:
    pending = pending_identities.active_for(context, interactions.find(context, req.interaction_id))
    if pending is None:
        raise errors.UnknownAccount
    claims = {**pending.claimed.profile, "Email": pending.claimed.email}
    form = registration_form.fields_of(context.tenant.settings)
    members = {field.name: "Email" if field.name == "email" else field.member or field.name for field in form}
    fields = {name: text for name, member in members.items() if (text := claims.get(member))}
    return connection_pages.ConnectedProfile(
        title=offered_connections.title_for(context, pending.claimed.provider), fields=fields
    )


def _checked_request(interaction: Interaction | None) -> CheckedRequest | None:
    """Return the authorization request of the interaction; None if no application made one."""
    is_request = interaction is not None and interaction.kind == InteractionKind.AUTHORIZE
    return CheckedRequest.model_validate(interaction.state.authorization) if interaction and is_request else None


def _hint(interaction: Interaction | None) -> str:
    """Return the application's login_hint, which the provider's form shows."""
    request = _checked_request(interaction)
    return (request.login_hint or "") if request is not None else ""


def _needs_reauthentication(interaction: Interaction | None) -> bool:
    """Return whether an application requests reauthentication, even without a session here, which may just have ended."""
    if interaction is not None and interaction.state.saml is not None:
        return interaction.state.saml.must_reauthenticate
    request = _checked_request(interaction)
    if request is None:
        return False
    return request.max_age is not None or request.acr is not None or "login" in request.prompt


def return_with_reason(
    context: Context, state: InteractionState, reason: LoginReason, interaction_id: str | None = None
) -> StepResponse:
    """Return to the page that led to the provider, with the reason, and the reference of the trace."""
    if state.linking_session_id is not None:
        return StepResponse(step=RedirectStep(address=_landing(context, reason)))
    step = LoginStep(reason=reason, reference=context.raw.request_id)
    return StepResponse(step=step, interaction_id=interaction_id)


def _landing(context: Context, problem: str) -> str:
    return f"{LANDING}?{urlencode({'problem': problem, 'reference': context.raw.request_id})}"


def _refuse(
    context: Context, interaction: Interaction, identity: ProviderIdentity, reason: LoginReason
) -> StepResponse:
    """Record why an identity is refused, and return to the page that led to the provider."""
    connection_traces.record_identity(context, identity, reason)
    return return_with_reason(context, interaction.state, reason, interaction.interaction_id)


def _link(context: Context, interaction: Interaction, identity: ProviderIdentity) -> StepResponse:
    """Link the identity to the account of the session that began it; another browser or an ended session is refused."""
    requesting_session = sessions.current(context)
    # locks the account
    account = account_store.lock(context, requesting_session.uid) if requesting_session is not None else None
    session = sessions.current(context)
    is_same = session is not None and account is not None and session.session_id == interaction.state.linking_session_id
    if account is None or not is_same or not context.tenant.settings.account_linking:
        return StepResponse(step=RedirectStep(address=LANDING))
    interactions.finish(context, interaction)
    try:
        federated_sign_in.link(context, account, identity)
    except IdentifierTaken:
        connection_traces.record_identity(context, identity, LoginReason.DENIED)
        return StepResponse(step=RedirectStep(address=_landing(context, TAKEN)))
    return StepResponse(step=RedirectStep(address=f"{LANDING}?done=linked"))


def sign_in_or_register(
    context: Context,
    interaction: Interaction,
    connection: OfferedConnection,
    identity: ProviderIdentity,
    *,
    needs_confirmation: bool = True,
    is_awaited: bool = True,
) -> StepResponse:
    """Return the next step for an identity: sign-in to its account or to the one with its address, or registration.

    Args:
        needs_confirmation: whether the owner of the account with the address signs in before the identity is linked; not for a
            provider that is trusted in its own domain alone, whose owner can reset passwords anyway.
        is_awaited: whether this browser began the sign-in. Else any site may have sent it here with an identity of its own, which
            a new account gets only with the address that the provider verified.
    """
    interaction, handoff = pending_identities.clear(context, interaction), interaction.state.handoff
    registers = context.tenant.settings.registration and (handoff is None or handoff.registers)
    holder = linked_identities.find_account(context, identity.provider, identity.subject)
    if holder is not None:
        return _sign_in_linked(context, interaction, holder, identity.signed)
    use = federated_account.email_use(
        context,
        identity,
        trusts_email=connection.trusts_email,
        may_register=registers,
        has_form=True,
        needs_confirmation=needs_confirmation,
    )
    if use is EmailUse.CONFIRM:
        holder = linked_identities.find_account(context, identity.provider, identity.subject)
        if holder is not None:  # since another tab's sign-in, which created the account with this address meanwhile
            return _sign_in_linked(context, interaction, holder, identity.signed)
        return account_confirmation.begin(context, interaction, identity.signed)
    if use is EmailUse.SIGN_IN:
        find_or_create = federated_account.create_or_claim if needs_confirmation else federated_account.by_email
        return _sign_in_by_email(context, interaction, identity, find_or_create)
    if use is EmailUse.LINKING_OFF:
        return _refuse(context, interaction, identity, LoginReason.LINKING_OFF)
    registers = registers and use is not EmailUse.SHARED
    if registers and not (is_awaited or (identity.email_verified and connection.trusts_email)):
        return StepResponse(step=RegisterStep(), interaction_id=interaction.interaction_id)
    return _offer_registration(context, interaction, identity, registers=registers)


def sign_in_for_organization(
    context: Context,
    interaction: Interaction,
    connection: OfferedConnection,
    identity: ProviderIdentity,
    form: CompletedForm | None = None,
) -> StepResponse:
    """Return the next step for an identity of an organization's connection: its account, created and joined as the policy says.

    Args:
        form: what the person of a new account added; without one, the registration page asks where the tenant requires more.
    """
    from app.identity.authentication.passwordless import organization_account  # noqa: PLC0415 - few tenants have any

    admission = organization_account.admit(context, connection, identity)
    if admission.refusal in _PROVABLE:
        interaction = pending_identities.store_pending(context, interaction, admission.identity)
    if admission.refusal is LoginReason.CONNECTS:
        return return_with_reason(context, interaction.state, admission.refusal, interaction.interaction_id)
    if admission.refusal is not None:
        return _refuse(context, interaction, admission.identity, admission.refusal)
    if admission.holder is not None:
        return _sign_in_linked(context, interaction, admission.holder, admission.identity)
    if form is None and admission.needs_form(context):
        return _offer_registration(context, interaction, admission.to_resume(context), registers=True)
    find_or_create = partial(admission.find_or_create, form=form)
    return _sign_in_by_email(context, interaction, admission.identity, find_or_create, admission)


def _offer_registration(
    context: Context, interaction: Interaction, identity: ProviderIdentity, *, registers: bool
) -> StepResponse:
    """Store the identity until an account is linked, and fill the registration page with it."""
    interaction = pending_identities.store_pending(context, interaction, identity)
    if not registers:
        return _refuse(context, interaction, identity, LoginReason.UNKNOWN_IDENTITY)
    return StepResponse(step=RegisterStep(connection=identity.provider), interaction_id=interaction.interaction_id)


def _sign_in_linked(
    context: Context, interaction: Interaction, holder: Account, identity: ProviderIdentity
) -> StepResponse:
    try:
        account = linked_identities.record_use(context, holder, identity)
    except linked_identities.NotLinked:
        return _refuse(context, interaction, identity, LoginReason.DENIED)
    return _complete(context, interaction, account, identity)


def _complete(
    context: Context,
    interaction: Interaction,
    account: Account,
    identity: ProviderIdentity,
    *,
    is_email_verified: bool = False,
) -> StepResponse:
    """Return the next step of an account; the identity is stored until the sign-in is complete, which it may be at once."""
    held = pending_identities.hold_pending(
        context, interaction, identity, account.uid, is_email_verified=is_email_verified
    )
    step = federated_completion.complete(context, held, account, identity)
    interactions.save_held(context)
    return step


def _sign_in_by_email(
    context: Context,
    interaction: Interaction,
    identity: ProviderIdentity,
    find_or_create: Callable[[Context, ProviderIdentity], Account | None],
    admission: ConnectionAdmission | None = None,
) -> StepResponse:
    """Sign in to the account with the address that the provider verified.

    Args:
        find_or_create: returns the account, as `federated_account.by_email` does; None where its organization has no seat left.
        admission: of an organization's connection, which records its refusal.
    """
    position, reason = context.audit.position(), None
    try:
        account = find_or_create(context, identity)
    except (errors.EmailRefused, errors.EmailDomainRefused):
        account, reason = None, LoginReason.EMAIL_REFUSED
    except (errors.EmailRegistered, errors.ClosedLink, errors.UnknownAccount):  # another account took it concurrently
        account, reason = None, LoginReason.DENIED
    if account is None:
        context.work.rollback()
        context.audit.drop_since(position)
        reason = reason or LoginReason.NOT_MEMBER
        if admission is not None:
            admission.record_refusal(context, reason)
        return _refuse(context, interaction, identity, reason)
    return _complete(context, interaction, account, identity, is_email_verified=True)
