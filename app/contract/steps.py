"""The steps of an interaction: one model per step, and the response of every operation that returns the next step.

The identity service decides the step; `app/hub/journey.py` has the page or the response of each.
"""

from typing import Annotated, Literal

from pydantic import Field

from app.contract.accounts.models import PersonView, ReauthenticationOptions
from app.contract.messages.models import Carries
from app.contract.oauth.models import DetailView, RelyingPartyView, ScopeView
from app.contract.organizations.settings import MethodLimit
from app.contract.organizations.views import (
    InvitationHint,
    JoinableOrganization,
    OrganizationBranding,
    OrganizationOption,
)
from app.contract.sessions.models import AccountOption, OtherSessions, SelectAccountStep, Session, SwitchAccountStep
from app.contract.step_reasons import (
    ApprovalOutcome,
    BackupCodesReason,
    Channel,
    DeviceOutcome,
    LoginReason,
    ProgramOutcome,
    QrCodeState,
    RefusedPart,
    WaitingState,
)
from app.contract.workflows.workflow_display import WorkflowDisplay
from app.kit.operations.wire import Wire


class AccountStep(Wire):
    """A step whose page shows the account."""

    person: PersonView | None = None


class LoginStep(Wire):
    """Sign in."""

    step: Literal["login"] = "login"
    reason: LoginReason | None = None
    method_limit: MethodLimit | None = None  # if `reason` is METHOD
    reference: str | None = None  # of the request that was refused, which the trace of a provider's answer has
    denial: str | None = None  # message of the workflow that last refused a sign-in of the interaction; may be empty
    reauthentication: ReauthenticationOptions | None = None
    connection: str | None = None  # redirect to this identity provider at once


class RegisterStep(Wire):
    """Create an account."""

    step: Literal["register"] = "register"
    connection: str | None = None  # whose identity fills the form
    reauthentication: ReauthenticationOptions | None = None


class MessageSent(Wire):
    """A link or a code was sent; the same for every address, with and without an account."""

    sent_to: str  # as typed
    channel: Channel = Channel.MAIL
    resend_in_seconds: int = 0  # wait before the next resend
    number: str = ""  # shown by this page, typed where the link is opened; empty if the email has no link
    state: WaitingState = WaitingState.WAITS
    carries: Carries = "both"  # what the email contains


class CheckMailStep(MessageSent):
    """Verify an address or a number."""

    step: Literal["check_mail"] = "check_mail"
    can_change: bool = False  # this browser registered, and may change the address or number


class EmailConfirmedStep(Wire):
    """The address is verified, and this browser is not signed in."""

    step: Literal["email_confirmed"] = "email_confirmed"
    was_confirmed_before: bool = False


class ForgotStep(Wire):
    """Enter the identifier of the account with the forgotten password."""

    step: Literal["forgot"] = "forgot"


class ResetSentStep(MessageSent):
    """Reset the password by the message."""

    step: Literal["reset_sent"] = "reset_sent"


class PinSentStep(MessageSent):
    """Reset the PIN by the message."""

    step: Literal["pin_sent"] = "pin_sent"


class SignInSentStep(MessageSent):
    """Sign in by the message."""

    step: Literal["sign_in_sent"] = "sign_in_sent"


class NewPasswordStep(Wire):
    """Set a new password."""

    step: Literal["new_password"] = "new_password"
    token: str  # of the page


class NewPinStep(Wire):
    """Set a new PIN."""

    step: Literal["new_pin"] = "new_pin"
    token: str  # of the page


class SecondFactorStep(Wire):
    """Verify a second factor; the interaction keeps the first factor for ten minutes."""

    step: Literal["second_factor"] = "second_factor"


class PasskeyOfferStep(Wire):
    """Signed in: create a passkey for the next sign-in, or decline."""

    step: Literal["passkey_offer"] = "passkey_offer"


class BackupCodesStep(Wire):
    """Create and save backup codes."""

    step: Literal["backup_codes"] = "backup_codes"
    reason: BackupCodesReason | None = None  # None: the account just enrolled its first factor


class InvitationStep(Wire):
    """Show an invitation to an organization that this account cannot join."""

    step: Literal["invitation"] = "invitation"


class QrCodeStep(Wire):
    """Open the code on a phone, and approve it there."""

    step: Literal["qr_code"] = "qr_code"
    state: QrCodeState
    code: str = ""  # empty once it is approved, denied or expired
    number: str = ""  # typed on the phone


class RequestingDevice(Wire):
    """The browser or program that waits for an approval."""

    name: str  # browser or program and its system, as it names itself
    place: str = ""  # by its IP address; empty if unknown
    address: str = ""


class ApproveSignInStep(AccountStep):
    """Approve the browser that shows a QR code."""

    step: Literal["approve_sign_in"] = "approve_sign_in"
    outcome: ApprovalOutcome | None = None  # None: the page asks
    is_earlier: bool = False  # the person answered in an earlier request
    device: RequestingDevice | None = None  # set while the page asks
    is_number_wrong: bool = False


class ApproveProgramStep(AccountStep):
    """Approve the sign-in of a program on another device."""

    step: Literal["approve_program"] = "approve_program"
    outcome: ProgramOutcome | None = None  # None: the page asks
    is_earlier: bool = False  # as above


class SelectOrganizationStep(AccountStep):
    """Choose an organization, or the personal account."""

    step: Literal["select_organization"] = "select_organization"
    organizations: list[OrganizationOption] = Field(default_factory=list)
    allows_personal: bool = False
    joinable: list[JoinableOrganization] = Field(default_factory=list)  # organizations to ask
    can_create: bool = False
    invitations: InvitationHint = Field(default_factory=InvitationHint)


class ScopesQuestion(AccountStep):
    """The scopes and authorization details that an application requests."""

    scopes: list[ScopeView]
    details: list[DetailView] = Field(default_factory=list)  # authorization details (RFC 9396)


class ConsentStep(ScopesQuestion):
    """Allow or deny the application's request."""

    step: Literal["consent"] = "consent"


class DeviceCodeStep(Wire):
    """Type the code of a device again: it was wrong, or expired."""

    step: Literal["device_code"] = "device_code"


class DeviceStep(ScopesQuestion):
    """Allow or deny a device without a browser."""

    step: Literal["device"] = "device"
    user_code: str
    device: RequestingDevice


class DeviceDoneStep(Wire):
    """The device is allowed, denied, or its code expired."""

    step: Literal["device_done"] = "device_done"
    outcome: DeviceOutcome
    is_earlier: bool = False  # the person answered in an earlier request


class PrivacyPolicyStep(AccountStep):
    """Accept the current version of the privacy policy."""

    step: Literal["privacy_policy"] = "privacy_policy"
    is_first: bool = False  # the account never accepted a version


class ConsentFormsStep(AccountStep):
    """Answer the tenant's consent forms."""

    step: Literal["consent_forms"] = "consent_forms"
    events: list[str]  # of the forms
    accepted_options: list[str] = Field(default_factory=list)  # already


class PinStep(AccountStep):
    """Set a PIN."""

    step: Literal["pin"] = "pin"
    can_skip: bool = False


class ReauthenticationStep(Wire):
    """Signed in, but the application requires a second factor."""

    step: Literal["step_up"] = "step_up"


class MissingFieldsStep(AccountStep):
    """Fill in fields that the tenant's form requires."""

    step: Literal["missing_fields"] = "missing_fields"
    names: list[str]  # of the form's fields


class WorkflowRedirectStep(AccountStep):
    """Go to a page of the tenant that a workflow requires, and come back with its result."""

    step: Literal["workflow_redirect"] = "workflow_redirect"
    address: str = ""  # empty until the interaction is known


class RedirectStep(Wire):
    """Go to an address of the relying party, or of a page of the hub."""

    step: Literal["redirect"] = "redirect"
    address: str
    connection: str | None = None  # of an organization, to whose provider it leads
    title: str | None = None  # of that organization


class FormPostStep(Wire):
    """Post a form to the relying party (OAuth 2.0 Form Post Response Mode)."""

    step: Literal["form_post"] = "form_post"
    address: str
    fields: dict[str, str]
    connection: str | None = None  # of an organization, to whose provider it leads
    title: str | None = None  # of that organization


class ProfileStep(Wire):
    """The interaction ends at the account's own pages."""

    step: Literal["profile"] = "profile"
    is_return_refused: bool = False  # the return address is not allowed


class SignedOutStep(Wire):
    """The session ended."""

    step: Literal["signed_out"] = "signed_out"
    accounts: list[AccountOption] = Field(default_factory=list)  # the accounts that stay signed in


class ConfirmSignOutStep(AccountStep):
    """Confirm the sign-out; only its own page handles this step."""

    step: Literal["confirm_sign_out"] = "confirm_sign_out"


class RefusedStep(Wire):
    """An error page; never a redirect, because the redirect address is not verified."""

    step: Literal["refused"] = "refused"
    error: str  # the OAuth error, for example invalid_request
    description: str | None = None  # for the application's developers
    part: RefusedPart | None = None


class StartAgainStep(Wire):
    """The interaction is gone; the relying party says where to start again."""

    step: Literal["start_again"] = "start_again"


RequiredAction = PrivacyPolicyStep | ConsentFormsStep | PinStep | MissingFieldsStep | WorkflowRedirectStep
"""The required actions after a sign-in."""
AuthorizationPage = (
    LoginStep
    | RegisterStep
    | SelectAccountStep
    | SelectOrganizationStep
    | ConsentStep
    | RequiredAction
    | ReauthenticationStep
)
"""The pages of an authorization request; it waits for their answer as an interaction."""
AnyStep = (
    LoginStep | RegisterStep | CheckMailStep | EmailConfirmedStep | ForgotStep | ResetSentStep | PinSentStep | SignInSentStep
    | NewPasswordStep | NewPinStep | SecondFactorStep | PasskeyOfferStep | BackupCodesStep | InvitationStep | QrCodeStep
    | ApproveSignInStep | ApproveProgramStep | SelectOrganizationStep | SelectAccountStep | SwitchAccountStep | ConsentStep
    | DeviceCodeStep | DeviceStep | DeviceDoneStep | RequiredAction | ReauthenticationStep | RedirectStep | FormPostStep
    | ProfileStep | SignedOutStep | ConfirmSignOutStep | RefusedStep | StartAgainStep
)  # fmt: skip


class InteractionDisplay(Wire):
    """The request's values that the pages of an interaction show; the interaction's cookie holds them."""

    relying_party: RelyingPartyView | None = None
    organization: OrganizationBranding | None = None  # the pages' branding from this step on; None leaves it unchanged
    workflow: WorkflowDisplay | None = None  # None leaves what pages show of it unchanged
    invitation: str | None = None  # the organization that the sign-in or registration joins at its end
    login_hint: str | None = None
    ui_locales: str | None = None
    brand: str | None = None  # the key of the brand that the request chose
    display: str | None = None


class CookieChanges(Wire):
    """The cookies that a step sets or deletes."""

    session: Session | None = None
    ends_session: bool = False  # deletes its cookie
    other_sessions: OtherSessions | None = None  # None leaves their cookie unchanged
    browser_state: str | None = None  # the session's state for the session iframe
    trusted: Session | None = None  # of a trusted browser


class StepResponse(InteractionDisplay, CookieChanges):
    """The visitor's next step, with cookies, display values and frames."""

    step: Annotated[AnyStep, Field(discriminator="step")]
    interaction_id: str | None = None  # in the address and the form
    binding: str | None = None  # set for a new interaction: the browser's secret, for the interaction's cookie
    frames: list[str] = Field(default_factory=list)  # addresses to load in frames first: sign-outs of applications
