"""The captcha of pages: a challenge, and an emailed link in its place without scripts."""

from __future__ import annotations

from app.contract import errors
from app.contract.captcha import captcha_pages
from app.contract.captcha.models import CaptchaChallenge, CaptchaUse
from app.contract.page_models import LinkLookup, NoParameters
from app.contract.shared_responses import Posted
from app.identity.authentication.recovery import captcha_links, recipient, recovery_requests
from app.identity.authentication.recovery.captcha_links import UnsolvedForm
from app.identity.authentication.sign_in import sign_in_identifiers
from app.identity.credentials import reset_messages
from app.identity.credentials.captcha import built_in
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts.login_attempts import account_lookup
from app.identity.platform.context import Context


@captcha_pages.read.implements
def read_captcha(context: Context, req: NoParameters) -> CaptchaChallenge:
    return built_in.challenge(context, CaptchaUse.REGISTER)


@captcha_pages.mail_link.implements
def mail_link(context: Context, req: captcha_pages.CaptchaLinkRequest) -> Posted:
    """Email a link, with the same response and cost for identifiers with and without an account."""
    recovery_requests.count_request(context)
    form = UnsolvedForm(req.use, req.identifier.strip(), req.typed, req.interaction_id)
    if form.use is CaptchaUse.REGISTER:
        if not (context.tenant.settings.registration and context.tenant.settings.registration_captcha):
            raise errors.RegistrationOff
        email = identifiers.normalize_email(form.identifier)
        if not email:
            raise errors.MalformedEmail
        captcha_links.send_to_address(context, email, form)
        return Posted()
    identifier = sign_in_identifiers.guess(context.tenant.settings, form.identifier)
    lookup = account_lookup.find(context, identifier, is_hidden=True)
    captcha_links.send_to_account(context, recipient.reachable_account(lookup, reset_messages.MAIL), form)
    return Posted()


@captcha_pages.read_link.implements
def read_link(context: Context, req: LinkLookup) -> captcha_pages.CaptchaLinkView:
    form, link = captcha_links.open_form(context, req.token)
    challenge = built_in.solved_challenge(context, form.use, link.token_id, link.expires_at)
    return captcha_pages.CaptchaLinkView(
        use=form.use, identifier=form.identifier, typed=dict(form.typed), captcha=challenge
    )
