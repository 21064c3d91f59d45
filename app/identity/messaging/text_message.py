"""Renders text messages: the code first, where a phone's preview shows it; the origin-bound line for browsers last."""

from __future__ import annotations

from typing import Final

from babel.support import NullTranslations

from app.contract.messages.models import NEW_PLACE_TEXTS, SmsKind
from app.identity.messaging import gsm7
from app.identity.messaging.message import MessageFacts, one_line
from app.identity.messaging.rendering import format_duration

_MAX_TENANT_LENGTH: Final = 30
_MAX_DEVICE_LENGTH: Final = 60


def render_sms(kind: SmsKind, tenant: str, facts: MessageFacts, t: NullTranslations, host: str) -> str:
    """Return the message of this kind, in the GSM 7-bit alphabet if the language allows it."""
    return append_origin_line(gsm7.simplify(sentence(kind, tenant, facts, t)), facts.otp, host)


def sentence(kind: SmsKind, tenant: str, facts: MessageFacts, t: NullTranslations) -> str:
    """Return the text of this kind in a catalogue, without the origin-bound line."""
    template = {
        SmsKind.VERIFICATION: t.gettext("%(code)s is your %(tenant)s code."),
        SmsKind.RESET: t.gettext("%(code)s is your code to reset your %(tenant)s password."),
        SmsKind.RESET_PIN: t.gettext("%(code)s is your code to reset your %(tenant)s PIN."),
        SmsKind.WELCOME: t.gettext("Welcome to %(tenant)s. Your account is ready."),
        SmsKind.CHANGE_PHONE: t.gettext("%(code)s is your code to verify this number for %(tenant)s."),
        SmsKind.DELETE_ACCOUNT: t.gettext(
            "%(code)s is your code to delete your %(tenant)s account. Not you? Change your password."
        ),
        SmsKind.PHONE_CHANGED: t.gettext("You can no longer sign in to %(tenant)s with this number. Not you? %(url)s"),
        SmsKind.SECOND_FACTOR: t.gettext("%(code)s is your %(tenant)s verification code."),
        SmsKind.SIGN_IN: t.gettext("%(code)s is your code to sign in to %(tenant)s."),
        SmsKind.ONE_TOUCH: t.gettext("%(code)s is your code to sign in to %(tenant)s."),
        **dict.fromkeys(
            NEW_PLACE_TEXTS,
            t.gettext("We blocked a sign-in to your %(tenant)s account: %(device)s. Not you? %(url)s")
            if facts.change == "refused"
            else t.gettext("New sign-in to your %(tenant)s account: %(device)s. Not you? %(url)s"),
        ),
        SmsKind.ACCOUNT_EXISTS: t.gettext(
            "You already have an account with %(tenant)s for this number. Sign in: %(url)s"
        ),
    }[kind]
    values = {"code": facts.otp, "tenant": one_line(tenant, _MAX_TENANT_LENGTH), "url": facts.url}
    sentences = [template % {**values, "device": one_line(facts.device.replace(" · ", ", "), _MAX_DEVICE_LENGTH)}]
    minutes = facts.otp_minutes or facts.minutes
    if facts.otp and minutes:
        sentences.append(t.gettext("Code expires in %(time)s. Don’t share it.") % {"time": format_duration(minutes, t)})
    return " ".join(sentences)


def voice_text(text: str, otp: str) -> str:
    """Return a message to be read out in a call: its code digit by digit, and everything twice."""
    spelled = text.replace(otp, f"{', '.join(otp)}.")
    return f"{spelled}\n{spelled}"


def append_origin_line(text: str, otp: str, host: str) -> str:
    """Add the last line of an origin-bound code: a browser fills the code in at this host only."""
    line = f"@{host.partition(':')[0]} #{otp}"
    return text if not otp or text.rstrip().endswith(line) else f"{text.rstrip()}\n\n{line}"
