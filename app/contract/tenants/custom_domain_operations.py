"""Management programs add domains of the tenant's own and verify them by DNS.

The docstrings are published."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors
from app.contract.configuration_model import ConfigurationModel
from app.contract.resources import collection
from app.kit.operations.wire import Wire
from app.kit.resources.resource import CREATE, CREATED_AT, DELETE, LIST, READ_ONLY, InOwnStore, Key, ResourceAction

DomainName = Annotated[
    str, Field(max_length=253, pattern=r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]*[a-z][a-z0-9-]*$")
]


class CustomDomain(Wire):
    """A domain of the tenant's own, which serves its pages, OAuth endpoints and issuer once it's verified. To verify it, publish
    `RecordValue` as the CNAME of the domain, or `TxtValue` as a TXT record at `TxtName` if the domain can't have a CNAME.
    `PasskeyEffect` says what happens to passkeys. Emails that your server causes link to the domain that was verified first."""

    domain_name: Annotated[DomainName, Key("domainName")]
    status: Annotated[Literal["pending", "verified"], READ_ONLY] = "pending"
    record_type: Annotated[Literal["CNAME"], READ_ONLY] = "CNAME"
    record_value: Annotated[str, READ_ONLY] = ""
    txt_name: Annotated[str, READ_ONLY] = ""
    txt_value: Annotated[str, READ_ONLY] = ""
    passkey_effect: Annotated[str, READ_ONLY] = ""
    created_date: Annotated[str | None, CREATED_AT] = None


class StoredDomain(ConfigurationModel):
    """A domain of the tenant's own."""

    domain_name: DomainName


DOMAINS = collection(
    "custom_domains", "/v2/manage/custom-domains", CustomDomain, verbs=(LIST, CREATE, DELETE), noun="custom domain",
    about="A verified custom domain serves the hosted pages and the OAuth endpoints of the tenant. DNS verifies it: a CNAME "
    "to `RecordValue`, or a TXT record for a domain that can’t have a CNAME.",
    scope="security",
    exists=errors.ProviderDomainExists, unknown=errors.UnknownDomain, max_items=10, file_key="custom_domains",
    backing=InOwnStore(), content=StoredDomain,
    file_note="The tenant's own domains. Each one works once its DNS record is verified.",
    actions=(
        ResourceAction(
            "verify", "POST /v2/manage/custom-domains/{domainName}/verify", "Verify a custom domain",
            description="Looks up the domain’s DNS record. If the record is right, the domain starts to serve the tenant’s pages.",
            errors=(errors.ProviderDomainExists,),
        ),
    ),
)  # fmt: skip
