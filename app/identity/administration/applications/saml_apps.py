"""The rules of SAML clients and SAML custom providers, in addition to their declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final
from zlib import crc32

from app.contract import errors
from app.contract.federation.pages.connection_pages import SAML_CALLBACK, SAML_PROVIDER_ACS
from app.contract.profile import FIELDS
from app.contract.saml import saml_operations
from app.contract.saml.saml_operations import Integration, IntegrationList, KeyList
from app.contract.tenants.settings import TenantSettings
from app.identity.administration.applications import provider_domains, saml_integrations
from app.identity.platform import private_keys, saml_certificates
from app.identity.platform.context import Context
from app.identity.platform.powers import ALL, Power
from app.identity.platform.resource_storage.items import Item
from app.identity.platform.resource_storage.rules import Act, Rules
from app.identity.platform.saml_key_rollover import (
    CLIENT_KEYS,
    PROVIDER_KEYS,
    KeySlots,
    OwnKey,
    OwnKeys,
    with_keys,
    with_next,
)
from app.kit import randomness
from app.kit.operations.wire import Wire
from app.kit.resources.resource_values import put_at, value_at

_KEY: Final = "idp_certificate.key"
_SP_KEY: Final = "sp_certificate.key"
_CERTIFICATE: Final = ("idp_certificate", "certificate")
_SP_CERTIFICATE: Final = ("sp_certificate", "certificate")
_FINGERPRINT: Final = ("integration_configs", "idp_sha1_fingerprint")
_MESSAGES: Final = ("samlrequest", "samlresponse", "sigalg", "signature")
MAX_CERTIFICATES: Final = 8
"""Of one provider: the next one before the last one expires, and some to spare."""
_NO_PAIR: Final = (None, "")
Pair = tuple[str | None, str]
"""A certificate and its private key, in PEM."""


def powers_of(context: Context, item: Item) -> Iterable[Power]:  # noqa: ARG001 - the hook's signature
    if item.content.get("domain"):
        yield Power(ALL, "SAML providers with a domain")


@saml_operations.integrations.implements
def list_integrations(context: Context, req: Wire) -> IntegrationList:  # noqa: ARG001 - the same for every tenant
    custom = Integration(
        integration_type="Custom",
        name="Any service provider",
        is_prebuilt_integration=False,
        fields=["IssuerUrl", "AssertionConsumerService"],
    )
    ready = [
        Integration(integration_type=name, name=preset.title, is_prebuilt_integration=True, fields=list(preset.fields))
        for name, preset in saml_integrations.presets().items()
    ]
    return IntegrationList(data=[custom, *ready])


@saml_operations.keys.implements
def list_keys(context: Context, req: Wire) -> KeyList:  # noqa: ARG001 - the same for every tenant
    return KeyList(data=list(saml_operations.KEYS))


def client_problems(content: Any, settings: TenantSettings | None) -> Iterable[tuple[str, str]]:  # noqa: ARG001 - the hook's signature
    for name, attribute in content.attributes.items():
        if not attribute.is_static and attribute.value not in FIELDS:
            yield "attributes", f"a field of the profile for {name[:60]}; found {attribute.value[:60]}"
    yield from _missing_of_integration(content)
    yield from _problems_of_service_provider(content)
    if not (content.sign_assertion or content.sign_response):
        yield "sign_assertion", "true, or SignResponse true: a response has at least one signature"
    if content.relay_state_parameter.lower() in _MESSAGES:
        yield "relay_state_parameter", "a name that no SAML message has"
    key = getattr(content, "key", None)  # of a configuration file
    if key and (problem := saml_certificates.problem_of(content.idp_certificate.certificate or "", key)):
        yield "idp_certificate.certificate", problem


def _missing_of_integration(content: Any) -> Iterable[tuple[str, str]]:
    """Yield the fields that a ready-made integration needs and the client lacks."""
    preset = saml_integrations.find(content.integration_type)
    needed = preset.fields if preset is not None else ()
    title = preset.title if preset is not None else ""
    if "IntegrationConfigs.AccountName" in needed and not content.integration_configs.account_name:
        yield "integration_configs.account_name", f"the name of the account at {title}"
    if "IssuerUrl" in needed and not content.issuer_url:
        yield "issuer_url", f"the entity ID that {title} states"
    if "AssertionConsumerService" in needed and not content.assertion_consumer_service.location:
        yield "assertion_consumer_service.location", f"the address that {title} states"


def _problems_of_service_provider(content: Any) -> Iterable[tuple[str, str]]:
    """Yield what is wrong with the certificates of a service provider: each text has one in base64, or several in PEM."""
    stated = {
        "sp_certificate.certificate": (content.sp_certificate.certificate,),
        "sp_certificates": content.sp_certificates,
    }
    found = {field: saml_certificates.read_each(*texts) for field, texts in stated.items()}
    problems = [
        (field, problem)
        for field, pems in found.items()
        if (problem := next(filter(None, map(saml_certificates.problem_of, pems)), ""))
    ]
    yield from problems
    if len({pem for pems in found.values() for pem in pems}) > saml_operations.MAX_SP_CERTIFICATES:
        yield "sp_certificates", f"at most {saml_operations.MAX_SP_CERTIFICATES} certificates"
    usable = [pem for pems in found.values() for pem in pems if not problems and saml_certificates.has_rsa_key(pem)]
    if content.encrypt_assertion and not (problems or usable):
        yield "encrypt_assertion", "false without SpCertificate, whose RSA key encrypts"


def show_client(context: Context, content: Any, values: dict[str, Any]) -> None:  # noqa: ARG001 - the hook's signature
    values["is_prebuilt_integration"] = content.integration_type != "Custom"


def read_client_of_file(context: Context, before: Item | None, after: Item) -> None:  # noqa: ARG001 - the hook's signature
    """Keep the present key pair, or none, if the file has no key that fits its certificate."""
    present, (certificate, key) = _pair(before), _pair(after)
    is_present = (certificate, key) == present
    if not is_present and (not (certificate and key) or saml_certificates.problem_of(certificate, key)):
        put_at(after.content, _CERTIFICATE, present[0])
        after.secrets.pop(_KEY, None)
        after.secrets.update({_KEY: present[1]} if before is not None else {})


def complete_client(context: Context, before: Item | None, after: Item) -> None:
    """Keep the present certificate if there is no other, or generate one, and fill in the values of a ready-made integration.

    Raises BadField.
    """
    present = value_at(before.content, _CERTIFICATE) if before is not None else None
    if present is not None and value_at(after.content, _CERTIFICATE) is None:
        put_at(after.content, _CERTIFICATE, present)
    _complete_certificate(context, after, _pair(before))
    preset = saml_integrations.find(after.content.get("integration_type", "Custom"))
    if preset is not None:
        account = value_at(after.content, ("integration_configs", "account_name")) or ""
        _fill_in(after.content, preset.settings_of(account))


def _fill_in(content: dict[str, Any], settings: dict[str, Any]) -> None:
    """Put ready-made settings into a client; attributes of its own stay."""
    for name, value in settings.items():
        own = content.get(name)
        if name == "attributes":
            content[name] = {**value, **(own or {})}
        else:
            content[name] = {**(own or {}), **value} if isinstance(value, dict) else value


def provider_problems(content: Any, settings: TenantSettings | None) -> Iterable[tuple[str, str]]:  # noqa: ARG001 - the hook's signature
    for field in content.data_map:
        if field not in saml_operations.KEYS:
            yield "data_map", f"a field that a provider fills, such as Email; found {field[:60]}"
    yield from _certificate_problems(content.idp_certificate.certificate)
    if problem := _problem_of_partner(content.idp_certificate.certificate, getattr(content, "key", None)):  # of a file
        yield "idp_certificate.certificate", problem


def _certificate_problems(text: str | None) -> Iterable[tuple[str, str]]:
    """Yield what is wrong with the certificates of a provider: several in PEM, or one in base64."""
    found = saml_certificates.read_all(text) if text else ()
    problems = [problem for one in found if (problem := saml_certificates.problem_of(one))]
    if len(found) > MAX_CERTIFICATES:
        problems.append(f"at most {MAX_CERTIFICATES} certificates")
    if problems:
        yield "idp_certificate.certificate", problems[0]


def complete_provider(context: Context, before: Item | None, after: Item) -> None:
    """Give a new provider its id and the tenant's certificate.

    Raises BadField for a private key that cannot be read or is not the certificate's, and ProviderDomainExists.
    """
    provider_domains.refuse_taken(context, saml_operations.PROVIDERS.file_key, after)
    is_same = before is not None and _pair(before) == _pair(after)
    if not is_same and (problem := _problem_of_partner(*_pair(after))):
        raise errors.BadField(f"IdpCertificate.Key: {problem}.")
    if before is None:
        after.content["id"] = randomness.guid()
        certificate, after.secrets[_SP_KEY] = saml_certificates.generate(after.id[0], context.now)
        put_at(after.content, _SP_CERTIFICATE, certificate)


def show_provider(context: Context, content: Any, values: dict[str, Any]) -> None:
    own = SAML_PROVIDER_ACS.format(provider_id=content.id)
    values |= {
        "app_id": context.tenant.tenant_id,
        "app_number": app_number(context.tenant.tenant_id),
        "service_provider_acs_url": f"{context.pages_url}{own if content.is_idp_initiated else SAML_CALLBACK}",
        "saml_service_provider": context.own_urls[0],
    }


def app_number(tenant_id: str) -> int:
    """Return a tenant's number for clients that expect one: the same at each request, positive, within 31 bits."""
    return crc32(tenant_id.encode()) & 0x7FFFFFFF or 1


def _problem_of_partner(certificate: str | None, key: str | None) -> str:
    """Return the expected form in place of an identity provider's private key; empty if there is no such key."""
    if not key:
        return ""
    if certificate:
        return saml_certificates.problem_of(certificate, key)
    try:
        private_keys.validated(key)
    except private_keys.UnusableKey as problem:
        return str(problem)
    return ""


def next_of_client(context: Context, item: Item, body: Any) -> Item:
    """Give a client its next key: the one of the request, or a generated one. Raises BadField."""
    if not (body.certificate or body.key):
        return with_next(CLIENT_KEYS, context, item)
    problem = saml_certificates.problem_of(body.certificate or "", body.key or "") if body.key else "a private key"
    if problem := problem or saml_certificates.weakness_of(body.certificate):
        raise errors.BadField(f"Certificate and Key: expected {problem}.")
    keys = CLIENT_KEYS.read(item.content, item.secrets)
    if keys.next is not None and keys.next.certificate != body.certificate:
        raise errors.BadField("Certificate: delete the present next certificate first.")
    return with_keys(CLIENT_KEYS, context, item, keys.with_next(lambda: OwnKey(body.certificate, body.key)))


def _key_actions(slots: KeySlots) -> dict[str, Act]:
    """Return the actions on the keys of one kind of item."""

    def changing(change: Callable[[OwnKeys], OwnKeys]) -> Act:
        return lambda context, item, _: with_keys(slots, context, item, change(slots.read(item.content, item.secrets)))

    activate = changing(_activated)
    return {
        "renew": lambda context, item, body: activate(context, with_next(slots, context, item), body),
        "create_next_certificate": lambda context, item, _: with_next(slots, context, item),
        "activate_certificate": activate,
        "delete_next_certificate": changing(OwnKeys.without_next),
        "delete_former_certificate": changing(OwnKeys.without_former),
    }


def _activated(keys: OwnKeys) -> OwnKeys:
    if keys.next is None:
        raise errors.BadField("NextCertificate: there is none to activate. Create it first.")
    return keys.activated()


def _pair(item: Item | None) -> Pair:
    """Return the certificate and the private key of a client."""
    return (value_at(item.content, _CERTIFICATE), item.secrets.get(_KEY, "")) if item is not None else _NO_PAIR


def _complete_certificate(context: Context, item: Item, stored: Pair) -> None:
    """Generate a certificate if there is none. Raises BadField.

    A stored pair is not looked at again: to look at a private key takes a tenth of a second.
    """
    certificate, key = _pair(item)
    if certificate is None and not key:
        certificate, item.secrets[_KEY] = saml_certificates.generate(item.id[0], context.now)
        put_at(item.content, _CERTIFICATE, certificate)
    elif not (certificate and key):
        raise errors.BadField("IdpCertificate: Certificate and Key, or neither; both are then generated.")
    elif (certificate, key) != stored:
        problem = saml_certificates.problem_of(certificate, key) or saml_certificates.weakness_of(certificate)
        if problem:
            raise errors.BadField(f"IdpCertificate: {problem}.")
    put_at(item.content, _FINGERPRINT, saml_certificates.sha1_fingerprint(certificate))


RULES: Final = {
    saml_operations.CLIENTS: Rules(
        from_file=read_client_of_file,
        on_output=show_client,
        problems=client_problems,
        before_write=complete_client,
        actions={**_key_actions(CLIENT_KEYS), "create_next_certificate": next_of_client},
    ),
    saml_operations.PROVIDERS: Rules(
        on_output=show_provider,
        problems=provider_problems,
        powers=powers_of,
        before_write=complete_provider,
        actions=_key_actions(PROVIDER_KEYS),
    ),
}
