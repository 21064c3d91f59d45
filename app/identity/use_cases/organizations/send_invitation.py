"""Sends invitations to organizations by email, and resends them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from app.contract import errors
from app.contract.messages.models import MailKind
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts.account import Account, full_name
from app.identity.directory.organizations import organizations
from app.identity.directory.organizations.invitations import email_invitations, granted_roles, shared_invitations
from app.identity.directory.organizations.invitations.email_invitations import InvitationRequest, InvitationRules
from app.identity.directory.organizations.invitations.invitation import (
    LIFETIME,
    AnyInvitation,
    EmailInvitation,
    SharedInvitation,
)
from app.identity.directory.organizations.invitations.shared_invitations import SharedInvitationRequest
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.directory.tenants.urls import allowed_urls
from app.identity.messaging import messaging
from app.identity.messaging.message import MessageFacts
from app.identity.messaging.send_limits import CountedAs
from app.identity.platform.context import Context
from app.kit.operations.errors import ApiError

PAGE: Final = "/invitation"
PARAMETER: Final = "invitation_token"
COOL_DOWN: Final = timedelta(minutes=1)
"""Between two emails of one invitation."""
_REPEATED: Final = "The address occurs more than once in the request; the first one counts."
REFUSED_ALONE: Final = (
    errors.WrongInvitationEmail, errors.MalformedRoleId, errors.UnknownOrganizationRole, errors.BadParameter, errors.WrongInviter,
    errors.AlreadyMember,
    errors.InvitationExists, errors.NoSeatLeft, errors.MailLimitReached,
)  # fmt: skip
"""Refusals of one of several invitations, which do not concern the others."""


@dataclass(frozen=True)
class Result:
    """The result of one of several invitations: the invitation, or why it was not made."""

    email: str
    invitation: EmailInvitation | None = None
    refusal: ApiError | None = None
    is_repeated: bool = False
    """Whether an earlier one of the request has the address."""


def invite(
    context: Context, org_id: str, request: InvitationRequest, *, language: str | None = None
) -> EmailInvitation:
    """Invite a person by email; `language` is that of the email to a person without an account, by default the tenant's.

    Raises as `lock_active` and `InvitationRules` do, and InvitationUrlRefused, MailLimitReached.
    """
    refuse_url(context, request.url)
    rules = email_invitations.read_rules(
        context, organizations.lock_active(context, org_id, is_alone=True), [request.email]
    )
    return _invite(context, rules, request, language)


def invite_many(
    context: Context, org_id: str, requested: Sequence[InvitationRequest], *, language: str | None = None
) -> list[Result]:
    """Invite several people; return one result for each, in their order. Nothing of a refused one is stored or sent.

    Raises:
        InvitationUrlRefused: for one of them.
        OrganizationIdMissing, MalformedOrganizationId, UnknownOrganization, OrganizationInactive.
    """
    for url in {element.url for element in requested}:
        refuse_url(context, url)
    # alone, because a taken key would abort the transaction of all
    organization = organizations.lock_active(context, org_id, is_alone=True)
    rules = email_invitations.read_rules(context, organization, [element.email for element in requested])
    known: set[str] = set()
    results = []
    for item in requested:
        key = identifiers.normalize_email(item.email)
        if key in known:
            results.append(Result(item.email, refusal=errors.InvitationExists(_REPEATED), is_repeated=True))
            continue
        try:
            invitation = _invite(context, rules, item, language)
        except REFUSED_ALONE as refusal:
            results.append(Result(item.email, refusal=refusal))
        else:
            results.append(Result(item.email, invitation))
        known |= {key} if key else set()
    return results


def _invite(
    context: Context, rules: InvitationRules, request: InvitationRequest, language: str | None
) -> EmailInvitation:
    """Invite a person to an organization that is locked alone, so that every refusal comes before the first change."""
    checked = rules.check(request)
    messaging.count_mail(context, MailKind.INVITATION, checked.email, checked.holder)
    invitation, token = email_invitations.add(context, checked)
    rules.count(checked)
    _send(
        context, invitation, checked.organization, token, language,
        inviter=checked.inviter, holder=checked.holder, is_counted=True,
    )  # fmt: skip
    return invitation


def create_shared(context: Context, request: SharedInvitationRequest) -> tuple[SharedInvitation, str]:
    """Create a shared invitation; return it and its token. Raises as `shared_invitations.create` does, and InvitationUrlRefused."""
    refuse_url(context, request.url)
    return shared_invitations.create(context, request)


def resend(
    context: Context,
    invitation: EmailInvitation,
    organization: OrganizationRecord,
    *,
    url: str | None = None,
    by: str | None = None,
    language: str | None = None,
) -> EmailInvitation:
    """Email a new link, which ends the earlier one. `by`: the member who invites from now on.

    Raises:
        ClosedInvitation: it is no longer open.
        TooManyRequests: the last email was sent less than a minute ago.
        InvitationUrlRefused, MailLimitReached.
    """
    refuse_url(context, url)
    if invitation.is_open and (seconds := seconds_until_resend(context, invitation)):
        raise errors.TooManyRequests(retry_after_seconds=seconds)
    renewed, token = email_invitations.renew_token(context, invitation, url, by=by)
    inviter, holder = granted_roles.inviter(context, renewed.inviter_uid), email_invitations.holder(context, renewed)
    _send(context, renewed, organization, token, language, inviter=inviter, holder=holder)
    return renewed


def seconds_until_resend(context: Context, invitation: EmailInvitation) -> int:
    """Return the seconds until another email of the invitation may be sent; 0 if one may be sent now."""
    if invitation.resent_at is None:
        return 0
    wait = invitation.resent_at + COOL_DOWN - context.now
    return max(1, round(wait.total_seconds())) if wait > timedelta() else 0


def refuse_url(context: Context, url: str | None) -> None:
    """Raise InvitationUrlRefused for a page outside the tenant's allowed addresses."""
    if url and not allowed_urls.is_allowed_in_mail(context, url):
        raise errors.InvitationUrlRefused


def address_of(context: Context, invitation: AnyInvitation, token: str) -> str:
    """Return the address with a token: of the hosted page, or of the application's own with `invitation_token`.

    A page that the tenant has taken off its allow list since then gets no token.
    """
    if invitation.url and allowed_urls.is_allowed_in_mail(context, invitation.url):
        return allowed_urls.with_query(invitation.url, **{PARAMETER: token})
    return allowed_urls.own_link(context, PAGE, token)


def _send(
    context: Context,
    invitation: EmailInvitation,
    organization: OrganizationRecord,
    token: str,
    language: str | None,
    *,
    inviter: Account | None,
    holder: Account | None,
    is_counted: bool = False,
) -> None:
    """Queue the email. `holder`: the account that has verified the address, whose own language goes before `language`."""
    facts = MessageFacts(
        url=address_of(context, invitation, token),
        token=token,
        minutes=int(LIFETIME.total_seconds()) // 60,
        organization=organization.display_name,
        organization_logo=organization.logo_url or "",
        organization_color=organization.color or "",
        inviter=(full_name(inviter) or "") if inviter is not None else "",
    )
    messaging.mail(
        context,
        MailKind.INVITATION,
        invitation.email,
        account=holder,
        facts=facts,
        language=language if holder is None else None,
        is_requested=True,
        counted_as=None if is_counted else CountedAs(),
    )
