"""What to send to each resource of the catalogue and of the sample resources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.support.operations import ldap_bodies, storefront_bodies
from tests.support.workflows.drawings import branching, drawing, node, sequence

Body = dict[str, Any]


@dataclass(frozen=True)
class ResourceSample:
    """What to send to a resource.

    Args:
        item: the n-th item's body; all differ where they must.
        change: what an update states beside the id, of the n-th item.
        key: the members of an answer that are the id, by path parameter or body member.
        malformed: a body whose refusal names the member.
        settings: of the tenant.
        fixed: the id of an item that every tenant has.
        is_program: its items include the application of the asking program, which tests leave out.
    """

    item: Callable[[int], Body]
    change: Callable[[int], Body]
    key: dict[str, str]
    malformed: tuple[Body, str]
    settings: Body | None = None
    is_program: bool = False
    fixed: dict[str, str] | None = None


def _hook(number: int) -> Body:
    basic = {"Username": "ada", "Password": "secret-of-the-hook"}
    return {
        "Event": "Login", "TargetUrl": f"https://t{number}.example/", "DisplayName": "first", "Headers": {"x": "1"},
        "Authentication": {"AuthType": "Basic", "BasicAuth": basic},
    }  # fmt: skip


def _webhook(number: int) -> Body:
    bearer = {"AuthType": "Bearer", "BearerToken": {"Token": "token-of-the-target"}}
    return {
        "Event": "Login", "TargetUrl": f"https://hooks{number}.example/in", "Name": "Shop", "Headers": {"X-Team": "shop"},
        "QueryParams": {"source": "gatehouse"}, "Authentication": bearer,
    }  # fmt: skip


def _element(name: str, display: str, *, custom: bool = False, **more: Any) -> Body:
    plain = {
        "type": "string", "name": name, "display": display, "rules": "required", "options": None, "permission": "w", **more,
    }  # fmt: skip
    if custom:
        return {"Checked": True, **{key.title(): value for key, value in plain.items()}}
    return {"Checked": True, **plain, "DataSource": None, "Parent": None, "ParentDataSource": None}


def _elements(display: str) -> list[Body]:
    email = _element("emailid", "Email", rules="required|valid_email")
    password = _element("password", "Password", type="password", rules="required|min_length[8]|max_length[128]")
    return [email, password, _element("company", display)]


@cache
def private_key() -> str:
    """Return the private key of a partner, in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def _saml_provider(name: str) -> Body:
    return {"Provider": name, "DataMap": {"Email": "mail"}, "IdpCertificate": {"Key": private_key()}}


def _option(name: str) -> Body:
    return {
        "ConsentOptionId": name, "Title": {"en": name.title()}, "Description": {}, "Link": None, "IsMandatory": False,
    }  # fmt: skip


def _oauth_provider(name: str) -> Body:
    host = f"https://{name}.example"
    return {
        "ProviderName": name, "UserLoginEndpoint": f"{host}/authorize", "AccessTokenEndpoint": f"{host}/token",
        "UserprofileEndpoint": f"{host}/user", "ApplicationKey": "key", "ApplicationSecret": "a secret of the application",
        "DataMap": {"ID": "id", "Email": "mail"},
    }  # fmt: skip


def _token_hook(number: int) -> dict[str, Any]:
    return {
        "Url": f"https://hooks{number}.acme.example/tokens", "TimeoutSeconds": 2, "OnFailure": "continue", "Send": ["Company"],
        "Claims": ["tier"], "CacheSeconds": 300, "SecretName": "tokens",
    }  # fmt: skip


SAMPLES: dict[str, ResourceSample] = {
    "security_questions": ResourceSample(
        item=lambda number: {"question": f"What is pet {number} called?"},
        change=lambda number: {"question": f"What was pet {number} called?"},
        key={"questionId": "QuestionId"},
        malformed=({"question": " "}, "question"),
    ),
    "push": ResourceSample(
        item=lambda number: {"Message": f"Is it you? {number}", "AWSsettings": {"SecretAccessKey": "secret-of-sns"}},
        change=lambda number: {"Message": f"Really? {number}"},
        key={},
        malformed=({"QRCodeWidth": 5}, "QRCodeWidth"),
    ),
    "duo": ResourceSample(
        item=lambda number: {"ClientId": f"DI{number}", "ClientSecret": "secret-of-duo", "IsEnabled": False},
        change=lambda number: {"ClientId": f"DX{number}"},
        key={},
        malformed=({"ApiHost": "evil.example"}, "ApiHost"),
    ),
    "two_factor": ResourceSample(
        item=lambda number: {"IsSecondFactorAuthenticatorEnabled": True, "MinimumSecurityQuestionsToAsk": number},
        change=lambda number: {"IsSecondFactorAuthenticatorEnabled": False},
        key={},
        malformed=(
            {"IsSecondFactorAuthenticatorEnabled": True, "MinimumSecurityQuestionsToAsk": 0},
            "MinimumSecurityQ",
        ),
    ),
    "shopify_stores": ResourceSample(
        item=storefront_bodies.shopify,
        change=storefront_bodies.shopify,
        key={},
        malformed=({"Data": [{**storefront_bodies.shopify(1), "Domain": "https://shop.example"}]}, "Domain"),
    ),
    "bigcommerce_stores": ResourceSample(
        item=storefront_bodies.bigcommerce,
        change=storefront_bodies.bigcommerce,
        key={},
        malformed=({"Data": [{**storefront_bodies.bigcommerce(1), "StoreUrl": "http://shop.example"}]}, "StoreUrl"),
    ),
    "perfectmind_sites": ResourceSample(
        item=storefront_bodies.perfectmind,
        change=storefront_bodies.perfectmind,
        key={},
        malformed=({"Data": [{**storefront_bodies.perfectmind(1), "Host": "evil.example"}]}, "Host"),
    ),
    "jwt_clients": ResourceSample(
        item=lambda number: {"AppName": f"app{number}", "Secret": "s" * 32},
        change=lambda number: {"LoginUrl": f"https://app{number}.example/"},
        key={"jwtClientName": "AppName"},
        malformed=({"AppName": "1 a", "Secret": "s" * 32}, "AppName"),
    ),
    "jwt_providers": ResourceSample(
        item=lambda number: {"AppName": f"app{number}", "Algo": "HS256", "Key": "k" * 32},
        change=lambda number: {"Algo": "HS256", "LoginUrl": f"https://app{number}.example/"},
        key={"jwtApp": "AppName"},
        malformed=({"AppName": "1 a", "Algo": "HS256", "Key": "k" * 32}, "AppName"),
    ),
    "ldap_providers": ldap_bodies.sample(ResourceSample),
    "captcha": ResourceSample(
        item=lambda number: {
            "IsEnabled": True,
            "EnabledCaptcha": "HCaptcha",
            "HCaptcha": {"PublicKey": f"site {number}", "PrivateKey": f"secret {number}"},
        },
        change=lambda number: {"IsEnabled": False},
        key={},
        malformed=({"IsEnabled": True, "EnabledCaptcha": "HCaptcha", "HCaptcha": {"PublicKey": ""}}, "PublicKey"),
    ),
    "social_providers": ResourceSample(
        item=lambda number: {"IsActive": True, "Key": f"client {number}", "Secret": f"secret {number}"},
        change=lambda number: {"Key": f"client {number}0"},
        key={"provider": "Provider"},
        malformed=({"IsActive": True, "Key": ""}, "Key"),
        fixed={"Provider": "GOOGLE"},
    ),
    "consent_forms": ResourceSample(
        item=lambda number: {"Event": f"Order{number}", "Options": [_option("terms")]},
        change=lambda number: {"Title": {"en": f"Order {number}"}, "Options": [_option("terms"), _option("news")]},
        key={"id": "Id"},
        malformed=({"Event": "login", "Options": [{"ConsentOptionId": "terms", "Title": {"en": "Terms"}}]}, "Event"),
    ),
    "custom_fields": ResourceSample(
        item=lambda number: {"CustomField": f"Plan {number}"},
        change=lambda number: {"CustomField": f"Plan {number}"},
        key={"key": "Key"},
        malformed=({"CustomField": "<b>"}, "CustomField"),
    ),
    "form_custom_fields": ResourceSample(
        item=lambda number: {"Data": [_element("cf_Plan", f"Plan {number}", custom=True)]},
        change=lambda number: {"Data": [_element("cf_Plan", f"Plan {number}0", custom=True)]},
        key={},
        malformed=({"Data": [{"Name": "cf_Plan", "Type": "html"}]}, "Type"),
        settings={"custom_fields": ["Plan"]},
    ),
    "registration_schema": ResourceSample(
        item=lambda number: {"Data": _elements(f"Company {number}")},
        change=lambda number: {"Data": _elements(f"Company {number}0")},
        key={},
        malformed=({"Data": [{"name": "emailid", "rules": "exotic"}]}, "rules"),
    ),
    "saml_clients": ResourceSample(
        item=lambda number: {"AppName": f"wiki{number}", "IssuerUrl": f"https://wiki{number}.example"},
        change=lambda number: {"IssuerUrl": f"https://wiki{number}.example/saml"},
        key={"samlApp": "AppName"},
        malformed=({"AppName": "wiki", "AssertionConsumerService": {"Location": "http://a"}}, "Location"),
    ),
    "saml_providers": ResourceSample(
        item=lambda number: _saml_provider(f"partner{number}"),
        change=lambda number: {"DataMap": {"Email": f"mail{number}"}},
        key={"samlApp": "Provider"},
        malformed=({"Provider": "partner", "DataMap": {"Shoe": "size"}}, "DataMap"),
    ),
    "custom_object_types": ResourceSample(
        item=lambda number: {"Name": f"cars{number}", "Id": f"id-{number}", "MaxRecordsPerAccount": number},
        change=lambda number: {"Schema": {"type": "object", "maxProperties": number}},
        key={"objectName": "Name"},
        malformed=({"Name": "cars", "Schema": {"$ref": "#"}}, "Schema"),
    ),
    "themes": ResourceSample(
        item=lambda number: {"Name": f"Theme {number}", "Brand": {"Texts": {"en": {"continue": f"Go {number}"}}}},
        change=lambda number: {"Name": f"Theme {number}0"},
        key={"themeId": "Id"},
        malformed=({"Name": "Theme 1", "Brand": {"Background": "#000000"}}, "Background"),
    ),
    "workflows": ResourceSample(
        item=lambda number: {"Name": f"Flow {number}", "Data": sequence(node("mfa", "MFA", label=f"{number}"))},
        change=lambda number: {"Name": f"Flow {number}0", "Data": branching()},
        key={"workflowId": "Id"},
        malformed=({"Name": "Flow", "Data": drawing([node("a", "Login")])}, "Data"),
    ),
    "default_workflow": ResourceSample(
        item=lambda number: {"WorkflowName": None},
        change=lambda number: {"WorkflowName": None},
        key={},
        malformed=({"WorkflowName": "Nowhere"}, "WorkflowName"),
    ),
    "token_hook": ResourceSample(
        item=lambda number: {"TokenHook": _token_hook(number)},
        change=lambda number: {"TokenHook": _token_hook(number + 10)},
        key={},
        malformed=({"TokenHook": {**_token_hook(1), "Claims": ["sub"]}}, "Claims"),
    ),
    "custom_domains": ResourceSample(
        item=lambda number: {"DomainName": f"login{number}.acme.example"},
        change=lambda number: {"DomainName": f"login{number}.acme.example"},
        key={"domainName": "DomainName"},
        malformed=({"DomainName": "acme"}, "DomainName"),
    ),
    "oauth_providers": ResourceSample(
        item=lambda number: _oauth_provider(f"partner{number}"),
        change=lambda number: {
            **_oauth_provider("partner1"),
            "ApplicationSecret": "********",
            "Scope": f"scope{number}",
        },
        key={"providerName": "ProviderName"},
        malformed=({**_oauth_provider("partner1"), "DataMap": {"Shoe": "size"}}, "DataMap"),
    ),
    "oauth_clients": ResourceSample(
        item=lambda number: {"AppName": f"shop{number}", "RedirectURIs": [f"https://shop{number}.example/in"]},
        change=lambda number: {"DisplayName": f"Shop {number}"},
        key={"oAuthClientName": "AppName"},
        is_program=True,
        malformed=({"AppName": "1 a", "RedirectURIs": ["https://shop.example/in"]}, "AppName"),
    ),
    "initial_access_tokens": ResourceSample(
        item=lambda number: {"Name": f"partner{number}", "MaxUses": number, "ExpiresInDays": 7},
        change=lambda number: {},
        key={"name": "Name"},
        malformed=({"Name": "partner", "MaxUses": 0}, "MaxUses"),
    ),
    "sotts": ResourceSample(
        item=lambda number: {"Technology": "android", "Comment": f"app {number}", "ExpiresInMinutes": number},
        change=lambda number: {},
        key={"authenticityToken": "AuthenticityToken"},
        malformed=({"Technology": "android", "ExpiresInMinutes": 0}, "ExpiresInMinutes"),
    ),
    "locks": ResourceSample(
        item=lambda number: {"MaximumFailedLoginAttempts": number},
        change=lambda number: {"LoginLockedType": "Block"},
        key={},
        malformed=({"MaximumFailedLoginAttempts": 101}, "MaximumFailedLoginAttempts"),
    ),
    "email_domains": ResourceSample(
        item=lambda number: {"Blocklist": [f"b{number}.example"]},
        change=lambda number: {"Allowlist": [f"a{number}.example"]},
        key={},
        malformed=({"Blocklist": "b.example"}, "Blocklist"),
        settings={"email_access": {"block": ["first.example"]}},
    ),
    "ip_access": ResourceSample(
        item=lambda number: {"DeniedIPs": [f"203.0.113.{number}/32"]},
        change=lambda number: {"DeniedIPs": [f"198.51.100.{number}/32"]},
        key={},
        settings={"denied_ips": ["192.0.2.0/24"]},
        malformed=({"AllowedIPs": ["everybody"]}, "AllowedIPs"),
    ),
    "whitelisted_urls": ResourceSample(
        item=lambda number: {"Domains": [f"https://app{number}.example"]},
        change=lambda number: {"Domains": []},
        key={},
        malformed=({"Domains": ["javascript:x"]}, "Domains"),
    ),
    "passkeys": ResourceSample(
        item=lambda number: {"IsEnabled": True, "ProgressiveEnrollmentDelay": number},
        change=lambda number: {"IsEnabled": True, "RPDisplayName": f"Acme {number}"},
        key={},
        malformed=({"IsEnabled": True, "ProgressiveEnrollmentDelay": 0}, "ProgressiveEnrollmentDelay"),
        settings={"passkeys": True},
    ),
    "password_policy": ResourceSample(
        item=lambda number: {"MaxPasswordHistory": number},
        change=lambda number: {"ExpirationFrequency": number},
        key={},
        malformed=({"MaxPasswordHistory": 99}, "MaxPasswordHistory"),
    ),
    "session_lifetimes": ResourceSample(
        item=lambda number: {"SessionLimit": number},
        change=lambda number: {"AccessTokenTTL": 60 * number},
        key={},
        malformed=({"SessionLimit": 101}, "SessionLimit"),
    ),
    "totp": ResourceSample(
        item=lambda number: {"IssuerId": f"Acme {number}"},
        change=lambda number: {"IssuerId": f"Globex {number}"},
        key={},
        malformed=({"QRCodeWidth": 5}, "QRCodeWidth"),
    ),
    "mail_templates": ResourceSample(
        item=lambda number: {
            "TemplateType": "welcome",
            "TemplateName": f"n{number}",
            "Subject": "Hello",
            "Template": "<p>Hello</p>",
        },
        change=lambda number: {"TemplateName": f"n{number}", "Subject": "Good day", "Template": "<p>Hello</p>"},
        key={"templateType": "TemplateType", "TemplateName": "TemplateName"},
        malformed=({"TemplateType": "welcome", "Subject": "x", "Template": "#Nothing#"}, "Template"),
    ),
    "sms_templates": ResourceSample(
        item=lambda number: {"SmsTemplateType": "welcome", "Name": f"n{number}", "Template": "Hello"},
        change=lambda number: {"Name": f"n{number}", "Template": "Good day"},
        key={"templateType": "SmsTemplateType", "Name": "Name"},
        malformed=({"SmsTemplateType": "welcome", "Name": "x", "Template": "#Nothing#"}, "Template"),
    ),
    "webhooks": ResourceSample(
        item=_webhook,
        change=lambda number: {"Name": f"Warehouse {number}", "Headers": {"X-Team": "warehouse"}},
        key={"webhookId": "Id"},
        malformed=({**_webhook(1), "TargetUrl": "http://hooks.example/in"}, "TargetUrl"),
    ),
    "sample_hooks": ResourceSample(
        item=_hook,
        change=lambda number: {"DisplayName": f"other {number}", "Headers": {}},
        key={"hookId": "HookId"},
        malformed=({**_hook(1), "DisplayName": "x" * 61}, "DisplayName"),
    ),
    "sample_clients": ResourceSample(
        item=lambda number: {"AppName": f"app{number}", "ClientId": "one", "Grants": ["code"]},
        change=lambda number: {"IsActive": False},
        key={"appName": "AppName"},
        malformed=({"AppName": "1 a"}, "AppName"),
    ),
    "sample_group_roles": ResourceSample(
        item=lambda number: {"GroupId": f"g{number}", "Name": "Editors"},
        change=lambda number: {"GroupId": f"g{number}", "Name": "Writers"},
        key={"groupRoleId": "Id"},
        malformed=({"GroupId": "x"}, "Name"),
    ),
    "sample_form": ResourceSample(
        item=lambda number: {"Name": f"f{number}", "Type": "string"},
        change=lambda number: {},
        key={},
        malformed=({"Data": [{"Type": "string"}]}, "Name"),
    ),
    "sample_texts": ResourceSample(
        item=lambda number: {"Type": "welcome", "Name": f"n{number}", "Template": "Hello"},
        change=lambda number: {"Name": f"n{number}", "Template": "Good day"},
        key={"textType": "Type", "Name": "Name"},
        malformed=({"Type": "welcome", "Name": "x"}, "Template"),
    ),
    "domain_access": ResourceSample(
        item=lambda number: {"Allowlist": [f"a{number}.example"], "Blocklist": []},
        change=lambda number: {"Allowlist": [f"b{number}.example"], "Blocklist": ["c.example"]},
        key={},
        malformed=({"Allowlist": 5}, "Allowlist"),
    ),
    "sample_objects": ResourceSample(
        item=lambda number: {"Name": f"o{number}", "Id": f"id{number}", "MaxRecordsPerAccount": 5},
        change=lambda number: {"Id": f"id{number}", "MaxRecordsPerAccount": 7},
        key={"objectName": "Name"},
        malformed=({"Name": "o1", "MaxRecordsPerAccount": 0}, "MaxRecordsPerAccount"),
    ),
}
