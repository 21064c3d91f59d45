"""Registration on our page: the rules of the API operations, without revealing which accounts exist."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.contract import errors
from app.contract.captcha.models import CaptchaUse, LockChallenge
from app.contract.passkeys.passkey_pages import PasskeyOptions
from app.contract.registration import registration_pages
from app.contract.steps import LoginStep, RedirectStep, StepResponse
from app.identity.authentication.registration import account_registration
from app.identity.authentication.registration.account_registration import RegistrationResult
from app.identity.authentication.sign_in import completion, interactions, password_sign_in
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.interaction_state import PendingVerification
from app.identity.authentication.sign_in.interactions import Interaction, InteractionIds, InteractionKind
from app.identity.authentication.sign_in.passkeys import passkey_sign_in, passkey_sign_up
from app.identity.credentials.captcha import answers, captcha_verification
from app.identity.credentials.passkeys import ceremonies
from app.identity.credentials.passkeys.ceremonies import CeremonyUse, NewPasskey
from app.identity.credentials.passkeys.options import DISCOVERABLE, UserEntity
from app.identity.directory.accounts import linked_identities
from app.identity.directory.accounts.account import name_in
from app.identity.directory.tenants import registration_form
from app.identity.directory.tenants.urls import allowed_urls
from app.identity.pages_api.interactions import (
    accept_invitation,
    next_step,
    page_sign_in,
    pending_identities,
    pending_verification,
)
from app.identity.pages_api.registration import begin_verification, typed_form
from app.identity.pages_api.registration.typed_form import TypedForm
from app.identity.platform.context import NO_ACCOUNT, Context
from app.kit.operations.errors import ApiError

if TYPE_CHECKING:
    from app.identity.authentication.federation.home_realms import HomeRealm

COMPLETED = "register"


@dataclass(frozen=True)
class PasswordReplacement:
    """The credential instead of a password: a passkey, or the pending identity of a provider."""

    methods: tuple[str, ...]
    passkey: str = ""  # its WebAuthn id


@registration_pages.register.implements
def register(context: Context, req: registration_pages.RegisterRequest) -> StepResponse:
    """Register, in an interaction or without one; the next step is the sign-in, or the verification of the address."""
    interaction = next_step.open_interaction(context, req.interaction_id) if req.interaction_id else None
    if isinstance(interaction, StepResponse):
        return interaction
    if (realm := _demanded(context, req)) is not None:
        return page_sign_in.lead(context, interaction, realm)
    account_registration.require_enabled(context)
    handoff = interaction.state.handoff if interaction is not None else None
    if handoff is not None and not handoff.registers:
        raise errors.RegistrationOff
    ids = interactions.new_ids()  # without an interaction, the mail must name this browser too
    new_passkey = _new_passkey(context, req)
    pending_identity = pending_identities.registering_for(context, interaction) if req.is_connected else None
    if req.is_connected and pending_identity is None:
        return next_step.START_AGAIN
    has_password = new_passkey is None and (pending_identity is None or context.tenant.settings.federated_password)
    interaction_id = interaction.interaction_id if interaction else ids.interaction_id
    invited = _invited_email(context, interaction)
    typed, options = typed_form.read(context, req, interaction_id, has_password=has_password, fixed_email=invited)
    if pending_identity is not None:
        typed.names, options = (
            linked_identities.profile_names(pending_identity.claimed),
            replace(options, federated_identity=pending_identity.claimed),
        )
    draft = account_registration.read_draft(context, typed, options)
    current = interaction or ids
    if new_passkey is not None:
        # The captcha of a passkey that our page began was verified at the beginning.
        is_ours = new_passkey.challenge_token.facts.get("is_ours")
        with nullcontext() if is_ours else _captcha_first(context, req):
            result = passkey_sign_up.register(context, new_passkey, draft, options)
            return _continue(context, current, typed, result, _replacement_of(new_passkey))
    with _captcha_first(context, req):
        result = account_registration.register(context, draft, options)
        if pending_identity is None:
            return _continue(context, current, typed, result, None)
        identity = pending_identity.claimed
        if interaction is not None and result.account is not None:
            current = pending_identities.store_pending(context, interaction, identity, result.account.uid)
        return _continue(context, current, typed, result, PasswordReplacement((pending_identities.FEDERATED,)))


def _demanded(context: Context, req: registration_pages.RegisterRequest) -> HomeRealm | None:
    """Return where the address leads, if its organization demands a connection: a password or a passkey would sign nobody in."""
    if not req.finds_connection or req.is_connected:
        return None
    from app.identity.authentication.federation import home_realms  # noqa: PLC0415 - few tenants have any

    return home_realms.look_up_to_register(context, req.fields.get("email", ""))


@registration_pages.begin_with_passkey.implements
def begin_with_passkey(context: Context, req: registration_pages.RegisterRequest) -> PasskeyOptions:
    """Validate the form before the browser creates a passkey; whether the address is taken is not checked here."""
    passkey_sign_in.require_enabled(context)
    account_registration.require_enabled(context)
    ceremonies.refuse_misconfigured(context)
    ceremonies.count_lookup(context)
    invited = _invited_email(context, interactions.find_open(context, req.interaction_id))
    typed, options = typed_form.read(context, req, "", has_password=False, fixed_email=invited)
    draft = account_registration.validate(context, typed, options)
    if not draft.addresses.primary or "email" not in context.tenant.settings.login_kinds:
        raise errors.PasskeyNeedsEmail
    account_registration.refuse_taken_names(context, draft)
    owner = UserEntity(draft.uid, draft.addresses.primary, name_in(draft.profile) or "")
    with _captcha_first(context, req):
        creation_options = ceremonies.begin_registration(
            context, CeremonyUse.SIGN_UP, owner, required=DISCOVERABLE, is_ours=True
        )
    return PasskeyOptions(options=creation_options)


@contextmanager
def _captcha_first(context: Context, req: registration_pages.RegisterRequest) -> Iterator[None]:
    """Verify the captcha if the tenant requires one; a later refusal contains another one, because this one is used up."""
    if not context.tenant.settings.registration_captcha:
        yield
        return
    captcha_verification.require_solved(context, CaptchaUse.REGISTER, answers.from_form(req.captcha))
    try:
        yield
    except ApiError as refusal:
        refusal.data = {
            **(refusal.data or {}),
            **LockChallenge(captcha=captcha_verification.challenge(context, CaptchaUse.REGISTER)).to_data(),
        }
        raise


def _new_passkey(context: Context, req: registration_pages.RegisterRequest) -> NewPasskey | None:
    """Return the new passkey, if it replaces the password."""
    if req.credential is None:
        return None
    passkey_sign_in.require_enabled(context)
    return ceremonies.verify_registration(context, CeremonyUse.SIGN_UP, req.credential)


def _replacement_of(new_passkey: NewPasskey) -> PasswordReplacement:
    return PasswordReplacement(passkey_sign_up.methods_for(new_passkey), new_passkey.facts["id"])


def _invited_email(context: Context, interaction: Interaction | None) -> str:
    """Return the address of an invitation; empty without one, or if the form has no field for it."""
    has_email = any(item.name == "email" for item in registration_form.fields_of(context.tenant.settings))
    return accept_invitation.invited_email(context, interaction) if has_email else ""


def _continue(
    context: Context,
    started: Interaction | InteractionIds,
    typed: TypedForm,
    result: RegistrationResult,
    replacement: PasswordReplacement | None,
) -> StepResponse:
    interaction = started if isinstance(started, Interaction) else None
    if result.account is None or not result.may_sign_in:
        if isinstance(started, Interaction) or not result.waits_for:
            return _await_verification(context, interaction, typed, result, replacement)
        ids, binding = interactions.start(context, InteractionKind.RETURN, ids=started)
        return _await_verification(context, ids, typed, result, replacement).model_copy(update={"binding": binding})
    authentication = Authentication(replacement.methods if replacement else (password_sign_in.PASSWORD,))
    outcome = completion.after_registration(context, result.account, authentication)
    return page_sign_in.present(context, interaction, outcome)


def _await_verification(
    context: Context,
    interaction: Interaction | None,
    typed: TypedForm,
    result: RegistrationResult,
    replacement: PasswordReplacement | None,
) -> StepResponse:
    """Return the step of a registration without a session: an allowed return address, or our page."""
    required = (
        interaction.state.return_url if interaction is not None and interaction.kind == InteractionKind.RETURN else None
    )
    if interaction is not None and required and allowed_urls.is_allowed(context, required):
        interactions.finish(context, interaction)
        address = allowed_urls.with_query(required, action_completed=COMPLETED)
        return StepResponse(step=RedirectStep(address=address))
    if not result.waits_for:
        return StepResponse(step=LoginStep(), interaction_id=interaction.interaction_id if interaction else None)
    is_phone = result.waits_for == "phone"
    credential = replacement if replacement is not None and not is_phone else PasswordReplacement(())
    awaited = PendingVerification(
        (typed.phone_id or "") if is_phone else typed.value_of("email"),
        result.account.uid if result.account else NO_ACCOUNT,
        password_hash=result.password_hash,
        by=pending_verification.SMS if is_phone else pending_verification.MAIL,
        held=result.pending_columns,
        passkey=credential.passkey,
        methods=list(credential.methods),
    )
    return begin_verification.begin(context, interaction, awaited, is_sent=True)
