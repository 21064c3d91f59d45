"""SAML sign-on in the browser, and the metadata of the identity provider.

What reads and signs XML is imported with the first request of each process: most have none.
"""

from __future__ import annotations

from app.contract.saml import saml_operations
from app.contract.steps import StepResponse
from app.identity.platform.context import Context
from app.kit.operations.wire import Document


@saml_operations.login.implements
def login(context: Context, req: saml_operations.SamlMessage) -> StepResponse:
    from app.identity.protocols.saml import login_endpoint  # noqa: PLC0415 - loads lxml and signxml

    return login_endpoint.open_request(context, req)


@saml_operations.logout.implements
def logout(context: Context, req: saml_operations.SamlMessage) -> StepResponse:
    from app.identity.protocols.saml import logout_endpoint  # noqa: PLC0415 - as above

    return logout_endpoint.open_message(context, req)


@saml_operations.metadata.implements
def read_metadata(context: Context, req: saml_operations.SamlMetadataRequest) -> Document:
    """Return the metadata for one client. Raises SamlConfigurationInvalid."""
    from app.identity.protocols.saml import metadata_endpoint  # noqa: PLC0415 - loads lxml and signxml

    return metadata_endpoint.document(context, req.app_name)
