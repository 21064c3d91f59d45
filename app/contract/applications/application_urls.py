"""Addresses and names in the settings of an application (OpenID Connect Registration section 2)."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from app.contract.federation.connections import is_provider_url
from app.kit.web.urls import is_web_url, split_url

_MAX_FRAGMENT = 128


def _secure_address(address: str) -> str:
    if not is_web_url(address) or urlsplit(address).scheme != "https" or "#" in address:
        raise ValueError("an https address without a fragment")
    return address


def _resource(text: str) -> str:
    parts = split_url(text)
    if parts is None or not (parts.scheme and (parts.netloc or parts.path)) or "#" in text:
        raise ValueError("an absolute URI without a fragment (RFC 8707)")
    return text


Resource = Annotated[str, Field(max_length=500), AfterValidator(_resource)]
SecureUrl = Annotated[str, AfterValidator(_secure_address), Field(max_length=2_000)]


def _request_uri(address: str) -> str:
    base, _, fragment = address.partition("#")
    if not is_provider_url(base) or len(fragment) > _MAX_FRAGMENT or not fragment.isprintable():
        raise ValueError("an https address (http works on localhost only)")
    return address


RequestUri = Annotated[str, AfterValidator(_request_uri), Field(max_length=2_000)]
"""A fragment may tell versions of the request object apart (OpenID Connect Core section 6.2)."""
ScopeName = Annotated[str, Field(pattern=r"^[!#-\[\]-~]{1,100}$")]
"""(RFC 6749 section 3.3)"""
AuthenticationClass = Annotated[str, Field(pattern=r"^[!-~]{1,100}$")]
