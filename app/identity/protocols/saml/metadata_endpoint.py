"""The metadata of the identity provider, as each SAML client gets it."""

from __future__ import annotations

from app.contract import errors
from app.contract.saml import saml_operations
from app.identity.platform.context import Context
from app.identity.platform.saml.metadata_reader import SamlEndpoint
from app.identity.platform.saml.saml_names import POST, REDIRECT, UNSPECIFIED_FORMAT
from app.identity.platform.saml_writing.metadata_writer import RoleMetadata, provider_metadata
from app.identity.protocols.saml import name_ids, saml_clients
from app.kit.operations.wire import Document


def document(context: Context, app_name: str) -> Document:
    """Return the metadata with the client's certificate. Raises SamlConfigurationInvalid."""
    app = saml_clients.find(context, app_name)
    if app is None:
        raise errors.SamlConfigurationInvalid
    client = app.client
    is_open = client.name_id_format == UNSPECIFIED_FORMAT
    role = RoleMetadata(
        entity_id=saml_clients.entity_id(context),
        services=_endpoints(saml_clients.login_url(context, app)),
        logout_services=_endpoints(saml_clients.logout_url(context, app)),
        signing_certificates=app.keys.signing_certificates(context.now),
        name_id_formats=name_ids.FORMATS if is_open else [client.name_id_format],
        wants_signed_requests=bool(app.sp_certificates),
    )
    return Document(provider_metadata(role), media_type=saml_operations.METADATA_TYPE)


def _endpoints(location: str) -> list[SamlEndpoint]:
    return [SamlEndpoint(binding=binding, location=location) for binding in (REDIRECT, POST)]
