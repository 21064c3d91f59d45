"""Public tenant configuration and server time: /ciam/appinfo and /identity/v2/serverinfo."""

from datetime import datetime, timedelta

import pytest

from app.contract.messages.models import MailKind, MailTemplate
from tests.support.tenants.message_templates import add_templates
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused

APPINFO, SERVERINFO = "/ciam/appinfo", "/identity/v2/serverinfo"

# Every member that the interface names.
MEMBERS = (
    "SocialSchema RegistrationFormSchema SecurityQuestions AppName ApiVersion EmailVerificationFlow LoginLockedConfiguration "
    "IsInstantSignin TwoFactorAuthentication PrivacyPolicyConfiguration OptionalRecaptchaConfiguration "
    "TemplateVerificationTypes PassKeysConfig V2RecaptchaSiteKey QQTencentCaptchaKey CustomDomain ApiRequestSigningConfig "
    "IsHttps IsCustomerRegistration IsAutoLookUpEnabled IsPhoneLogin IsDisabledSocialRegistration IsDisabledAccountLinking "
    "IsAgeRestriction IsSecurityQuestion AskRequiredFieldsOnTraditionalLogin IsLogoutOnEmailVerification "
    "IsNoCallbackForSocialLogin IsUserNameLogin IsMobileCallbackForSocialLogin IsInvisibleRecaptcha IsBackendJobEnabled "
    "AskPasswordOnSocialLogin AskEmailIdForUnverifiedUserLogin AskOptionalFieldsOnSocialSignup IsRiskBasedAuthentication "
    "IsV2Recaptcha CheckPhoneNoAvailabilityOnRegistration DuplicateEmailWithUniqueUsername "
    "StoreOnlyRegistrationFormFieldsForSocial OTPEmailVerification IsLoginOnEmailVerification LoginOnPasswordReset "
    "IsRememberMe NoRegistration"
)
NESTED = {
    "SocialSchema": "Providers",
    "SecurityQuestions": "Questions SecurityQuestionCount",
    "ApiVersion": "v1 v2",
    "LoginLockedConfiguration": "LoginLockedType MaximumFailedLoginAttempts SuspendConfiguration",
    "IsInstantSignin": "EmailLink SmsOtp",
    "TwoFactorAuthentication": "IsEnabled IsRequired IsGoogleAuthenticator IsAuthenticator IsPushAuthenticator "
    "IsEmailOTPAuthenticator IsSecurityQuestionAuthenticator IsSmsOTPAuthenticator IsDuoSecurityAuthenticator "
    "IsPasskeyAuthenticator",
    "PrivacyPolicyConfiguration": "IsEnabled Mode PrivacyPolicies",
    "OptionalRecaptchaConfiguration": "IsEnabled Apis",
    "TemplateVerificationTypes": "AddEmail AutoLogin DeleteAccount ForgotPIN ForgotPassword "
    "NoRegistrationPasswordlessLogin OneClickSignin Registration",
    "PassKeysConfig": "IsEnabled PasskeySelection ProgressiveEnrollment ProgressiveEnrollmentDelay LocalEnrollment "
    "RPDisplayName RPID RPOrigins",
}


def test_every_member_is_present(acme: TenantServer) -> None:
    body = answered(acme.send("GET", APPINFO, with_secret=False))
    assert set(MEMBERS.split()) - set(body) == set()
    for name, members in NESTED.items():
        assert set(body[name]) == set(members.split()), name


def test_settings_use_names_of_the_interface(new_tenant_server: NewTenantServer) -> None:
    server = new_tenant_server(
        email_verification="optional",
        phone_login=True,
        username_login=True,
        registration=False,
        one_touch=True,
        passwordless_sms=True,
        remember_me=False,
        two_factor="required",
        passkeys=True,
        lockout={"type": "security_question", "maximum_failed_attempts": 3, "suspend_seconds": 60},
        security_questions={"q1": "Your first pet?"},
        request_signing="strict",
    )
    body = answered(server.send("GET", APPINFO, with_secret=False))
    shown = (
        "EmailVerificationFlow",
        "IsPhoneLogin",
        "IsUserNameLogin",
        "NoRegistration",
        "IsCustomerRegistration",
        "IsRememberMe",
    )
    assert [body[name] for name in shown] == ["optional", True, True, True, False, False]
    assert body["IsInstantSignin"] == {"EmailLink": False, "SmsOtp": True}
    assert body["LoginLockedConfiguration"] == {
        "LoginLockedType": "SecurityQuestion",
        "MaximumFailedLoginAttempts": 3,
        "SuspendConfiguration": {"EffectivePeriodInSeconds": 60},
    }
    assert (body["TwoFactorAuthentication"]["IsEnabled"], body["TwoFactorAuthentication"]["IsRequired"]) == (True, True)
    assert body["PassKeysConfig"]["IsEnabled"] is True
    assert body["SecurityQuestions"]["Questions"] == [{"QuestionId": "q1", "Question": "Your first pet?"}]
    assert body["ApiRequestSigningConfig"]["Mode"] == "Strict"


def test_providers_are_listed_with_their_endpoints(new_tenant_server: NewTenantServer) -> None:
    own_issuer = {"key": "a", "issuer": "https://id.example.com"}
    connections = {"google": {"key": "g"}, "github": {"key": "h", "is_active": False}, "apple-2": own_issuer}
    server = new_tenant_server(connections=connections, account_linking=False, no_callback_login=True)
    body = answered(server.send("GET", APPINFO, with_secret=False))
    endpoint = f"{server.services.settings.hub_url(server.name)}/RequestHandler.aspx?apikey={server.api_key}&provider="
    providers = [{"Name": name, "Endpoint": f"{endpoint}{name}"} for name in ("apple-2", "google")]
    assert body["SocialSchema"] == {"Providers": providers}
    assert (body["IsDisabledAccountLinking"], body["IsNoCallbackForSocialLogin"]) == (True, True)


def test_default_form_follows_sign_in_settings(new_tenant_server: NewTenantServer) -> None:
    server = new_tenant_server(phone_login=True, email_login=False)
    form = answered(server.send("GET", APPINFO, with_secret=False))["RegistrationFormSchema"]
    assert [element["name"] for element in form] == ["phoneid", "password"]
    assert "min_length[10]" in form[1]["rules"]


def test_configured_form_is_published_in_order(new_tenant_server: NewTenantServer) -> None:
    form = [
        {"name": "first_name", "required": True, "max_length": 40, "label": {"en": "Your name", "de": "Ihr Name"}},
        {"name": "email", "required": True},
        {"name": "cf_size", "type": "option", "options": [{"value": "m", "text": {"en": "Medium"}}]},
        {"name": "password", "type": "password", "required": True, "min_length": 12},
        {"name": "city", "matches": "first_name"},
    ]
    server = new_tenant_server(registration_form=form, custom_fields=["size"], default_locale="de")
    shown = answered(server.send("GET", APPINFO, with_secret=False))["RegistrationFormSchema"]
    assert [(element["name"], element["display"], element["rules"]) for element in shown] == [
        ("firstname", "Ihr Name", "required|max_length[40]"),
        ("emailid", "Email", "required|valid_email"),
        ("cf_size", "Size", ""),
        ("password", "Password", "required|min_length[12]|max_length[128]"),
        ("city", "City", "matches[firstname]"),
    ]
    assert shown[2]["options"] == [{"value": "m", "text": "Medium"}]


def test_verification_types_follow_mail_templates(new_tenant_server: NewTenantServer) -> None:
    server = new_tenant_server()

    def shown() -> set[str]:
        kinds = answered(server.send("GET", APPINFO, with_secret=False))["TemplateVerificationTypes"]
        return {name for name, kind in kinds.items() if kind == "OTP"}

    assert shown() == set(), "the default templates hold a link, with a code beside it"
    add_templates(
        server,
        MailTemplate(type=MailKind.VERIFICATION, subject="Code", html="<p>#OTP#</p>"),
        MailTemplate(type=MailKind.RESET, subject="Both", html='<p>#OTP# <a href="#Url#">Go</a></p>'),
        MailTemplate(type=MailKind.ADD_EMAIL, name="other", subject="Code", html="<p>#OTP#</p>"),
    )
    assert shown() == {"Registration"}, "the default of each kind alone"
    add_templates(server, MailTemplate(type=MailKind.ADD_EMAIL, subject="Code", html="<p>#OTP#</p>"))
    assert shown() == {"Registration", "AddEmail"}


def test_no_secret_is_published(acme: TenantServer) -> None:
    text = acme.send("GET", APPINFO, with_secret=False).text
    assert acme.api_secret not in text
    assert acme.tenant_id not in text


@pytest.mark.parametrize("path", [APPINFO, SERVERINFO])
def test_api_key_is_required(acme: TenantServer, path: str) -> None:
    assert refused(acme.send("GET", path, apikey=None)) == (400, 908)
    assert refused(acme.send("GET", path, apikey="00000000-0000-4000-8000-000000000000")) == (403, 901)


def test_serverinfo_returns_times_for_sott(acme: TenantServer) -> None:
    body = answered(acme.send("GET", SERVERINFO, with_secret=False, timedifference=5))
    period = body["Sott"]
    start, end = (datetime.fromisoformat(period[name]) for name in ("StartTime", "EndTime"))
    assert end - start == timedelta(minutes=5)
    assert (period["TimeDifference"], body["CurrentTime"]) == ("5 Minutes", period["StartTime"])
    assert answered(acme.send("GET", SERVERINFO, with_secret=False))["Sott"]["TimeDifference"] == "10 Minutes"


@pytest.mark.parametrize("minutes", ["0", "-5", "many", "9" * 30])
def test_invalid_time_difference_is_refused(acme: TenantServer, minutes: str) -> None:
    answer = acme.send("GET", SERVERINFO, with_secret=False, timedifference=minutes)
    assert refused(answer) == (400, 908)
    assert "timedifference" in answer.get_json()["Description"]
