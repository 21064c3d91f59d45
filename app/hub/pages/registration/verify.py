"""Mailed verification links. A GET does not use the link up; the button confirms the address."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final
from urllib.parse import urlencode

from flask import Response
from wtforms import PasswordField

from app.contract import errors
from app.contract.page_models import MAX_TOKEN_LENGTH, LinkLookup
from app.contract.steps import StepResponse
from app.contract.verification import verification_pages
from app.hub import journey
from app.hub.components import mailed_link
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import pages
from app.hub.pages.registration import check_mail
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Page
from app.hub.web.cookies import remembered_relying_party
from app.hub.web.errors import shown_for
from app.hub.web.responses import redirect_to
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError


class VerificationLinkForm(HubForm):
    """The button, the number of a waiting page, and the password if several registrations wait for the address."""

    number = mailed_link.number_field()

    password = PasswordField(_l("Password"), render_kw={"autocomplete": "current-password", "maxlength": 1000})


class VerificationLinkState(StrEnum):
    """The state of a verification link."""

    OPEN = "open"
    PASSWORD = "password"
    USED = "used"
    EXPIRED = "expired"
    UNKNOWN = "unknown"
    CLOSED = "closed"


_WRONG_PASSWORD: Final = _l("Wrong password. Use the one from sign-up.")


@dataclass(frozen=True)
class VerifyPage(mailed_link.LinkPage):
    """Confirms an email address."""

    template = "pages/registration/verify.html"
    required_blocks = frozenset({"lead"})
    path = check_mail.PATH
    scripts = (*Page.scripts, "reveal")

    form: VerificationLinkForm
    state: VerificationLinkState
    relying_party: str = ""
    added_by: str = ""
    is_awaited: bool = False
    """Whether a page in another browser waits for the link, and shows a number."""
    is_own: bool = False
    """Whether this browser asked for the link and just opened it; never after a post, so that an error is no loop."""

    @property
    def continues(self) -> bool:
        return self.is_own and self.state is VerificationLinkState.OPEN

    @classmethod
    def samples(cls) -> Mapping[str, VerifyPage]:
        token = "a-token"
        samples = {
            state.value: cls(VerificationLinkForm(), state, "ada@example.com", token) for state in VerificationLinkState
        }
        wrong = VerificationLinkForm()
        wrong.add_error("password", _WRONG_PASSWORD)
        samples["a wrong password"] = cls(wrong, VerificationLinkState.PASSWORD, "ada@example.com", token)
        samples["open for an application"] = cls(
            VerificationLinkForm(), VerificationLinkState.OPEN, "ada@example.com", token, "Acme Shop"
        )
        samples["in the same browser"] = cls(
            VerificationLinkForm(), VerificationLinkState.OPEN, "ada@example.com", token, is_own=True
        )
        samples["awaited in another browser"] = cls(
            VerificationLinkForm(), VerificationLinkState.OPEN, "ada@example.com", token, is_awaited=True
        )
        wrong_number = VerificationLinkForm(data={"number": "12"})
        wrong_number.add_error("number", mailed_link.WRONG_NUMBER)
        samples["a wrong number"] = cls(
            wrong_number, VerificationLinkState.OPEN, "ada@example.com", token, is_awaited=True
        )
        samples["open for another account"] = cls(
            VerificationLinkForm(), VerificationLinkState.OPEN, "ada@example.com", token, added_by="g***@e***.com"
        )
        samples["used for an application"] = cls(
            VerificationLinkForm(), VerificationLinkState.USED, "ada@example.com", token, "Acme Shop"
        )
        return samples


@dataclass(frozen=True)
class ConfirmedPage(Page):
    """The address is confirmed; links to where the sign-in continues."""

    template = "pages/registration/confirmed.html"
    scripts = ("language",)
    query = {**Page.query, "confirmed": 8}
    scripted_at = {check_mail.PATH: frozenset({"confirmed"})}

    continue_url: str
    relying_party: str = ""
    was_before: bool = False

    @property
    def shows_secret(self) -> bool:
        """An application says where the person has an account, and so does its address; ours may have a sign-in's id."""
        return bool(self.relying_party) or self.continue_url != "/login"

    @classmethod
    def samples(cls) -> Mapping[str, ConfirmedPage]:
        return {
            "confirmed": cls("/login"),
            "confirmed for an application": cls("/login", "Acme Shop"),
            "confirmed before": cls("/login", "", was_before=True),
        }


@pages.get(check_mail.PATH)
def show_verify() -> Response:
    """Render a mailed link, the confirmation, or the page that waits for either."""
    if token := mailed_link.link_token():
        return _show_link(token)
    if confirmed := current_visit().query.get("confirmed", ""):
        return _confirmed(was_before=confirmed == "before")
    return check_mail.show() if current_visit().query.get("attempt") else redirect_to("/login")


@pages.get(check_mail.WAITING)
def verification_state() -> Response:
    """Return the state of the waiting page for its script."""
    return Response(check_mail.waiting_state(), content_type="text/plain; charset=utf-8")


@pages.post(check_mail.PATH)
def submit_verify() -> Response:
    view = _ACTIONS.get(current_visit().form.get("do", ""))
    return view() if view else check_mail.submit_code()


def _show_link(token: str) -> Response:
    link = api()(verification_pages.read_link, mailed_link.link_read(token))
    if link.state == VerificationLinkState.USED and not _live_interaction_id():
        return _confirmed(was_before=True)
    return replace(
        _page(VerificationLinkForm(), VerificationLinkState(link.state), token, link), is_own=link.is_own
    ).render()


def _confirm() -> Response:
    return _submit(lambda body: api()(verification_pages.open_link, body))


def _renew() -> Response:
    return _submit(lambda body: api()(verification_pages.renew_link, body))


def _submit(verify: Callable[[verification_pages.VerifyLinkRequest], StepResponse]) -> Response:
    form, token, visit = VerificationLinkForm(), mailed_link.link_token(), current_visit()
    if not form.validate():
        link = api()(verification_pages.read_link, LinkLookup(token=token))
        return _page(form, VerificationLinkState(link.state), token, link).render(form.error_status)
    try:
        typed = (form.password.data or "")[:1000]
        number = (form.number.data or "").strip()[:20]
        response = verify(
            verification_pages.VerifyLinkRequest(
                token=token, interaction_id=visit.interaction_id, password=typed, number=number
            )
        )
    except errors.WrongMailCode as refusal:
        return _wrong_number(token, refusal)
    except (errors.PasswordMissing, errors.WrongCredentials) as refusal:
        return _prompt_for_password(token, refusal)
    except ApiError as refusal:
        state = shown_for(refusal, _REFUSED)
        if state is None:
            raise
        return _page(VerificationLinkForm(formdata=None), state, token).render(refusal.status)
    return journey.follow(response)


def _wrong_number(token: str, refusal: ApiError) -> Response:
    form, link = VerificationLinkForm(formdata=None), api()(verification_pages.read_link, LinkLookup(token=token))
    form.add_error("number", mailed_link.WRONG_NUMBER)
    return _page(form, VerificationLinkState(link.state), token, link).render(refusal.status)


def _prompt_for_password(token: str, refusal: ApiError) -> Response:
    """Ask for the registration's password; the first time without an error."""
    form, link = VerificationLinkForm(formdata=None), api()(verification_pages.read_link, LinkLookup(token=token))
    is_wrong = isinstance(refusal, errors.WrongCredentials) or "password" in current_visit().form
    if is_wrong:
        form.add_error(
            "password", _WRONG_PASSWORD if isinstance(refusal, errors.WrongCredentials) else _l("Enter your password.")
        )
    return _page(form, VerificationLinkState.PASSWORD, token, link).render(refusal.status if is_wrong else 200)


def _page(
    form: VerificationLinkForm,
    state: VerificationLinkState,
    token: str,
    link: verification_pages.VerificationLinkView | None = None,
) -> VerifyPage:
    link = link or verification_pages.VerificationLinkView(state=state)
    name = current_visit().relying_party
    return VerifyPage(form, state, link.sent_to, token[:MAX_TOKEN_LENGTH], name, link.added_by, link.is_awaited)


def _live_interaction_id() -> str:
    """Return the id of this browser's live interaction; empty if there is none."""
    interaction = current_visit().interaction
    return interaction.id if interaction and interaction.expires_at > services().now() else ""


def _confirmed(*, was_before: bool) -> Response:
    interaction, interaction_id = current_visit().interaction, _live_interaction_id()
    name = current_visit().relying_party
    if interaction_id:
        return ConfirmedPage(f"/login?{urlencode({'attempt': interaction_id})}", name, was_before).render()
    if interaction and interaction.home:
        return ConfirmedPage(interaction.home, name, was_before).render()
    name, home = remembered_relying_party()
    return ConfirmedPage(home or "/login", name if home else "", was_before).render()


_ACTIONS: Final[Mapping[str, Callable[[], Response]]] = {
    "link": _confirm,
    "renew": _renew,
    "opened": check_mail.submit_link_opened,
    "mail": check_mail.submit_resend,
}
_REFUSED: Final[dict[type[ApiError], VerificationLinkState]] = {
    errors.UnknownLink: VerificationLinkState.UNKNOWN,
    errors.ExpiredLink: VerificationLinkState.EXPIRED,
    errors.ClosedLink: VerificationLinkState.CLOSED,
    errors.EmailRegistered: VerificationLinkState.CLOSED,
}
