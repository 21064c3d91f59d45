"""The members that the interface's tables give each management resource, and what to send for those that no mutation fits.

Dots stand between an object and its members. Where a table has other letters than we return, the test folds them.
"""

from __future__ import annotations

from typing import Any, Final


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_BACK_CHANNEL = "BackChannelLogout.IsEnabled BackChannelLogout.LogoutURIs BackChannelLogout.LogoutTokenTTL " + " ".join(
    f"BackChannelLogout.LogoutInitiator.{name}"
    for name in (
        "Mode",
        "Intiators.RPLogout",
        "Intiators.IDPLogout",
        "Intiators.PasswordChange",
        "Intiators.AccountDelete",
    )
)
MEMBERS: Final[dict[str, tuple[str, ...]]] = {
    "oauth_clients": _words(
        "AppId AppName Protocol ApplicationType ClientId ClientSecret GrantTypes AllowedScopes AudienceScopes "
        "IdTokenAudiences EnableCorsOrigin AllowedCorsOrigin AllowedWebOrigin ForceReAuthentication GlobalClient "
        "DeviceCodeConfig.VerificationUrl DeviceCodeConfig.AfterVerificationUrl DeviceCodeConfig.DeviceCodeExpire "
        "DeviceCodeConfig.PollingInterval DeviceCodeConfig.UserCodeCharacterSet DeviceCodeConfig.UserCodeMask Connections "
        "Connections.Enabled Connections.TraditionalLogin Connections.PasswordlessLogin Connections.SocialLogins "
        "Connections.CustomIdp Connections.Enterprise CreatedDate RedirectURIs PostLogoutRedirectURIs LoginUrl "
        "TokenEndpointAuthMethod AccessTokenTTL RefreshTokenTTL IdTokenTTL AccessTokenFormat SignedUserInfo "
        f"DataMapping.IdToken Metadata RequirePKCE EnablePAR RequirePAR AuthorizationDetailsTypes IsActive {_BACK_CHANNEL}"
    ),
    "oauth_providers": _words(
        "ProviderName UserLoginEndpoint AccessTokenEndpoint ApplicationKey ApplicationSecret Scope ResponseType DataMap "
        "RequestTokenHttpMethod UserprofileEndpoint QueryParam Headers ExtraParameterInRedirectToProvider "
        "AccessTokenParameterNameForApiAccess ApplicationID Domain EnableAutoLookUp ListInInterface IsActive CreatedAt "
        "LastModified"
    ),
    "jwt_providers": _words(
        "Id AppId AppName IsActive Algo Key JWKSUrl Mapping TokenQueryParameterName UseAuthorizationHeader LoginUrl "
        "ClockSkew ExpirationTimeDifference Issuer.ExpectedValue Issuer.MatchValue Issuer.IsMandatory "
        "Audience.ExpectedValues Audience.MatchValue Audience.IsMandatory Subject.IsMandatory NotBefore.IsMandatory "
        "Expiration.IsMandatory UpdateEmailProfile RaasUpdateFields Domain EnableAutoLookUp ListInInterface Version "
        "CreatedDate LastModifiedDate"
    ),
    "ldap_providers": _words(
        "ProviderName FriendlyProviderName IsActive ServerUrl CaCertificates BindDn BindPassword BaseDn UserFilter "
        "SubjectAttribute DataMap TrustsEmail GroupAttribute GroupBaseDn GroupFilter GroupRoles Domain AcceptsUsernames "
        "PasswordChange PasswordUrl CreatedDate LastModifiedDate"
    ),
    "jwt_clients": _words(
        "Algo Secret Audience LoginUrl Mapping Metadata NotBeforeDifference NotAfterDifference QueryStringParameter "
        "ResponseMode AppName"
    ),
    "saml_clients": _words(
        "AfterLogoutUrl AppName ArtifactReceiver AssertionConsumerService.Binding AssertionConsumerService.Location "
        "Attributes Audiences DefaultRequestBinding IdpCertificate.Certificate IdpCertificate.Key IsIdpInitiated "
        "IssuerUrl LoginUrl NameIdFormat NotOnOrAfter RelayStateParameter SamlVersion SpCertificate.Certificate "
        "SpLogoutUrl IsPrebuiltIntegration ReplyUrl IntegrationType IntegrationConfigs.IdpSHA1Fingerprint "
        "IntegrationConfigs.AccountName"
    ),
    "saml_providers": _words(
        "Id IsActive IsDeleted IsIdpInitiated DataMap AppId AppID RelayStateParameter Provider FriendlyProviderName "
        "DefaultLogoutUrl ServiceProviderACSUrl SamlServiceProvider IdpCertificate.Certificate IdpCertificate.Key "
        "SpCertificate.Certificate IdentityProvider.Binding IdentityProvider.Location IdentityProvider.LogOut "
        "EnableAutoLookUp Domain ListInInterface CreatedDate LastModifiedDate"
    ),
    "social_providers": _words(
        "IsActive Key Secret ExtraField1 ExtraField2 AppleSecretConfiguration.Certificate "
        "AppleSecretConfiguration.KeyIdentifier AppleSecretConfiguration.ServiceId AppleSecretConfiguration.BundleId "
        "AppleSecretConfiguration.TeamId"
    ),
    "push": _words(
        "IsEnabled NotificationService CustomAppName QRCodeWidth Message AWSsettings.AccessKeyId "
        "AWSsettings.SecretAccessKey AWSsettings.Region AndroidSettings.Enabled AndroidSettings.PlatformARN "
        "AndroidSettings.PlaystoreUrl AndroidSettings.ServiceJson IOSsettings.Enabled IOSsettings.AppstoreUrl "
        "IOSsettings.PlatformARN IOSsettings.BundleId IOSsettings.ApnsCertificate IOSsettings.Environment"
    ),
    "mail_templates": _words(
        "TemplateType TemplateName Subject Template TextTemplate FromName FromEmail EmailConfigId VerificationTokenType "
        "IsActive"
    ),
    "sms_templates": _words("SmsTemplateType Name Template"),
    "password_policy": _words(
        "DictionaryPasswordValidation ProfileDataPasswordValidation ProfileDataPasswordExactMatch "
        "CommonPasswordPreventionValidation MaxPasswordHistory ExpirationFrequency ExpirationFrequencyType "
        "PasswordValidationRules"
    ),
    "two_factor": _words(
        "IsSecondFactorAuthenticatorEnabled IsRequired IsAuthenticatorEnabled IsEmailOtpAuthenticatorEnabled "
        "IsSmsOtpAuthenticatorEnabled IsSecurityQuestionAsMFAEnabled MinimumSecurityQuestionsToAsk "
        "IsPushAuthenticatorEnabled IsDuoAuthenticatorEnabled IsPasskeyMFAEnabled"
    ),
    "totp": _words("IsEnabled QRCodeWidth IssuerId AccountSecretKey"),
    "duo": _words("IsEnabled ClientId ClientSecret ApiHost RedirectURIs"),
    "captcha": _words("IsEnabled EnabledCaptcha QQTencentCaptcha GoogleRecaptchaV2 GoogleRecaptchaV3 HCaptcha"),
    "passkeys": _words(
        "IsEnabled PasskeySelection ProgressiveEnrollment ProgressiveEnrollmentDelay LocalEnrollment RPDisplayName RPID "
        "RPOrigins"
    ),
    "session_lifetimes": _words("AccessTokenTTL RefreshTokenTTL RememberMe SessionLimit"),
    "locks": _words("LoginLockedType MaximumFailedLoginAttempts SuspendConfiguration.EffectivePeriodInSeconds"),
    "email_domains": _words("Allowlist Blocklist"),
    "ip_access": _words("AllowedIPs DeniedIPs"),
    "whitelisted_urls": _words("Domains"),
    "consent_forms": _words("Id Event IsCustom Version Status Title Options"),
    "sotts": _words("ExpiresInMinutes Technology Comment IsEncoded AuthenticityToken Sott CreatedDate DateRange"),
    "security_questions": _words("QuestionId question"),
}  # fmt: skip

VALUES: Final[dict[str, dict[str, Any]]] = {
    "oauth_clients": {
        "Protocol": "OAuth 2.0", "ApplicationType": "Native", "GrantTypes": ["authorization_code"], "AllowedScopes": ["openid", "orders"],
        "AudienceScopes": {"https://api.example": ["orders"]}, "IdTokenAudiences": ["server"],
        "AllowedCorsOrigin": ["https://shop.example"], "AllowedWebOrigin": ["https://shop.example"],
        "BackChannelLogout.LogoutURIs": ["https://shop.example/out"],
        "RedirectURIs": ["https://shop.example/in2"], "PostLogoutRedirectURIs": ["https://shop.example/"],
        "TokenEndpointAuthMethod": "client_secret_post", "AccessTokenTTL": 600, "RefreshTokenTTL": 6_000,
        "AccessTokenFormat": "jwt", "DataMapping.IdToken": {"company": "Company"}, "Metadata": {"team": "shop"},
        "AuthorizationDetailsTypes": ["payment"],
    },
}  # fmt: skip
"""Valid values of members that take no value of their type, and differ from those of the sample."""
