"""Reads client metadata into an application's settings, and writes them as metadata again (RFC 7591 section 2)."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError

from app.contract.applications.client_protocol import ClientProtocol
from app.contract.applications.file import DEVICE_GRANT, ApplicationFile
from app.contract.applications.localized_texts import LOCALIZED, MAX_LANGUAGES, LocalizedTexts, language_tag
from app.contract.applications.settings import ApplicationSettings
from app.contract.oauth.oauth_errors import InvalidClientMetadata, InvalidRedirectUri
from app.contract.oauth.registration_metadata import MEMBERS
from app.identity.protocols.oauth import client_powers
from app.identity.protocols.oauth.registration import redirect_uris
from app.kit.operations.errors import OAuthError
from app.kit.text.input_filter import is_dangerous
from app.kit.web.urls import is_web_url, parse_url

GRANTS: Final = ("authorization_code", "refresh_token", DEVICE_GRANT, "implicit")
"""Grants in which a person consents, the only ones that an application can register itself: no password, no token of its own."""
SCOPES: Final = ("openid", "profile", "email", "phone", "address", "offline_access")
"""Scopes that an application can register itself: none of the tenant's, and none of our interface."""
_MAX_BYTES: Final = 60_000
_MAX_ADDRESS_LENGTH: Final = 2_000
_LED_TO: Final = (
    "post_logout_redirect_uris",
    "frontchannel_logout_uri",
    "backchannel_logout_uri",
    "initiate_login_uri",
)
_LINKS: Final = ("client_uri", "logo_uri", "policy_uri", "tos_uri")
_JOINERS: Final = "\u200c\u200d"
"""Invisible letters that Persian and Indian scripts need."""
_CHECKED_BEFORE: Final = {"logo_uri", "localized"}
_OF_THE_TENANT: Final = frozenset(ApplicationSettings.model_fields) - {
    *MEMBERS, *client_powers.NEED_ALL, "audience_scopes", "name", "protocol", "require_consent", "localized",
}  # fmt: skip
_GRANT_OF: Final = {"code": "authorization_code", "id_token": "implicit", "token": "implicit"}


def read(
    members: Mapping[str, Any],
    *,
    name: str,
    protocol: ClientProtocol = ClientProtocol.OPENID,
    schemes: Collection[str] = (),
    allows_http: bool = False,
    own_urls: Sequence[str] = (),
) -> ApplicationSettings:
    """Return the settings of an application that registers itself.

    Args:
        schemes: private-use schemes that the tenant lists.
        own_urls: the tenant's addresses, which no client may use, because browsers send its cookies there.

    Raises:
        InvalidRedirectUri: a redirect URI is malformed or not allowed.
        InvalidClientMetadata: another member is.
    """
    meta: dict[str, Any] = {member: members[member] for member in MEMBERS if members.get(member) is not None}
    localized = _localized(members)
    if len(json.dumps([meta, localized])) > _MAX_BYTES:
        raise InvalidClientMetadata(f"Expected at most {_MAX_BYTES} bytes of metadata.")
    if is_dangerous(
        [meta, localized], with_markup=True
    ):  # documents and software statements pass no filter of requests
        raise InvalidClientMetadata("Expected text without control characters and active markup.")
    uris = meta.get("redirect_uris", [])
    kind = meta.setdefault("application_type", redirect_uris.default_type(uris) if _is_list_of_text(uris) else "web")
    if kind not in ("web", "native"):
        raise InvalidClientMetadata("application_type: expected web or native.")
    meta["redirect_uris"] = redirect_uris.check(uris, kind, schemes, allows_http=allows_http)
    _complete(meta, protocol)
    _check_texts(meta, allows_http=allows_http)
    for tag, texts in localized.items():
        _check_texts(texts, allows_http=allows_http, mark=f"#{tag}")
    logo = meta.pop("logo_uri", None)  # pages show a copy, so it may be where no browser could load it
    fixed = {"name": name, "protocol": protocol, "require_consent": True, **_shown(localized)}
    try:
        checked = ApplicationFile.model_validate({**meta, **fixed}, strict=False)
    except ValidationError as problem:
        raise _refusal(problem) from None
    if checked.is_pairwise and (not checked.redirect_uris or DEVICE_GRANT in checked.grant_types):
        # without a redirect nothing shows that the application belongs to the sector (OpenID Connect Core section 8.1)
        raise InvalidClientMetadata("subject_type: expected public, for the device grant or without redirect_uris.")
    settings = checked.settings()
    _refuse_own_urls(settings, own_urls)
    _refuse_schemes(settings, schemes)
    return settings.model_copy(update=_with_logos(logo, localized))


def keep(settings: ApplicationSettings, before: ApplicationSettings) -> ApplicationSettings:
    """Return new settings with the tenant's own values, which no registration may state: whether the application is active, lifetimes …

    Powers are not kept: they were given to the application with its former metadata (decision 0315).

    Raises InvalidClientMetadata where the metadata do not agree with that.
    """
    stored = {name: getattr(before, name) for name in before.model_fields_set & _OF_THE_TENANT}
    if "optional_scopes" in stored:
        stored["optional_scopes"] = tuple(scope for scope in before.optional_scopes if scope in settings.scope.split())
    updated = settings.model_copy(update=stored)
    try:
        ApplicationFile.model_validate(updated.model_dump(mode="json", exclude_unset=True, exclude=_CHECKED_BEFORE))
    except ValidationError as problem:
        raise _refusal(problem) from None
    return updated


def write(settings: ApplicationSettings) -> dict[str, Any]:
    """Return the metadata as registered (RFC 7591 section 3.2.1); members without a value are omitted."""
    stored = settings.model_dump(mode="json")
    plain = {name: stored[name] for name in MEMBERS if stored.get(name) not in (None, [], {})}
    texts = {f"{name}#{tag}": value for tag, item in stored["localized"].items() for name, value in item.items()}
    return plain | {name: value for name, value in sorted(texts.items()) if value is not None}


def _shown(localized: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the texts by language as settings, without logos; nothing if there are none."""
    texts = {
        tag: {element: text for element, text in item.items() if element != "logo_uri"}
        for tag, item in localized.items()
    }
    return {"localized": texts} if texts else {}


def _with_logos(logo: str | None, localized: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the settings that have logos."""
    texts = {tag: LocalizedTexts(**item) for tag, item in localized.items()}
    return {**({"logo_uri": logo} if logo is not None else {}), **({"localized": texts} if texts else {})}


def _localized(members: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the members with a language tag, by language (RFC 7591 section 2.2)."""
    by_member: dict[str, dict[str, Any]] = {}
    for member, value in members.items():
        name, mark, text = member.partition("#")
        if not mark or name not in LOCALIZED or value is None:
            continue
        try:
            tag = language_tag(text)
        except ValueError as problem:
            raise InvalidClientMetadata(f"{name}: expected after # {problem}.") from None
        if name in by_member.setdefault(tag, {}):
            raise InvalidClientMetadata(f"{name}: expected each language once; found {tag} twice.")
        by_member[tag][name] = value
    if len(by_member) > MAX_LANGUAGES:
        raise InvalidClientMetadata(f"Expected at most {MAX_LANGUAGES} languages.")
    return by_member


def _complete(metadata: dict[str, Any], protocol: str) -> None:
    """Add the defaults and the implied values (RFC 7591 sections 2 and 2.1).

    Grants and response types are made to agree; scopes that an application cannot have are left out, as the section on
    substituted values allows (RFC 7591 section 3.2.1).
    """
    for name in ("grant_types", "response_types"):
        if name in metadata and not (
            _is_list_of_text(metadata[name]) and 0 < len(metadata[name]) <= len(_GRANT_OF) * 4
        ):
            raise InvalidClientMetadata(f"{name}: expected a list.")
    types = metadata.get("response_types")
    if "grant_types" not in metadata:
        implied = [_GRANT_OF[part] for item in types or ("code",) for part in item.split() if part in _GRANT_OF]
        metadata["grant_types"] = list(dict.fromkeys(implied)) or ["authorization_code"]
    if types is None:
        metadata["response_types"] = ["code"] if "authorization_code" in metadata["grant_types"] else []
    if unserved := [item for item in metadata["grant_types"] if item not in GRANTS]:
        raise InvalidClientMetadata(f"grant_types: expected {', '.join(GRANTS)}; found {unserved[0][:100]}.")
    metadata.setdefault("token_endpoint_auth_method", "client_secret_basic")
    scope = metadata.get("scope", " ".join(SCOPES))
    if not isinstance(scope, str):
        raise InvalidClientMetadata("scope: expected a text with spaces between the scopes.")
    requested = {"openid", *scope.split()} if protocol is ClientProtocol.OPENID else set(scope.split()) - {"openid"}
    metadata["scope"] = " ".join(item for item in SCOPES if item in requested)


def _check_texts(metadata: Mapping[str, Any], *, allows_http: bool, mark: str = "") -> None:
    title = metadata.get("client_name", "-")
    is_shown = isinstance(title, str) and all(item.isprintable() or item in _JOINERS for item in title)
    if not is_shown or not 0 < len(title.strip()) <= 100:
        raise InvalidClientMetadata(f"client_name{mark}: expected a text of 1 to 100 visible characters.")
    for name in _LINKS:
        address = metadata.get(name, "https://")
        is_https = isinstance(address, str) and address.startswith(("https://", *(("http://",) if allows_http else ())))
        if not is_https or len(address) > _MAX_ADDRESS_LENGTH or (name in metadata and not is_web_url(address)):
            raise InvalidClientMetadata(
                f"{name}{mark}: expected an https address of at most {_MAX_ADDRESS_LENGTH} characters."
            )


def _refuse_own_urls(settings: ApplicationSettings, own_urls: Sequence[str]) -> None:
    """Refuse addresses at the tenant's hosts, on any port, to which our pages would lead a browser or load a frame."""
    own = {_host(address) for address in own_urls} - {None}
    if any(_host(uri) in own for uri in settings.redirect_uris):
        raise InvalidRedirectUri("redirect_uris: expected addresses of the application, not of this server.")
    for name in _LED_TO:
        value = getattr(settings, name)
        provided = value if isinstance(value, tuple) else (value,)
        if any(item and _host(item) in own for item in provided):
            raise InvalidClientMetadata(f"{name}: expected an address of the application, not of this server.")


def _host(address: str) -> str | None:
    """Return the host as browsers send it; that with a dot at its end is served as the same."""
    parts = parse_url(address)
    return parts.host.removesuffix(".") if parts is not None else None


def _refuse_schemes(settings: ApplicationSettings, schemes: Collection[str]) -> None:
    """Refuse a return from the sign-out to a scheme that no redirect URI could have."""
    for uri in settings.post_logout_redirect_uris:
        if problem := redirect_uris.scheme_problem(uri, schemes):
            raise InvalidClientMetadata(f"post_logout_redirect_uris: expected {problem}; found {uri[:200]!r}.")


def _is_list_of_text(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _refusal(problem: ValidationError) -> OAuthError:
    """Return the OAuth error of a member that the settings refuse; the sentence names the member."""
    first = problem.errors(include_url=False, include_input=False)[0]
    sentence = str(first["msg"]).removeprefix("Value error, ")
    where = ".".join(map(str, first["loc"]))
    text = f"{where}: expected {sentence}" if where else sentence.replace(": ", ": expected ", 1)
    kind = InvalidRedirectUri if text.startswith("redirect_uris") else InvalidClientMetadata
    return kind(f"{text[:400]}.")
