"""A mail with a link and a code has one thing to do first: the button. The code is the second way."""

from app.contract.messages.models import MailKind
from app.contract.tenants.branding import Brand
from app.identity.messaging.message import Branding
from app.identity.messaging.rendering import render
from app.identity.messaging.samples import EMAIL_SAMPLES
from app.kit.text.languages import LANGUAGES


def shown(state: str) -> str:
    """Return the HTML of the verification mail from its heading on."""
    facts = EMAIL_SAMPLES[MailKind.VERIFICATION][state]
    return render(MailKind.VERIFICATION, Branding("Acme", Brand()), facts, LANGUAGES["en"]).html.partition("<h1")[2]


def test_button_stands_before_code_and_origin_before_advice() -> None:
    order = ("Verify email</a>", "Or enter this code:", "482913", "Requested for", "Didn’t sign up?")
    places = [shown("link and code").index(words) for words in order]
    assert places == sorted(places)


def test_mail_with_a_link_or_a_code_alone_offers_no_other() -> None:
    assert "Or enter this code" not in shown("link") + shown("code")
    assert ("482913" in shown("link"), "Verify email</a>" in shown("code")) == (False, False)
