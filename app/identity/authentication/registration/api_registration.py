"""The options and the response of registrations by the API, which handlers with and without a password share."""

from __future__ import annotations

from dataclasses import replace

from app.contract import errors
from app.contract.profile import Profile
from app.contract.registration import registration_operations
from app.contract.shared_parameters import PREVENT_EMAIL, PREVENT_SMS
from app.contract.sign_in.sign_in_operations import Login
from app.identity.authentication.registration import account_registration
from app.identity.authentication.registration.account_registration import RegistrationOptions
from app.identity.authentication.verification.email_verification import VerificationOptions
from app.identity.credentials.pins import pin_tokens, pins
from app.identity.credentials.second_factors import second_factors
from app.identity.credentials.tokens import tokens
from app.identity.credentials.tokens.tokens import TokenGrant
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.account import Account
from app.identity.directory.consents import consent_required
from app.identity.directory.organizations import active_policies
from app.identity.directory.organizations.invitations import email_invitations, join_by_invitation
from app.identity.directory.organizations.invitations.invitation import EmailInvitation
from app.identity.platform.context import Context
from app.identity.platform.token_claims import TokenClaims
from app.kit import randomness
from app.kit.clock import iso


def options_for(context: Context, req: registration_operations.RegistrationModel) -> RegistrationOptions:
    """Return the registration options of an API request. Raises ClosedInvitation, OrganizationInactive for its invitation."""
    invited = _invitation(context, req)
    options = VerificationOptions(
        url=req.verification_url,
        email_template=req.email_template,
        sms_template=req.sms_template,
        is_voice_otp=req.is_voice_otp,
        welcome_template=req.welcome_email_template,
        sends_sms=not req.has_option(PREVENT_SMS),
    )
    return RegistrationOptions(
        options,
        source=account_registration.registration_source(req.referer),
        accepts_terms=req.accept_privacy_policy,
        consents=req.consents,
        sends_mail=not req.has_option(PREVENT_EMAIL),
        suppress_webhook=req.suppress_webhook,
        hides_taken=context.tenant.settings.hide_unknown_accounts,
        invited_email=invited.email_key if invited is not None else "",
    )


def respond(
    context: Context,
    req: registration_operations.RegistrationModel,
    result: account_registration.RegistrationResult,
    methods: tuple[str, ...] = ("pwd",),
    *,
    counts_as_two_factors: bool = False,
) -> registration_operations.Registered:
    """Return the response of a registration, with a session if the account may sign in at once.

    Args:
        methods: the `amr` of the registration.
        counts_as_two_factors: whether the methods count as two factors.

    Raises:
        TwoFactorOn: the account exists and must enrol a second factor; it signs in at `POST /identity/v2/auth/login/2fa`.
        ConsentNeeded, PinRequired: the account exists, and every sign-in requires this first.
        ClosedInvitation, OrganizationInactive, WrongInvitationEmail, NoSeatLeft: the request names an invitation that it cannot accept.
    """
    if result.account is None or not result.may_sign_in:
        return registration_operations.Registered()
    if (invited := _invitation(context, req)) is not None:
        join_by_invitation.accept(context, invited, result.account, randomness.digest(str(req.invitation_token)))
    if not counts_as_two_factors and second_factors.required_factor(context, result.account) is not None:
        raise errors.TwoFactorOn(commit_on_raise=True)
    authentication = {"methods": [*methods], "is_silent": req.suppress_webhook}
    if consent_required.is_due(context, result.account):
        raise consent_required.refusal(context, result.account, authentication)
    if pins.must_set_pin(context, result.account):
        raise pin_tokens.pin_required_error(context, result.account, authentication)
    # accepting an invitation made it a member after it was read
    account = result.account if invited is None else replace(result.account, has_organizations=True)
    return registration_operations.Registered(data=_login(context, account, req.fields_))


def _invitation(context: Context, req: registration_operations.RegistrationModel) -> EmailInvitation | None:
    """Return the open invitation that the request names; None if it names none."""
    if not req.invitation_token:
        return None
    if not context.tenant.settings.organizations.enabled:
        raise errors.ClosedInvitation
    return email_invitations.require_open(context, req.invitation_token)[0]


def _login(context: Context, account: Account, fields: str | None) -> Login:
    claims = TokenClaims(provider="Email", agent=context.agent, address=context.ip_address)
    access, refresh = active_policies.shortest_lifetimes(context, account)
    grant = TokenGrant(uid=account.uid, claims=claims, access_seconds=access, refresh_seconds=refresh)
    issued = tokens.issue(context, grant)
    profile = {**accounts.profile_of(account), "FirstLogin": True}
    return Login(
        profile=Profile.of(accounts.project(profile, fields)),
        access_token=issued.access_token,
        refresh_token=issued.refresh_token,
        expires_in=iso(issued.access_expires_at) or "",
        **pin_tokens.issue_session(context, account.uid, "email" if account.email else "phone"),
    )
