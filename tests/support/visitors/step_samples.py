"""Samples of every step: one of each model, and one of each reason, state and outcome."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from app.contract.accounts.models import PersonView, ReauthenticationOptions
from app.contract.oauth.models import ScopeView
from app.contract.organizations.settings import MethodLimit
from app.contract.organizations.views import OrganizationOption
from app.contract.sessions.models import AccountOption, SelectAccountStep, SwitchAccountStep
from app.contract.step_reasons import (
    ApprovalOutcome,
    BackupCodesReason,
    Channel,
    DeviceOutcome,
    LoginReason,
    ProgramOutcome,
    QrCodeState,
    RefusedPart,
)
from app.contract.steps import (
    AnyStep,
    ApproveProgramStep,
    ApproveSignInStep,
    BackupCodesStep,
    CheckMailStep,
    ConfirmSignOutStep,
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
    RequestingDevice,
    ResetSentStep,
    SecondFactorStep,
    SelectOrganizationStep,
    SignedOutStep,
    SignInSentStep,
    StartAgainStep,
    WorkflowRedirectStep,
)

ADA: Final = PersonView(uid="0123456789abcdef0123456789abcdef", label="ada@example.com")
LIMIT: Final = MethodLimit.model_validate({"organization": "Acme", "allowed_methods": ["passkey"]})
_MAIL, _BACK = "ada@example.com", "https://shop.example/cb?code=\u00fc"
_DEVICE: Final = RequestingDevice(name="Firefox, Linux", place="Berlin, Germany", address="203.0.113.7")
_ACCOUNT: Final = AccountOption(id="s1", label=_MAIL)
_SCOPES: Final = [ScopeView(name="openid"), ScopeView(name="email", is_optional=True)]
_AGAIN: Final = ReauthenticationOptions(person=ADA, methods={"password": _MAIL})

SAMPLES: Final[tuple[AnyStep, ...]] = (
    LoginStep(),
    *(LoginStep(reason=reason) for reason in LoginReason if reason is not LoginReason.METHOD),
    LoginStep(reason=LoginReason.METHOD, method_limit=LIMIT),
    LoginStep(reauthentication=_AGAIN),
    LoginStep(connection="google"),
    RegisterStep(),
    RegisterStep(connection="google"),
    RegisterStep(reauthentication=_AGAIN),
    CheckMailStep(sent_to=_MAIL, can_change=True, number="47"),
    CheckMailStep(sent_to="+44 20 7946 0018", channel=Channel.SMS),
    EmailConfirmedStep(),
    EmailConfirmedStep(was_confirmed_before=True),
    ForgotStep(),
    ResetSentStep(sent_to=_MAIL),
    PinSentStep(sent_to=_MAIL),
    *(SignInSentStep(sent_to=_MAIL, channel=channel) for channel in Channel),
    NewPasswordStep(token="a-token"),
    NewPinStep(token="a-token"),
    SecondFactorStep(),
    PasskeyOfferStep(),
    BackupCodesStep(),
    *(BackupCodesStep(reason=reason) for reason in BackupCodesReason),
    InvitationStep(),
    *(QrCodeStep(state=state, code="a-code", number="47") for state in QrCodeState),
    ApproveSignInStep(device=_DEVICE, person=ADA),
    ApproveSignInStep(device=_DEVICE, person=ADA, is_number_wrong=True),
    *(
        ApproveSignInStep(outcome=item, is_earlier=is_earlier)
        for item in ApprovalOutcome
        for is_earlier in (False, True)
    ),
    ApproveProgramStep(person=ADA),
    *(
        ApproveProgramStep(outcome=item, is_earlier=is_earlier)
        for item in ProgramOutcome
        for is_earlier in (False, True)
    ),
    SelectOrganizationStep(person=ADA, organizations=[OrganizationOption(id="org_1", name="Acme", people=2)]),
    SelectAccountStep(accounts=[_ACCOUNT]),
    SwitchAccountStep(current="ada@example.com", other="grace@example.com"),
    ConsentStep(person=ADA, scopes=_SCOPES),
    DeviceCodeStep(),
    DeviceStep(person=ADA, scopes=_SCOPES, user_code="WDJB-MJHT", device=_DEVICE),
    *(DeviceDoneStep(outcome=item, is_earlier=is_earlier) for item in DeviceOutcome for is_earlier in (False, True)),
    PrivacyPolicyStep(person=ADA),
    ConsentFormsStep(person=ADA, events=["Login"], accepted_options=["news"]),
    PinStep(person=ADA),
    PinStep(person=ADA, can_skip=True),
    ReauthenticationStep(),
    MissingFieldsStep(person=ADA, names=["first_name"]),
    WorkflowRedirectStep(person=ADA, address="https://kyc.acme.example/start?state=5tate"),
    RedirectStep(address=_BACK),
    FormPostStep(address=_BACK, fields={"code": "a-code"}),
    ProfileStep(),
    ProfileStep(is_return_refused=True),
    SignedOutStep(),
    SignedOutStep(accounts=[_ACCOUNT]),
    ConfirmSignOutStep(person=ADA),
    RefusedStep(error="access_denied", description="The user denied access."),
    *(RefusedStep(error="invalid_request", part=part) for part in RefusedPart),
    StartAgainStep(),
)


def named_samples() -> Iterable[tuple[str, AnyStep]]:
    """Yield every sample with a name for a test's message."""
    for number, step in enumerate(SAMPLES):
        yield f"{step.step} {number}", step
