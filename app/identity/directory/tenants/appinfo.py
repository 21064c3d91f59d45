"""Builds `/ciam/appinfo`, the public configuration of a tenant for hosted pages and client libraries.

Existing client libraries read every member; features that do not exist yet are false.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from app.contract.federation.connection_completion import is_listed
from app.contract.tenants.settings import Lockout, PrivacyPolicy, TenantSettings
from app.identity.directory.tenants import registration_schema
from app.identity.directory.tenants.urls import webauthn_origins
from app.identity.platform.context import Context
from app.kit.clock import iso

Json = dict[str, Any]

SETTINGS = {
    "EmailVerificationFlow": "email_verification",
    "IsPhoneLogin": "phone_login",
    "IsUserNameLogin": "username_login",
    "IsRememberMe": "remember_me",
    "AskRequiredFieldsOnTraditionalLogin": "ask_required_fields",
    "IsCustomerRegistration": "registration",
    "OTPEmailVerification": "email_verification_codes",
    "IsLoginOnEmailVerification": "login_on_email_verification",
    "IsLogoutOnEmailVerification": "logout_on_email_verification",
    "LoginOnPasswordReset": "login_on_password_reset",
    "NoRegistration": "one_touch",
    "IsNoCallbackForSocialLogin": "no_callback_login",
    "AskPasswordOnSocialLogin": "federated_password",
}
"""Members that are copied from a setting."""

OFF = (
    "IsDisabledSocialRegistration", "IsAgeRestriction",
    "AskRequiredFieldsOnTraditionalLogin",
    "IsMobileCallbackForSocialLogin", "IsInvisibleRecaptcha", "IsBackendJobEnabled",
    "AskEmailIdForUnverifiedUserLogin", "AskOptionalFieldsOnSocialSignup",
    "CheckPhoneNoAvailabilityOnRegistration", "DuplicateEmailWithUniqueUsername",
    "StoreOnlyRegistrationFormFieldsForSocial",
)  # fmt: skip
"""Members of features that do not exist yet."""

_LOCKS = {
    "none": "None",
    "suspend": "Suspend",
    "captcha": "Captcha",
    "security_question": "SecurityQuestion",
    "block": "Block",
}
MAIL_TYPES = (
    "AddEmail", "AutoLogin", "DeleteAccount", "ForgotPIN", "ForgotPassword", "NoRegistrationPasswordlessLogin",
    "OneClickSignin", "Registration",
)  # fmt: skip
_CAPTCHA_PLACES = (
    "PostForgotPasswordByEmail", "PostForgotPasswordByPhone", "PutChangePassword", "PostLoginByEmailAndPassword",
    "PostLoginByUserNameAndPassword", "PostLoginByPhoneAndPassword", "PutUpdateProfile",
)  # fmt: skip
_CAPTCHA_AT = {
    "forgot_password": ("PostForgotPasswordByEmail", "PostForgotPasswordByPhone"),
    "change_password": ("PutChangePassword",),
    "update_profile": ("PutUpdateProfile",),
}
_SECOND_FACTORS = {
    "IsGoogleAuthenticator": "totp",
    "IsAuthenticator": "totp",
    "IsPushAuthenticator": "push",
    "IsEmailOTPAuthenticator": "email",
    "IsSecurityQuestionAuthenticator": "security_questions",
    "IsSmsOTPAuthenticator": "sms",
    "IsDuoSecurityAuthenticator": "duo",
    "IsPasskeyAuthenticator": "passkey",
}


def build(context: Context, codes: Collection[str]) -> Json:
    """Return all members for the tenant of the request.

    Args:
        codes: the mail types (`MAIL_TYPES`) that contain a code instead of a link.
    """
    settings, captcha = context.tenant.settings, context.tenant.settings.captcha
    members: Json = {
        member: bool(value) if (value := getattr(settings, name)) is None else value
        for member, name in SETTINGS.items()
    }
    members.update(dict.fromkeys(OFF, False))
    members.update(
        AppName=context.tenant.name,
        IsHttps=context.services.settings.public_scheme == "https",
        CustomDomain=next(iter(context.tenant.custom_hosts), None),
        ApiVersion={"v1": False, "v2": True},
        IsRiskBasedAuthentication=bool(settings.risk.watched),
        IsSecurityQuestion=bool(settings.security_questions),
        SecurityQuestions=_questions(settings),
        IsDisabledAccountLinking=not settings.account_linking,
        SocialSchema={"Providers": _providers(context)},
        RegistrationFormSchema=registration_schema.as_schema(settings),
        LoginLockedConfiguration=_lockout(settings.lockout),
        IsInstantSignin={"EmailLink": settings.passwordless_email, "SmsOtp": settings.passwordless_sms},
        TwoFactorAuthentication=_second_factor(settings),
        PrivacyPolicyConfiguration=_privacy_policy(settings.privacy_policy),
        OptionalRecaptchaConfiguration=_captcha_places(settings),
        TemplateVerificationTypes={name: "OTP" if name in codes else "MAGICLINK" for name in MAIL_TYPES},
        PassKeysConfig=_passkeys(context),
        IsV2Recaptcha=captcha.provider == "recaptcha_v2",
        V2RecaptchaSiteKey=captcha.site_key if captcha.provider == "recaptcha_v2" else None,
        QQTencentCaptchaKey=captcha.site_key if captcha.provider == "tencent" else None,
        ApiRequestSigningConfig={
            "IsEnabled": settings.request_signing != "off",
            "Mode": settings.request_signing.title(),
        },
    )
    return members


def _providers(context: Context) -> list[Json]:
    settings, key = context.tenant.settings.connections, context.tenant.api_key
    prefix = f"{context.pages_url}/RequestHandler.aspx?apikey={key}&provider="
    return [
        {"Name": name, "Endpoint": f"{prefix}{name}"} for name in sorted(settings) if is_listed(name, settings[name])
    ]


def _questions(settings: TenantSettings) -> Json:
    questions = [{"QuestionId": name, "Question": text} for name, text in settings.security_questions.items()]
    return {"Questions": questions, "SecurityQuestionCount": len(questions)}


def _captcha_places(settings: TenantSettings) -> Json:
    enabled = {member for name in settings.captcha_at for member in _CAPTCHA_AT[name]}
    return {"IsEnabled": bool(enabled), "Apis": {member: member in enabled for member in _CAPTCHA_PLACES}}


def _privacy_policy(policy: PrivacyPolicy) -> Json:
    versions = [{"Version": version.version, "StartDateTime": iso(version.starts_at)} for version in policy.versions]
    return {"IsEnabled": bool(versions), "Mode": policy.mode.title(), "PrivacyPolicies": versions}


def _lockout(lockout: Lockout) -> Json:
    return {
        "LoginLockedType": _LOCKS[lockout.type],
        "MaximumFailedLoginAttempts": lockout.maximum_failed_attempts,
        "SuspendConfiguration": {"EffectivePeriodInSeconds": lockout.suspend_seconds},
    }


def _second_factor(settings: TenantSettings) -> Json:
    is_on = settings.two_factor != "disabled"
    enabled = {member: is_on and getattr(settings.second_factors, name) for member, name in _SECOND_FACTORS.items()}
    return {"IsEnabled": is_on, "IsRequired": settings.two_factor == "required", **enabled}


def _passkeys(context: Context) -> Json:
    settings = context.tenant.settings.passkey_settings
    return {
        "IsEnabled": context.tenant.settings.passkeys,
        "PasskeySelection": settings.selection.title(),
        "ProgressiveEnrollment": settings.progressive_enrollment,
        "ProgressiveEnrollmentDelay": settings.progressive_enrollment_days,
        "LocalEnrollment": settings.local_enrollment,
        "RPDisplayName": webauthn_origins.rp_name(context),
        "RPID": webauthn_origins.rp_id(context),
        "RPOrigins": webauthn_origins.origins(context),
    }
