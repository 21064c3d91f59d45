"""Sign-in through another provider on our own pages: to it, back from it, and whose account it opens (decisions/0130)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.contract import errors as e
from app.contract import hub_connections as contract
from app.contract.hub import Next, Step
from app.contract.hub_models import InteractionDecision
from app.contract.registration_form import TERMS
from app.identity.authentication.federation import service as connections
from app.identity.authentication.federation import token_handoff as programs
from app.identity.authentication.federation.service import Connection
from app.identity.authentication.passwordless import redemption
from app.identity.authentication.sign_in import eligibility, interactions, required_actions, sessions
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.second_factor import Authentication
from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.credentials.one_time_tokens.service import NOBODY, OneTimeToken, Purpose
from app.identity.directory.accounts import first_verification, identifiers, linked_identities
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts import store as account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.identifiers import EMAIL
from app.identity.directory.accounts.store import IdentifierTaken
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.directory.tenants import registration_form
from app.identity.hosted import first_factor_passed, identity_linking, next_step, token_handoff, verification
from app.identity.platform.context import Context
from app.kit.limits import Rate

LINKS: Final = "links"
"""The member of an attempt's request that names the session whose person links an identity."""
LANDING: Final = "/identities"
_STARTS: Final = Rate(60, 60)
DENIED, BROKEN, NOBODY_HERE, OTHERS, SILENT, UNWANTED = "denied", "broken", "nobody", "taken", "silent", "address"


@contract.start.implements
def start(context: Context, req: contract.ConnectionStart) -> Next:
    context.spend("connection", _STARTS, context.network)
    connection = connections.find(context, req.provider)
    interaction = next_step.open_interaction(context, req.attempt) if req.attempt else None
    if isinstance(interaction, Next):
        return interaction
    if interaction is not None and LINKS in interaction.request:
        return next_step.START_AGAIN  # one form, one way there: another provider is asked for anew
    return redirect_to_provider(context, connection, interaction)


def redirect_to_provider(
    context: Context, connection: Connection, interaction: Interaction | None, **request: Any
) -> Next:
    """Lead the browser to a provider; without an attempt it begins one of that `request`. Whoever is signed in here already, or
    comes from an application that wants a new proof, is to prove it anew there."""
    drawn, again = interactions.new_ids(), _needs_reauthentication(interaction) or sessions.current(context) is not None
    named = interaction.interaction_id if interaction else drawn.interaction_id
    try:
        address = connections.begin(context, connection, named, reauthenticate=again, hint=_hint(interaction))
    except connections.ConnectionBroken:
        return (
            _return_with_problem(interaction.request, BROKEN, interaction.interaction_id)
            if interaction is not None
            else _return_with_problem(request, BROKEN)
        )
    if interaction is not None:
        return Next(step=Step.REDIRECT, address=address, attempt=interaction.interaction_id)
    begun, binding = interactions.begin(context, next_step.RETURN, request, drawn)
    return Next(step=Step.REDIRECT, address=address, attempt=begun.interaction_id, binding=binding)


@contract.handle.implements
def handle(context: Context, req: contract.ConnectionHandler) -> Next:
    context.spend("connection", _STARTS, context.network)
    connection = connections.find(context, req.provider)
    wish = token_handoff.parse(context, req)
    if wish is None:
        return Next(step=Step.REFUSED, error="invalid_request", problem="redirect_uri")
    step = redirect_to_provider(context, connection, None, **token_handoff.to_facts(wish))
    if wish.guid:
        programs.register_guid(context, wish.guid, links=wish.links)
    return step


@contract.decide_handoff.implements
def hand_over(context: Context, req: InteractionDecision) -> Next:
    interaction, session = interactions.find(context, req.attempt), sessions.current(context)
    if interaction is None:
        return next_step.START_AGAIN
    if session is not None and (wanted := required_actions.next_step(context, session)) is not None:
        return wanted.model_copy(update={"attempt": interaction.interaction_id})
    return token_handoff.hand_over(context, interaction, session, allow=req.allow)


@contract.finish.implements
def finish(context: Context, req: contract.ConnectionCallback) -> Next:
    """Of many answers with one state one is taken; the page of the attempt says what became of it."""
    interaction, session = interactions.find(context, req.state.rpartition(".")[0]), sessions.current(context)
    if interaction is None:
        return next_step.START_AGAIN
    if interaction.is_done:
        return next_step.after_end(session)
    answer = req.model_dump(include={"code", "error", "iss"}, exclude_defaults=True)
    try:
        claimed, connection = connections.finish(context, req.state, answer)
    except connections.UnknownState:
        return next_step.advance(context, interaction, session)
    except connections.ConnectionRefused:
        return _return_with_problem(interaction.request, DENIED, interaction.interaction_id)
    except connections.ConnectionBroken:
        return _return_with_problem(interaction.request, BROKEN, interaction.interaction_id)
    if LINKS in interaction.request:
        return _link(context, interaction, claimed)
    if _needs_reauthentication(interaction) and connection.can_reauthenticate and not claimed.is_anew:
        return _return_with_problem(interaction.request, SILENT, interaction.interaction_id)
    wish = token_handoff.request_for(interaction)
    if wish is not None and wish.links:
        return token_handoff.with_candidate(context, interaction, wish, claimed)
    registers = context.tenant.settings.registration and (wish is None or wish.registers)
    return _sign_in_or_register(
        context, identity_linking.clear(context, interaction), connection, claimed, registers=registers
    )


@contract.read_profile.implements
def connected(context: Context, req: contract.ConnectedProfileRequest) -> contract.ConnectedProfile:
    waits = identity_linking.active_for(context, interactions.find(context, req.attempt))
    if waits is None:
        raise e.UnknownAccount
    said = {**waits.claimed.profile, "Email": waits.claimed.email}
    form = registration_form.fields_of(context.tenant.settings)
    members = {field.name: "Email" if field.name == "email" else field.member for field in form}
    fields = {name: text for name, member in members.items() if member and (text := said.get(member))}
    return contract.ConnectedProfile(title=connections.title_for(context, waits.claimed.provider), fields=fields)


def _authorization_request(interaction: Interaction | None) -> dict[str, Any]:
    """Return what an application asked for; nothing where none did."""
    return interaction.request if interaction is not None and interaction.kind == next_step.AUTHORIZE else {}


def _hint(interaction: Interaction | None) -> str:
    """Return whom the application expects: the provider fills its form with it."""
    return str(_authorization_request(interaction).get("login_hint") or "")


def _needs_reauthentication(interaction: Interaction | None) -> bool:
    """Return whether an application wants a new proof, also of whoever is not signed in here: they may just have signed out."""
    asked = _authorization_request(interaction)
    names_anew = asked.get("max_age") is not None or asked.get("acr") is not None
    return names_anew or "login" in asked.get("prompt", ())


def _return_with_problem(request: Mapping[str, Any], problem: str, interaction_id: str | None = None) -> Next:
    """Return to the page that had led to the provider."""
    if LINKS in request:
        return Next(step=Step.REDIRECT, address=f"{LANDING}?problem={problem}")
    return Next(step=Step.LOGIN, attempt=interaction_id, problem=problem)


def _link(context: Context, interaction: Interaction, claimed: ProviderIdentity) -> Next:
    """Link to whoever is signed in with the session that asked: nobody else's browser may finish it, nor one whose session its
    owner ended by taking the account back in this very moment.
    """
    asking = sessions.current(context)
    account = account_store.change(context, asking.uid, {}) if asking is not None else None  # locked from here on
    session = sessions.current(context)
    is_same = session is not None and account is not None and session.session_id == interaction.request[LINKS]
    if account is None or not is_same or not context.tenant.settings.account_linking:
        return Next(step=Step.REDIRECT, address=LANDING)
    interactions.finish(context, interaction)
    try:
        connections.link(context, account, claimed)
    except IdentifierTaken:
        return Next(step=Step.REDIRECT, address=f"{LANDING}?problem={OTHERS}")
    return Next(step=Step.REDIRECT, address=f"{LANDING}?done=linked")


def _sign_in_or_register(
    context: Context, interaction: Interaction, connection: Connection, claimed: ProviderIdentity, *, registers: bool
) -> Next:
    """Return the step of whoever the provider vouches for.

    Whose address it names is looked at only where the tenant trusts the provider's word for it: nobody learns it otherwise.
    """
    holder = linked_identities.find_account(context, claimed.provider, claimed.subject)
    if holder is not None:
        return _sign_in_linked(context, interaction, holder, claimed)
    if claimed.email and claimed.email_verified and connection.trusts_email and accounts.is_email(claimed.email):
        known = accounts.by_email(context, claimed.email)
        if known is not None and first_verification.is_shared(
            known
        ):  # whoever else may know its password would go on beside them
            return _offer_registration(context, interaction, claimed, registers=False)
        if context.tenant.settings.account_linking if known is not None else registers and not _asks_for_terms(context):
            return _sign_in_by_email(context, interaction, claimed, claimed.email)
    return _offer_registration(context, interaction, claimed, registers=registers)


def _asks_for_terms(context: Context) -> bool:
    return any(field.name == TERMS and field.required for field in registration_form.fields_of(context.tenant.settings))


def _offer_registration(
    context: Context, interaction: Interaction, claimed: ProviderIdentity, *, registers: bool
) -> Next:
    """Let the identity wait for an account: the page of registration is filled in with it."""
    interaction = identity_linking.store_pending(context, interaction, claimed)
    if not registers:
        return Next(step=Step.LOGIN, attempt=interaction.interaction_id, problem=NOBODY_HERE)
    return Next(step=Step.REGISTER, attempt=interaction.interaction_id, problem=claimed.provider)


def _sign_in_linked(context: Context, interaction: Interaction, holder: Account, claimed: ProviderIdentity) -> Next:
    try:
        account = linked_identities.record_use(context, holder, claimed)
    except linked_identities.NotLinked:
        return _return_with_problem(interaction.request, DENIED, interaction.interaction_id)
    return _complete(
        context,
        identity_linking.store_pending(context, interaction, claimed, account.uid),
        account,
        is_anew=claimed.is_anew,
    )


def _sign_in_by_email(context: Context, interaction: Interaction, claimed: ProviderIdentity, email: str) -> Next:
    """Let the provider's word be a proof of the mailbox: the account that has the address is its owner's, or is made."""
    facts = {"email": email, "registers": True}
    proof = OneTimeToken(Purpose.SIGN_IN, NOBODY, identifiers.normalize(EMAIL, email), facts, context.now)
    try:
        account = redemption.redeem(context, proof, e.UnknownAccount, identity=claimed)
    except (e.EmailRefused, e.EmailDomainRefused):
        return _return_with_problem(interaction.request, UNWANTED, interaction.interaction_id)
    except (e.EmailRegistered, e.ClosedLink, e.UnknownAccount):  # it became another's in this very moment
        context.work.rollback()
        return _return_with_problem(interaction.request, DENIED, interaction.interaction_id)
    interaction = identity_linking.store_pending(context, interaction, claimed, account.uid, is_proof=True)
    return _complete(context, interaction, account, is_anew=claimed.is_anew)


def _complete(context: Context, interaction: Interaction, account: Account, *, is_anew: bool) -> Next:
    """Sign in, by a second factor where one is wanted; raises why the account may not, as only its owner sees that."""
    session = sessions.current_of(context, account.uid)
    if session is not None and not is_anew:  # what a browser is let in by again is no proof of who sits there
        step = next_step.advance(context, interaction, session)
        return step.model_copy(update={"problem": SILENT}) if step.step is Step.LOGIN else step
    after = first_factor_passed.try_sign_in(
        context, interaction, account, Authentication((identity_linking.FEDERATED,))
    )
    if after is not None:
        return after
    one_time_tokens.refuse_locked(context, account)
    refusal = eligibility.refusal(context, account, "email")
    if isinstance(refusal, e.EmailUnverified):
        shown = (identity_linking.FEDERATED,)
        return verification.begin(context, interaction, account.email or "", account, is_sent=False, methods=shown)
    raise refusal or e.AccountBlocked
