"""Registration on our page: the same rules as by the operations, but the answer never tells who has an account."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from app.contract import errors as e
from app.contract import hub_registration as contract
from app.contract.accounts import EmailEntry, PinInfo
from app.contract.captcha import Lock
from app.contract.hub import Next, Step
from app.contract.hub_passkeys import PasskeyOptions
from app.contract.registration_form import CUSTOM, TERMS, FormField
from app.identity.authentication.registration import service as registration
from app.identity.authentication.registration.service import RegistrationOptions, RegistrationResult
from app.identity.authentication.sign_in import interactions, risks, second_factor
from app.identity.authentication.sign_in import service as sign_in
from app.identity.authentication.sign_in.interactions import Interaction, InteractionIds
from app.identity.authentication.sign_in.passkeys import registration as sign_up
from app.identity.authentication.sign_in.second_factor import Authentication
from app.identity.authentication.verification.service import VerificationOptions
from app.identity.credentials.captcha import service as captcha
from app.identity.credentials.passkeys import ceremonies
from app.identity.credentials.passkeys.ceremonies import CeremonyUse, NewPasskey
from app.identity.credentials.passkeys.options import DISCOVERABLE, UserEntity
from app.identity.credentials.second_factors import service as second_factors
from app.identity.directory.accounts import identifiers, linked_identities
from app.identity.directory.accounts.account import name_in
from app.identity.directory.tenants import allowed_addresses, registration_form
from app.identity.hosted import (
    first_factor_passed,
    identity_linking,
    next_step,
    pending_verification,
    token_handoff,
    verification,
)
from app.identity.platform.context import Context
from app.kit.errors import ApiError

COMPLETED = "register"


@dataclass
class Typed:
    """What was typed into the form of a page, as the registration model."""

    form: tuple[FormField, ...]
    fields: dict[str, str]
    country: str | None
    names: dict[str, str] = field(default_factory=dict)  # that another provider said
    email: list[EmailEntry] | None = None
    user_name: str | None = None
    phone_id: str | None = None
    uid: str | None = None
    password: str | None = None
    security_question_answer: dict[str, str] | None = None
    pin_info: PinInfo | None = None  # a step of its own

    def __post_init__(self) -> None:
        address = self.said("email")
        self.email = [EmailEntry(type="Primary", value=address)] if address else None
        self.user_name = self.said("username") or None
        self.phone_id = identifiers.to_international(self.said("phone"), self.country) or None
        self.password = self.fields.get("password") or None

    def said(self, name: str) -> str:
        """Return what stands in a field, without the spaces around it."""
        return self.fields.get(name, "").strip()

    @property
    def free(self) -> dict[str, Any]:
        """What fills the free profile: only what the form has, and only where something was typed."""
        given = [(one, text) for one in self.form if (text := self.said(one.name))]
        free: dict[str, Any] = {one.member: text for one, text in given if one.member}
        custom = {one.name.removeprefix(CUSTOM): text for one, text in given if one.is_custom}
        return {**self.names, **free, **({"CustomFields": custom} if custom else {})}


@dataclass(frozen=True)
class Instead:
    """What stands in the place of a password: a passkey, or the identity of another provider that waits in the attempt."""

    methods: tuple[str, ...]
    passkey: str = ""  # its WebAuthn id


@contract.register.implements
def submit(context: Context, req: contract.RegisterRequest) -> Next:
    """Register within an attempt or without one: onward with a session, or to the page that says to look into the mail."""
    interaction = next_step.open_interaction(context, req.attempt) if req.attempt else None
    if isinstance(interaction, Next):
        return interaction
    registration.require_enabled(context)
    wish = token_handoff.request_for(interaction)
    if wish is not None and not wish.registers:
        raise e.RegistrationOff
    own = (
        interactions.new_ids()
    )  # where nobody asked: the mail names this browser all the same, as its proof shows one person
    made, brought = _made(context, req), identity_linking.active_for(context, interaction) if req.is_connected else None
    if req.is_connected and brought is None:
        return next_step.START_AGAIN
    has_password = made is None and brought is None
    typed, ask = _read(
        context, req, interaction.interaction_id if interaction else own.interaction_id, has_password=has_password
    )
    if brought is not None:
        typed.names, ask = (
            linked_identities.profile_names(brought.claimed),
            replace(ask, federated_identity=brought.claimed),
        )
    drafted = registration.read_draft(context, typed, ask)
    if made is not None and made.challenge_token.facts.get("is_ours"):  # the captcha was answered when it began
        return _onward(
            context, interaction or own, typed, sign_up.register(context, made, drafted, ask), _of_passkey(made)
        )
    with _captcha_first(context, req):
        if made is not None:
            return _onward(
                context, interaction or own, typed, sign_up.register(context, made, drafted, ask), _of_passkey(made)
            )
        outcome = registration.register(context, drafted, ask)
        if interaction is not None and brought is not None and outcome.account is not None:
            interaction = identity_linking.store_pending(context, interaction, brought.claimed, outcome.account.uid)
        return _onward(
            context, interaction or own, typed, outcome, Instead((identity_linking.FEDERATED,)) if brought else None
        )


@contract.begin_with_passkey.implements
def begin_with_passkey(context: Context, req: contract.RegisterRequest) -> PasskeyOptions:
    """Whatever is wrong is said before there is a passkey that no account has; whose the address is, is not looked at."""
    sign_up.require_enabled(context)
    registration.require_enabled(context)
    ceremonies.refuse_misconfigured(context)
    ceremonies.spend_lookup(context)
    typed, ask = _read(context, req, "", has_password=False)
    drafted = registration.validate(context, typed, ask)
    if not drafted.addresses.primary or "email" not in context.tenant.settings.login_kinds:
        raise e.PasskeyNeedsEmail
    registration.refuse_taken_names(context, drafted)
    owner = UserEntity(drafted.uid, drafted.addresses.primary, name_in(drafted.profile) or "")
    with _captcha_first(context, req):
        told = ceremonies.begin_registration(context, CeremonyUse.SIGN_UP, owner, wanted=DISCOVERABLE, is_ours=True)
    return PasskeyOptions(options=told)


@contextmanager
def _captcha_first(context: Context, req: contract.RegisterRequest) -> Iterator[None]:
    """Demand the captcha, where the tenant asks for one; with a refusal after it goes another one, as this one is used up."""
    if not context.tenant.settings.registration_captcha:
        yield
        return
    captcha.require_solved(context, captcha.from_form(req.captcha))
    try:
        yield
    except ApiError as refusal:
        refusal.data = {**(refusal.data or {}), **Lock(captcha=captcha.challenge(context)).to_data()}
        raise


def _made(context: Context, req: contract.RegisterRequest) -> NewPasskey | None:
    """Return the passkey that stands in the place of the password, if one does."""
    if req.credential is None:
        return None
    sign_up.require_enabled(context)
    return ceremonies.verify_registration(context, CeremonyUse.SIGN_UP, req.credential)


def _of_passkey(made: NewPasskey) -> Instead:
    return Instead(sign_up.methods_for(made), made.facts["id"])


def _read(
    context: Context, req: contract.RegisterRequest, interaction_id: str, *, has_password: bool
) -> tuple[Typed, RegistrationOptions]:
    form = registration_form.fields_of(context.tenant.settings)
    asked = {one.name for one in form if has_password or "password" not in (one.name, one.matches)}
    given = {name: text for name, text in req.fields.items() if name in asked}
    typed = Typed(form, given, context.tenant.settings.default_country)
    options = RegistrationOptions(
        VerificationOptions(interaction_id=interaction_id),
        source=f"{context.issuer}/register",
        accepts_terms=bool(given.get(TERMS)) if TERMS in asked else None,
        has_password=has_password,
        hides_taken=True,
    )
    return typed, options


def _onward(
    context: Context,
    begun: Interaction | InteractionIds,
    typed: Typed,
    outcome: RegistrationResult,
    instead: Instead | None,
) -> Next:
    interaction = begun if isinstance(begun, Interaction) else None
    if outcome.account is None or not outcome.may_sign_in:
        if isinstance(begun, Interaction) or not outcome.waits_for:
            return _waiting(context, interaction, typed, outcome, instead)
        own, binding = interactions.begin(context, next_step.RETURN, {}, begun)
        return _waiting(context, own, typed, outcome, instead).model_copy(update={"binding": binding})
    authentication = Authentication(instead.methods if instead else (sign_in.PASSWORD,))
    wanted = (
        None
        if second_factor.MFA in authentication.methods
        else second_factors.required_factor(context, outcome.account)
    )
    if wanted is None:
        risks.remember_origin(context, outcome.account)
    return first_factor_passed.continue_sign_in(context, interaction, outcome.account, authentication, wanted)


def _waiting(
    context: Context,
    interaction: Interaction | None,
    typed: Typed,
    outcome: RegistrationResult,
    instead: Instead | None,
) -> Next:
    """Where nobody is signed in yet: back to a return address that says so itself (hosted-pages.md section 3), else our page."""
    wanted = (
        interaction.request.get("return_url")
        if interaction is not None and interaction.kind == next_step.RETURN
        else None
    )
    if interaction is not None and wanted and allowed_addresses.is_allowed(context, wanted):
        interactions.finish(context, interaction)
        return Next(step=Step.REDIRECT, address=allowed_addresses.with_query(wanted, action_completed=COMPLETED))
    if outcome.waits_for == "email":
        shown = instead or Instead(())
        known, held = outcome.password_hash, outcome.held
        return verification.begin(
            context, interaction, typed.said("email"), outcome.account, is_sent=True, password_hash=known, held=held,
            passkey=shown.passkey, methods=shown.methods,
        )  # fmt: skip
    if outcome.waits_for == "phone":
        number, account, known, held = typed.phone_id or "", outcome.account, outcome.password_hash, outcome.held
        return verification.begin(
            context,
            interaction,
            number,
            account,
            is_sent=True,
            password_hash=known,
            by=pending_verification.SMS,
            held=held,
        )
    return Next(step=Step.LOGIN, attempt=interaction.interaction_id if interaction else None)
