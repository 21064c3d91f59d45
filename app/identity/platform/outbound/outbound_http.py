"""HTTP to identity providers: bounded in time and size, without redirects, to public and allowed addresses only.

Tenants configure providers and providers name their endpoints, so both are untrusted (SSRF). Each host name is resolved
once, within the time, its addresses are checked, and the connection goes to a checked address, which defeats DNS rebinding.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Unpack

from app.identity.platform.outbound.findings import FindingTexts, UpstreamRefusal
from app.kit.outbound.host_resolver import Resolver

if TYPE_CHECKING:
    from app.identity.platform.outbound.unusable_answers import UnusableAnswer

OBJECT: Final = "a JSON object"


class ProviderUnavailable(UpstreamRefusal):
    """The provider does not respond, rejects our client, or its response is invalid. The text is logged.

    Args:
        status: the HTTP status of a refused request.
        error: the `error` of a token endpoint (RFC 6749 section 5.2).
    """

    def __init__(
        self, text: str, *, status: int | None = None, error: str | None = None, **finding: Unpack[FindingTexts]
    ) -> None:
        super().__init__(text, **finding)
        self.status = status
        self.error = error


def unusable(url: str, answer: UnusableAnswer, *, status: int | None = None) -> ProviderUnavailable:
    """Return the refusal of an answer."""
    from app.identity.platform.outbound.unusable_answers import host_of  # noqa: PLC0415 - with the first call

    text = f"{host_of(url)}: {answer.received}"
    return ProviderUnavailable(text, status=status, **answer.texts)


def get_json(
    resolver: Resolver, url: str, token: str | None = None, *, is_untrusted: bool = False, expected: str = "JSON"
) -> Any:
    """Get a JSON document, with `token` as bearer token. Raises ProviderUnavailable."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return request_json(resolver, "GET", url, headers, is_untrusted=is_untrusted, expected=expected)


def get_content(
    resolver: Resolver, url: str, accept: str, *, is_untrusted: bool = False, max_bytes: int | None = None
) -> bytes:
    """Get a document of a media type. Raises ProviderUnavailable.

    Args:
        max_bytes: of the document, where those of other answers are too few.
    """
    return _request(resolver, "GET", url, {"Accept": accept}, None, is_untrusted=is_untrusted, max_bytes=max_bytes)


def request_json(
    resolver: Resolver,
    method: str,
    url: str,
    headers: Mapping[str, str],
    content: bytes | None = None,
    *,
    is_untrusted: bool = False,
    expected: str = OBJECT,
) -> Any:
    """Send a request, with JSON as `content` if there is any, and return the JSON of the response. Raises ProviderUnavailable.

    Args:
        expected: OBJECT, which is then checked, or other words for JSON of any type.
    """
    headers = {"Accept": "application/json", **({"Content-Type": "application/json"} if content else {}), **headers}
    return read_json(url, _request(resolver, method, url, headers, content, is_untrusted=is_untrusted), expected)


def read_json(url: str, content: bytes, expected: str = OBJECT) -> Any:
    """Return the JSON of a body, as `request_json` does. Raises ProviderUnavailable."""
    from app.identity.platform.outbound.unusable_answers import json_of  # noqa: PLC0415 - with the first call

    value, wrong = json_of(content, expected, is_object=expected == OBJECT)
    if wrong is not None:
        raise unusable(url, wrong)
    return value


def _request(
    resolver: Resolver,
    method: str,
    url: str,
    headers: Mapping[str, str],
    content: bytes | None,
    *,
    is_untrusted: bool,
    max_bytes: int | None = None,
) -> bytes:
    """Send a request and return the body of the response. Raises ProviderUnavailable."""
    import httpx

    from app.identity.platform.outbound.bounded_transport import BoundedTransport, answer_of
    from app.identity.platform.outbound.unusable_answers import of_status  # noqa: PLC0415 - with the first call

    try:
        transport = BoundedTransport(resolver, is_untrusted=is_untrusted, max_bytes=max_bytes)
        with httpx.Client(transport=transport) as client:
            response = client.request(method, url, headers=headers, content=content)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as problem:  # the exception's text may contain the whole URL
        raise unusable(url, answer_of(problem)) from None
    status = response.status_code
    if status != httpx.codes.OK:
        raise unusable(url, of_status(status, response.headers.get("location")), status=status)
    return response.content


def get_json_object(
    resolver: Resolver, url: str, token: str | None = None, *, is_untrusted: bool = False
) -> dict[str, Any]:
    """Get a JSON object. Raises ProviderUnavailable."""
    members: dict[str, Any] = get_json(resolver, url, token, is_untrusted=is_untrusted, expected=OBJECT)
    return members
