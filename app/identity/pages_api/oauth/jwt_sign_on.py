"""JWT sign-on in the browser: an app asks for a JWT, or another identity provider's JWT signs in."""

from __future__ import annotations

from app.contract import errors
from app.contract.federation.connection_checks import ConnectionCheck
from app.contract.jwt import jwt_sign_on_operations
from app.contract.step_reasons import RefusedPart
from app.contract.steps import RefusedStep, StepResponse
from app.identity.authentication.federation import connection_traces, jwt_providers, native_credentials
from app.identity.authentication.federation.native_credentials import VerifiedIdentity
from app.identity.authentication.federation.offered_connections import OfferedConnection
from app.identity.authentication.sign_in import interactions, required_actions
from app.identity.authentication.sign_in.interaction_state import InteractionState, JwtRequest
from app.identity.authentication.sign_in.interactions import InteractionKind
from app.identity.authentication.sign_in.sessions import browser_sessions, sessions
from app.identity.authentication.sign_in.workflows import first_page, interaction_runs, sign_in_target
from app.identity.directory.accounts import linked_identities
from app.identity.directory.identity_provider import ProviderDenied
from app.identity.directory.tenants.urls.allowed_urls import is_registered_page
from app.identity.pages_api.interactions import jwt_login_page, jwt_redirect
from app.identity.pages_api.sign_in import federated_login
from app.identity.platform.context import Context
from app.identity.protocols.jwt_sign_on import signing
from app.kit.operations.errors import ApiError


@jwt_sign_on_operations.authorize.implements
def authorize(context: Context, req: jwt_sign_on_operations.JwtAuthorize) -> StepResponse:
    """Lead a signed-in browser back with a JWT at once, another one to the sign-in page.

    The address must be an entry of the whitelist, because it gets a token (decision 0231).
    """
    context.count_request("jwt_authorize", context.tenant.settings.limits.federation_starts_per_minute_per_address)
    if req.client_id.lower() != context.tenant.api_key.lower():
        return StepResponse(step=RefusedStep(error="invalid_client", part=RefusedPart.CLIENT))
    app = signing.find(context, req.app)
    if not is_registered_page(context, req.redirect_uri):
        return StepResponse(step=RefusedStep(error="invalid_request", part=RefusedPart.REDIRECT_URI))
    request, session = JwtRequest(app.client.app_name, req.redirect_uri, req.nonce), sessions.current(context)
    required = required_actions.find_first(context, session) if session is not None else None
    if session is not None and required is None:
        sessions.touch(context, session)
        return jwt_redirect.redirect_with_jwt(context, session, request)
    state = InteractionState(jwt_app=request, **interaction_runs.for_new(context))
    interaction, binding = interactions.start(context, InteractionKind.RETURN, state)
    target = sign_in_target.of_interaction(context, interaction)
    return StepResponse(
        step=required or first_page.first_step(context, target),
        interaction_id=interaction.interaction_id,
        binding=binding,
        workflow=first_page.display(context, target),
        relying_party=jwt_redirect.view_of(app, req.redirect_uri),
    )


@jwt_sign_on_operations.access.implements
def access(context: Context, req: jwt_sign_on_operations.JwtAccess) -> StepResponse:
    """Sign in by a JWT that the browser brings, once, and continue the interaction that led the browser to the provider.

    A browser that is signed in to another account stays there: any site could send it here with its own token.

    Raises JwtRefused, JwtWithoutSubject, ProviderFailed.
    """
    context.count_request("jwt_access", context.tenant.settings.limits.federation_starts_per_minute_per_address)
    verified, sender = _verified(context, _each_once(req.parameters), req.bearer)
    identity, session = verified.identity, sessions.current(context)
    holder = linked_identities.find_account(context, identity.provider, identity.subject)
    signed_in = (
        {session.uid} if session is not None else {item.session.uid for item in browser_sessions.all_sessions(context)}
    )
    if signed_in and (holder is None or holder.uid not in signed_in):
        text = "the browser is signed in to another account"
        expected = "a browser without a session, or with that of the token’s account"
        refusal = ProviderDenied(text, check=ConnectionCheck.LINKING, expected=expected)
        connection_traces.record(context, sender.name, refusal)
        raise errors.JwtRefused("This browser is signed in to another account.")
    native_credentials.use_id_token(context, verified)
    interaction, binding = jwt_login_page.waiting_interaction(context, sender.name), None
    is_awaited = interaction is not None
    if interaction is None:
        state = InteractionState(return_url=req.return_url or None)
        interaction, binding = interactions.start(context, InteractionKind.RETURN, state)
    connection = OfferedConnection(
        sender.name, sender.provider.app_name, verified.trusts_email, can_reauthenticate=False
    )
    step = federated_login.sign_in_or_register(
        context, interaction, connection, identity, needs_confirmation=False, is_awaited=is_awaited
    )
    begun = sessions.by_cookie(context, step.session.token) if step.session is not None else None
    person = begun or holder
    context.audit.record("jwt.accepted", uid=person.uid if person is not None else None, provider=sender.name)
    return step.model_copy(update={"binding": step.binding or binding}) if step.interaction_id else step


def _each_once(parameters: list[tuple[str, str]]) -> dict[str, str]:
    """Return the parameters by their names in lower case. Raises JwtRefused for a repeated name, of which readers could take either."""
    found = {name.lower(): text for name, text in parameters}
    if len(found) < len(parameters):
        raise errors.JwtRefused("A parameter is repeated.")
    return found


def _verified(
    context: Context, parameters: dict[str, str], bearer: str | None
) -> tuple[VerifiedIdentity, jwt_providers.JwtSender]:
    """Return the identity by the first provider that signed the token."""
    refusal: ApiError = errors.JwtRefused()
    position = len(context.late_writes)
    for sender, text in jwt_providers.named_by(context, parameters, bearer):
        try:
            verified = native_credentials.verify_jwt(context, sender, text)
            del context.late_writes[position:]  # the traces of the providers that did not sign it
            return verified, sender
        except (errors.JwtWithoutSubject, errors.ProviderFailed) as problem:
            refusal = problem
        except errors.JwtRefused:
            continue
    raise refusal
