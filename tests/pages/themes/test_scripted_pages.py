"""Which pages may have a theme's scripts: each page is listed, so that a new one has to choose (decision 0421)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from app.contract.themes.theme_scripts import elements
from app.hub.components.signed_out import SignedOutPage
from app.hub.gallery import all_samples
from app.hub.rendering.own_scripts import OwnScripts
from app.hub.rendering.page import Page
from app.hub.tenants.branding import PageBranding
from app.hub.tenants.tenant import HubTenant
from app.hub.web.interaction import HubInteraction
from app.hub.web.visit import Visit, set_current_visit
from tests.support.browsers import page_samples

SCRIPTED = {
    "ConfirmedPage": {"/verify": {"confirmed"}},
    "RegistrationOffPage": {"/register": set()},
    "SignedOutPage": {"/logout": set()},
}
"""The pages that may have scripts, by path, with the parameters that the address may have."""
NEVER = re.findall(
    r"\w+",
    """
AccountChangedPage AccountDeletedPage AddDomainPage AddEmailPage AddFactorPage AddIdentityPage AddPasskeyPage
ApplicationsPage ApproveSignInPage BackupCodesPage CaptchaLinkRefusedPage CaptchaMailedPage
CertificateRenewalPage ChangeAddressPage
ChangeEmailPage ChangePasswordPage ChangePhonePage CheckMailPage ChooseAccountPage ChooseFactorPage
ConfirmDeletionPage ConfirmProviderPage ConsentFormsPage ConsentPage ConsentsPage CookiesBlockedPage CreateLinkPage
CreateOrganizationAtSignInPage CreateOrganizationPage DeleteAccountPage DeleteOrganizationPage
DeletionMailedPage DeviceApprovalPage DeviceCodePage DeviceDonePage DeviceHandoffPage DevicePage
DownloadDataPage EditPasskeyPage EmailCodePage EmailsPage EnrolmentReauthenticationPage ErrorPage FactorsPage
ForgotPage FormPostPage HumanCheckPage IdentitiesPage InvitationPage InvitePeoplePage JoinRequestsPage
KeepAccountPage LeavePage LinkCreatedPage LockedLoginPage LoginPage LogoutPage LostPasskeyPage MemberRolesPage
MissingFieldsPage OrganizationDomainsPage OrganizationLogoPage OrganizationMembersPage OrganizationSettingsPage
OrganizationsPage OwnInvitationsPage PasskeyLoginPage PasskeyOfferPage PasskeyRegisterPage PasskeysPage
PasswordlessPage PhoneCodePage PhonePage PhoneSignInPage PinPage PinQuestionsPage PrivacyPolicyPage ProfilePage
ReauthenticationPage RegisterPage RemoveDomainPage RemoveFactorPage RemoveIdentityPage RemoveMemberPage
RemovePhonePage ResetLinkPage ResetPage ResetPasskeyPage ResetPinPage ResetSentPage ReturnToAppPage
RevokeInvitationPage SecondFactorLockedPage SecondFactorPage SecurityAlertPage SecurityPage
SecurityQuestionsPage SelectOrganizationPage SetPasswordPage SetPinPage SignInLinkPage SignInRequestPage
SetupActivatePage SetupConnectionPage SetupDomainPage SetupLinkPage SetupProviderPage SetupTestPage
SignInSentPage StartAgainPage SwitchAccountPage ThemeEditorPage TransferOwnershipPage TurnOffPage UnknownTenantPage UsernamePage
VerifyPage WorkflowRedirectPage
    """,
)
"""Pages with a field, a secret, an account, a token in the address, or an address that a request chooses."""


SECRET = re.compile(
    r"<(?:form|input|button|select|textarea|iframe|object|embed)\b|attempt=|vtoken=|code=|sid=|[a-z]@[a-z]|Acme Shop|shop\.example",
    re.IGNORECASE,
)
"""What no page with scripts has: fields, frames of other sites, tokens, addresses of people, and their applications."""


@pytest.fixture(scope="module")
def pages() -> dict[str, type[Page]]:
    with page_samples.hub().app_context():
        return {page.__name__: page for page, _ in all_samples()}


def test_every_page_chooses_whether_it_may_have_scripts(pages: dict[str, type[Page]]) -> None:
    assert sorted(pages) == sorted([*NEVER, *SCRIPTED])
    assert {name: page.scripted_at for name, page in pages.items() if page.scripted_at} == SCRIPTED


def test_state_with_scripts_has_no_field_frame_or_person(pages: dict[str, type[Page]]) -> None:
    """A new state of such a page with one of these has to say so by `shows_secret`."""
    open_states: list[tuple[str, str, str | None]] = []
    secret_states: list[tuple[str, str, str | None]] = []
    for name in SCRIPTED:
        with page_samples.hub().test_request_context():
            samples = pages[name].samples()
            shown = {state: page.shows_secret for state, page in samples.items()}
        for state, is_secret in shown.items():
            html = page_samples.rendered(name, state, "en").html.partition("<main")[2].partition("</main>")[0]
            found = SECRET.search(html.replace("attempt=sample", ""))  # of the gallery; a sign-in has no scripts at all
            (secret_states if is_secret else open_states).append((name, state, found and found[0]))
    assert [each for each in open_states if each[2]] == []
    assert len(open_states) >= 4
    assert [each for each in secret_states if not each[2]] == []


def test_page_with_a_form_shows_a_secret_by_default(pages: dict[str, type[Page]]) -> None:
    with page_samples.hub().test_request_context():
        assert next(iter(pages["LoginPage"].samples().values())).shows_secret
        assert "shows_secret" not in vars(pages["LoginPage"])


def visit_of(path: str, **more: Any) -> Visit:
    """A visit of a tenant whose theme has a script."""
    scripts = elements({"js": "https://analytics.example/a.js"}, ["https://analytics.example"])
    tenant = HubTenant("acme", PageBranding("Acme", scripts=scripts, script_origins=("https://analytics.example",)))
    return Visit(tenant=tenant, environ={"PATH_INFO": path, "QUERY_STRING": "", "REQUEST_METHOD": "POST"}, **more)


@pytest.mark.parametrize(
    ("visit", "has_scripts"),
    [
        (visit_of("/logout"), True),
        (visit_of("/login"), False),
        (visit_of("/logout", interaction=HubInteraction("a", "b")), False),
        (visit_of("/logout", form_token="of the cache"), False),
    ],
)
def test_visit_decides_beside_the_page(visit: Visit, has_scripts: bool) -> None:
    """A form names its sign-in outside of the address, and a cached page is of many visits."""
    with page_samples.hub().test_request_context():
        set_current_visit(visit)
        assert (SignedOutPage().own_scripts is not None) is has_scripts
        assert SignedOutPage(accounts=("ada@example.com",)).own_scripts is None


def test_elements_and_policy_have_one_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second answer could be another one, and elements beside a policy without their sandbox would run in the host's origin."""
    asked: list[Page] = []

    def changing(page: Page) -> OwnScripts | None:
        asked.append(page)
        return OwnScripts(page.brand.scripts) if len(asked) == 1 else None

    monkeypatch.setattr(Page, "own_scripts", property(changing))
    with page_samples.hub().test_request_context():
        set_current_visit(visit_of("/logout"))
        response = SignedOutPage().render()
        assert "https://analytics.example/a.js" in response.get_data(as_text=True)
        assert "sandbox allow-scripts" in response.headers["Content-Security-Policy"]
        assert "analytics.example" not in SignedOutPage().html(), "without a policy"
