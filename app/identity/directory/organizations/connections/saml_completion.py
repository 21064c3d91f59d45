"""Completes a SAML connection: by its provider's metadata, and by what a request states."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from app.identity.directory.organizations.connections import provider_certificates, provider_metadata
from app.identity.directory.organizations.connections.provider_certificates import ProviderCertificate
from app.identity.directory.organizations.connections.provider_metadata import MetadataUnusable
from app.identity.platform import saml_certificates
from app.identity.platform.context import Context

_STATED: Final = frozenset({"idp_certificate", "idp_sign_in_url", "idp_sign_out_url"})
"""Members that metadata never replaces if they are stated beside its address, `idp_certificate` unless a key of it signed the metadata."""


class MemberRefused(Exception):
    """A member of a request is missing or wrong."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(why)
        self.field = field
        self.why = why


def completed(
    context: Context, content: dict[str, Any], members: dict[str, Any], stored: dict[str, Any]
) -> dict[str, Any]:
    """Return the content: read the metadata, if its address is stated, and check the certificates.

    What is stated beside the address goes before the metadata, now and whenever it is read again.

    Args:
        content: what was stored, with the members of the request.
        members: those of the request.
        stored: what was stored; empty for a new connection.

    Raises MemberRefused.
    """
    if members.get("idp_metadata_url"):
        context.work.release_connection()
        resolver, url = context.services.provider_metadata.resolver, members["idp_metadata_url"]
        try:
            read = provider_metadata.fetch(resolver, url, context.now, entity_id=members.get("idp_entity_id"))
        except MetadataUnusable as problem:
            raise MemberRefused("idp_metadata_url", str(problem)) from None
        is_same = stored.get("idp_entity_id") == read.entity_id
        present = provider_certificates.of_content(stored, context.now) if is_same else ()
        trusted = provider_certificates.renewed(present, read.certificates, context.now)
        content |= {**read.content, **members, **provider_certificates.stored_as(trusted)}
        content["stated"] = sorted(_STATED.intersection(members))
    if "idp_sign_in_url" in members:
        content["idp_sign_in_binding"] = ""  # an address that is stated takes redirects
    if "idp_sign_out_url" in members:
        content |= {"idp_sign_out_binding": "", "idp_sign_out_response_url": ""}
    if members.get("idp_certificate"):
        content |= provider_certificates.stored_as(_requested_certificates(members["idp_certificate"]))
    for name in ("idp_entity_id", "idp_certificate"):
        if not content.get(name):
            raise MemberRefused(name, "it is required without IDPMetadataUrl")
    return {"idp_metadata_url": "", "is_idp_initiated": False, **content}


def _requested_certificates(text: str) -> Iterable[ProviderCertificate]:
    """Return the certificates of a request, in PEM or bare base64. Raises MemberRefused."""
    found = saml_certificates.read_all(text)
    if expected := next((problem for one in found if (problem := saml_certificates.problem_of(one))), ""):
        raise MemberRefused("idp_certificate", f"{expected} is expected")
    if len(found) > provider_certificates.MAX_CERTIFICATES:
        raise MemberRefused("idp_certificate", f"at most {provider_certificates.MAX_CERTIFICATES} are expected")
    return provider_certificates.without_end(found)
