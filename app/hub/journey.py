"""Maps each step that the identity service returns to the hub's page or response (`JOURNEY`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, TypeVar, cast
from urllib.parse import urlencode

from flask import Response

from app.contract.oauth.models import RelyingPartyView
from app.contract.sessions.models import SelectAccountStep, SwitchAccountStep
from app.contract.sign_in.sign_in_pages import InteractionRequest, ReturnRequest, open_return, resume
from app.contract.step_reasons import RefusedPart
from app.contract.steps import (
    ApproveProgramStep,
    ApproveSignInStep,
    BackupCodesStep,
    CheckMailStep,
    ConsentFormsStep,
    ConsentStep,
    DeviceCodeStep,
    DeviceDoneStep,
    DeviceStep,
    EmailConfirmedStep,
    ForgotStep,
    FormPostStep,
    InvitationStep,
    LoginStep,
    MissingFieldsStep,
    NewPasswordStep,
    NewPinStep,
    PasskeyOfferStep,
    PinSentStep,
    PinStep,
    PrivacyPolicyStep,
    ProfileStep,
    QrCodeStep,
    ReauthenticationStep,
    RedirectStep,
    RefusedStep,
    RegisterStep,
    ResetSentStep,
    SecondFactorStep,
    SelectOrganizationStep,
    SignedOutStep,
    SignInSentStep,
    StartAgainStep,
    StepResponse,
    WorkflowRedirectStep,
)
from app.contract.workflows.result_pages import RETURN_PATH
from app.hub.components.error_pages import CookiesBlockedPage, ErrorPage, Explanation, RequestError, StartAgainPage
from app.hub.components.form_post import FormPostPage, ReturnToAppPage, opens_app
from app.hub.components.sign_in_methods import WITH_PROVIDER, complete_method
from app.hub.components.signed_out import SignedOutPage
from app.hub.web.cookies import (
    delete_cookie,
    remember_application,
    remember_relying_party,
    remembered_relying_party,
    set_cookie,
    set_interaction_cookie,
    set_other_sessions,
    set_session,
    set_state_cookie,
)
from app.hub.web.csrf import is_cross_origin_request
from app.hub.web.interaction import HubInteraction, interaction_from_step
from app.hub.web.responses import redirect, redirect_to
from app.hub.web.services import api, services
from app.hub.web.short_links import link_url
from app.hub.web.visit import (
    COOKIE_TEST,
    COOKIE_TEST_VALUE,
    Visit,
    current_visit,
    is_provider_callback,
    own_url,
    requested_interaction_id,
)
from app.kit.operations.wire import Wire

_MAX_ID_LENGTH: Final = 64
PROFILE: Final = "/profile"
EARLIER: Final = "earlier"
"""The query parameter of a page that shows what the person answered in an earlier request."""


def follow(response: StepResponse, **parameters: str) -> Response:
    """Return the redirect or page of a step, with its cookies; `parameters` are added to the page's query."""
    page = JOURNEY[type(response.step)](response, parameters)
    set_cookies(page, response)
    return page


def follow_home(response: StepResponse) -> Response:
    """Return the response for a polling page; redirect to the application's home if another tab finished the sign-in."""
    interaction, is_profile = current_visit().interaction, isinstance(response.step, ProfileStep)
    is_finished_in_other_tab = is_profile and not response.interaction_id and not response.session
    if is_finished_in_other_tab and interaction and interaction.home:
        return redirect_to(interaction.home)
    return follow(response)


def set_cookies(page: Response, response: StepResponse) -> None:
    """Set the cookies of a step: session, interaction, trusted browser, relying party."""
    shared, visit = services(), current_visit()
    visit.adopt_binding(response.binding)
    application = response.relying_party.name if response.relying_party else ""
    if visit.interaction and visit.interaction.home and isinstance(response.step, RedirectStep | FormPostStep):
        remember_application(page, visit.interaction.relying_party, visit.interaction.home)
    if response.session:
        complete_method(page)
        set_session(page, response.session, response.browser_state)
        if shared.identifier_cookie in visit.cookies:
            delete_cookie(page, shared.identifier_cookie)
    elif response.ends_session:
        set_session(page, None, response.browser_state)
    elif visit.tenant.has_session_management and response.browser_state:
        set_state_cookie(page, response.browser_state)
    if response.other_sessions is not None:
        set_other_sessions(page, response.other_sessions)
    if response.trusted:
        set_cookie(page, shared.trusted_cookie, response.trusted.token, response.trusted.lifetime_seconds)
    is_confirmed = isinstance(response.step, EmailConfirmedStep) and not visit.interaction
    if is_confirmed and response.relying_party and response.interaction_id:
        remember_relying_party(page, response.interaction_id, application, response.relying_party.home or "")
    elif (interaction := _changed_interaction(response, visit, shared.now())) is not None:
        set_interaction_cookie(page, interaction)


def _changed_interaction(response: StepResponse, visit: Visit, now: int) -> HubInteraction | None:
    """Return the interaction to store in the cookie: a new one, or the current one with changed values; None if it is unchanged."""
    stored, lifetime_seconds = visit.interaction, visit.tenant.sign_in_page_seconds
    limit = response.step.method_limit if isinstance(response.step, LoginStep) else None
    if response.interaction_id and response.binding:
        begun = interaction_from_step(response, response.binding, now, lifetime_seconds)
        begun = begun if begun.brand else begun.with_brand(visit.brand_key)
        return begun.with_method_limit(limit) if limit else begun
    if stored is None or response.interaction_id != stored.id:
        return None
    changed = stored.with_organization(response.organization).with_workflow(response.workflow)
    if (
        isinstance(response.step, LoginStep)
        and response.step.reauthentication
        and response.step.reauthentication.connects
    ):
        changed = changed.with_confirmation()
    if limit is not None:
        changed = changed.with_method_limit(limit)
    elif response.relying_party and response.relying_party.name and not stored.relying_party:
        changed = replace(
            interaction_from_step(response, stored.binding, now, lifetime_seconds),
            expires_at=stored.expires_at,
            organization=changed.organization,
            organization_logo=changed.organization_logo,
            organization_colour=changed.organization_colour,
            organization_theme=changed.organization_theme,
            organization_connections=changed.organization_connections,
            requires_connection=changed.requires_connection,
            theme=changed.theme,
            entry=changed.entry,
            brand=changed.brand,
        )
    return changed if changed != stored else None


def _redirect(response: StepResponse, step: RedirectStep) -> Response:
    leaves_by_form = step.connection is not None and response.ends_session and current_visit().is_post
    if response.frames or leaves_by_form:  # a form's page names no provider, to which browsers follow no redirect then
        return _after_sign_out(response, step.address)
    if opens_app(step.address):
        name = response.relying_party.name if response.relying_party else current_visit().relying_party
        return ReturnToAppPage(step.address, name).render()
    return redirect_to(step.address)


def _form_post(response: StepResponse, step: FormPostStep) -> Response:
    name, frames = response.relying_party.name if response.relying_party else "", tuple(response.frames)
    return FormPostPage(step.address, tuple(step.fields.items()), name, step.title or "", frames).render()


def _signed_out(response: StepResponse, step: SignedOutStep) -> Response:
    return _after_sign_out(response, "", tuple(account.label for account in step.accounts))


def _after_sign_out(response: StepResponse, address: str, accounts: tuple[str, ...] = ()) -> Response:
    """Return the page after a sign-out, which loads the applications' front-channel logout frames and then continues."""
    application = response.relying_party
    name, home = (application.name, application.home or "") if application else ("", "")
    current_visit().forget_account()
    return SignedOutPage(name, home, tuple(response.frames), address, accounts).render()


def _refused(response: StepResponse, step: RefusedStep) -> Response:
    application, visit = response.relying_party, current_visit()
    explanation = _REFUSED.get(step.part, RequestError.BAD_REQUEST)
    back = (application.name, application.home or "") if application else ("", "")
    detail = ": ".join(text for text in (step.error, step.description) if text)
    return ErrorPage(explanation, 400, visit.reference, *back, detail=detail).render(400)


class InteractionGone(Exception):
    """The requested interaction has expired, or another browser started it; `start_again` renders its page."""


def require_interaction() -> HubInteraction:
    """Return the interaction of the visit. Raises InteractionGone if there is none."""
    interaction = current_visit().interaction
    if interaction is None:
        raise InteractionGone
    return interaction


def open_for_workflow(action: str) -> Response | None:
    """Return the first page of a visit without an application, where the tenant's default workflow decides it; None for every other."""
    visit = current_visit()
    if not _begins_with_workflow(visit):
        return None
    kept = {name: visit.query[name] for name in ("reset", "methods") if name in visit.query}
    return follow(api()(open_return, ReturnRequest(action=action)), **kept)


def open_here_for_workflow() -> Response | None:
    """Return the redirect to this page within a new interaction, which has the look and the methods of the tenant's default workflow;
    None where no such workflow is, where the visit has an interaction, and for a signed-in browser.

    For the first pages of a visit other than those that the workflow chooses.
    """
    visit = current_visit()
    if visit.session or not _begins_with_workflow(visit):
        return None
    response = api()(open_return, ReturnRequest())
    page = redirect_to(f"{own_url(visit.path)}?{urlencode({**visit.query, 'attempt': response.interaction_id or ''})}")
    set_cookies(page, response)
    return page


def _begins_with_workflow(visit: Visit) -> bool:
    return visit.interaction is None and "attempt" not in visit.query and visit.tenant.has_default_workflow


def present_step() -> StepResponse:
    """Return the present step of the visit's interaction. Raises InteractionGone if there is none."""
    return api()(resume, InteractionRequest(interaction_id=require_interaction().id))


def refuse_unknown_interaction() -> None:
    """Raise InteractionGone if the request names an interaction that this browser did not start."""
    if requested_interaction_id() and current_visit().interaction is None:
        raise InteractionGone


def refuse_expired_interaction() -> None:
    """Raise InteractionGone if the request names an interaction that this browser did not start, or that expired."""
    refuse_unknown_interaction()
    interaction = current_visit().interaction
    if interaction is not None and interaction.expires_at <= services().now():
        raise InteractionGone


def continue_signed_in() -> Response | None:
    """Return the response that continues the interaction of a browser that signed in meanwhile; None if it must sign in here."""
    visit = current_visit()
    if not visit.session or visit.interaction is None:
        return None
    response = present_step()
    return None if isinstance(response.step, LoginStep | RegisterStep) else follow(response)


def start_again(application: RelyingPartyView | None = None) -> Response:
    """Return the page of an interaction that is gone, with a link to the application that the interaction or a cookie names.
    Redirect a browser without cookies once to find out whether it blocks them. After a provider's callback the page has a reference.
    """
    if (without_cookies := _cookie_probe()) is not None:
        return without_cookies
    visit = current_visit()
    relying_party = remembered_relying_party()
    if application:
        relying_party = application.name, application.home or ""
    elif visit.interaction:
        relying_party = visit.interaction.relying_party, visit.interaction.home
    return StartAgainPage(*relying_party, visit.reference if is_provider_callback(visit.path) else "").render(410)


def _cookie_probe() -> Response | None:
    """Return the redirect that sets a test cookie, or the page for a browser that did not return it; None if the browser has cookies."""
    visit = current_visit()
    if visit.has_cookies:
        return None
    interaction_id = requested_interaction_id()
    parameters = {"attempt": interaction_id} if 0 < len(interaction_id) <= _MAX_ID_LENGTH else {}
    path = own_url(visit.path)
    if visit.is_probed:
        again = f"{path}?{urlencode(parameters)}" if parameters else path
        return CookiesBlockedPage(again, visit.reference if is_provider_callback(visit.path) else "").render(403)
    if is_cross_origin_request(visit.environ, visit.host, is_https=services().is_https):  # the browser may have cookies
        return redirect(f"{path}?{urlencode(parameters)}" if parameters else path, 303)
    _ = visit.binding_secret  # a new one sets its cookie
    query = urlencode(
        {**(parameters if visit.is_post else visit.query), COOKIE_TEST: COOKIE_TEST_VALUE}, errors="replace"
    )
    return redirect(f"{path}?{query}", 303 if visit.is_post else 302)


def _earlier(step: ApproveSignInStep | ApproveProgramStep | DeviceDoneStep) -> dict[str, str | None]:
    """Return the query parameter by which a page says that the person answered earlier."""
    return {EARLIER: "y" if step.is_earlier else None}


S = TypeVar("S", bound=Wire)
_Follow = Callable[[StepResponse, dict[str, str]], Response]
_Entry = tuple[type[Wire], _Follow]


def _page(
    kind: type[S], address: str | Callable[[S], str], query: Callable[[S], Mapping[str, str | None]] | None = None
) -> _Entry:
    """Return the `JOURNEY` entry of a step with its own page; `query` returns further query parameters."""

    def follow_to_page(response: StepResponse, parameters: dict[str, str]) -> Response:
        step = cast("S", response.step)
        place = address if isinstance(address, str) else address(step)
        own = {name: text for name, text in (query(step) if query else {}).items() if text}
        interaction = {"attempt": response.interaction_id} if response.interaction_id else {}
        text = urlencode({**interaction, **own, **parameters})
        return _to_url(response, f"{place}?{text}" if text else place)

    return kind, follow_to_page


def _answer(kind: type[S], make: Callable[[StepResponse, S], Response]) -> _Entry:
    """Return the `JOURNEY` entry of a step that is answered directly, without a redirect to a page."""
    return kind, lambda response, _: make(response, cast("S", response.step))


def _to_profile(response: StepResponse, parameters: dict[str, str]) -> Response:
    """Redirect to the profile page, whose address has no interaction."""
    step = cast("ProfileStep", response.step)
    is_changed = parameters.get("changed") == "password"
    query = "?landing=refused" if step.is_return_refused else "?changed=password" if is_changed else ""
    return _to_url(response, f"{PROFILE}{query}")


def _to_url(response: StepResponse, address: str) -> Response:
    """Redirect to a page of the hub; if a session ended, after its front-channel logout frames."""
    if response.frames:
        return SignedOutPage(frames=tuple(response.frames), onward=address).render()
    return redirect_to(address)


JOURNEY: Final[Mapping[type[Wire], _Follow]] = dict((
    _page(LoginStep, lambda step: WITH_PROVIDER if step.connection else "/login",
          lambda step: {"needs": step.reason, "provider": step.connection, "reference": step.reference}),
    _page(RegisterStep, "/register", lambda step: {"with": step.connection}),
    _page(CheckMailStep, "/verify"),
    _page(EmailConfirmedStep, "/verify", lambda step: {"confirmed": "before" if step.was_confirmed_before else "now"}),
    _page(ForgotStep, "/forgot-password"),
    _page(ResetSentStep, "/forgot-password/sent"),
    _page(PinSentStep, "/forgot-pin/sent"),
    _page(SignInSentStep, "/sign-in/sent"),
    _page(NewPasswordStep, lambda step: link_url("/reset-password", step.token)),
    _page(NewPinStep, lambda step: link_url("/reset-pin", step.token)),
    _page(SecondFactorStep, "/second-factor"),
    _page(PasskeyOfferStep, "/passkeys/offer"),
    _page(BackupCodesStep, "/backup-codes", lambda step: {"state": step.reason}),
    _page(InvitationStep, "/invitation"),
    _page(QrCodeStep, "/sign-in/phone"),
    _page(ApproveSignInStep, "/sign-in/phone/approve", lambda step: {"said": step.outcome, **_earlier(step)}),
    _page(ApproveProgramStep, "/sign-in/elsewhere", lambda step: {"said": step.outcome, **_earlier(step)}),
    _page(SelectAccountStep, "/choose-account"),
    _page(SwitchAccountStep, "/sign-in/switch-account"),
    _page(SelectOrganizationStep, "/select-organization"),
    _page(ConsentStep, "/consent"),
    _page(DeviceCodeStep, "/device"),
    _page(DeviceStep, "/device/confirm"),
    _page(DeviceDoneStep, "/device/done", lambda step: {"state": step.outcome, **_earlier(step)}),
    _page(PrivacyPolicyStep, "/privacy-policy"),
    _page(ConsentFormsStep, "/consent-forms"),
    _page(PinStep, "/set-pin"),
    _page(ReauthenticationStep, "/confirm"),
    _page(MissingFieldsStep, "/missing-fields"),
    _page(WorkflowRedirectStep, RETURN_PATH),
    (ProfileStep, _to_profile),
    _answer(RedirectStep, _redirect),
    _answer(FormPostStep, _form_post),
    _answer(SignedOutStep, _signed_out),
    _answer(RefusedStep, _refused),
    _answer(StartAgainStep, lambda response, _: start_again(response.relying_party)),
))  # fmt: skip
"""The page or the response of each step; only the sign-out page handles ConfirmSignOutStep."""
_REFUSED: Final[Mapping[RefusedPart | None, Explanation]] = {
    RefusedPart.CLIENT: RequestError.UNKNOWN_APPLICATION,
    RefusedPart.REDIRECT_URI: RequestError.WRONG_URL,
    RefusedPart.POST_LOGOUT_REDIRECT_URI: RequestError.WRONG_URL,
}
