"""Management programs add domains of the tenant's own and verify them by DNS (interface hosted-pages.md sections 6 and 10).

The docstrings are published."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors as e
from app.contract.configuration_model import ConfigurationModel
from app.contract.resources import collection
from app.kit.resource import CREATE, CREATED_AT, DELETE, LIST, READ_ONLY, Action, InOwnStore, Key
from app.kit.wire import Wire

DomainName = Annotated[
    str, Field(max_length=253, pattern=r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]*[a-z][a-z0-9-]*$")
]


class CustomDomain(Wire):
    """A domain of the tenant's own, where pages, OAuth endpoints and the issuer answer once it is verified. DNS proves it: either
    `RecordValue` as the CNAME of the domain, or, for a domain that can have no CNAME, `TxtValue` as a TXT record of `TxtName`.
    `PasskeyEffect` tells what the domain does to passkeys. Links in mails that programs cause lead to the domain verified first."""

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
    exists=e.ProviderDomainExists, unknown=e.UnknownDomain, most=10, file_key="custom_domains", backing=InOwnStore(), content=StoredDomain,
    file_note="Domains of the tenant's own; each answers once DNS has its record and a program verified it.",
    actions=(
        Action(
            "verify", "POST /v2/manage/custom-domains/{domainName}/verify", "Verify a custom domain",
            description="Looks up the domain’s DNS record. If it’s right, the domain is served.",
            errors=(e.ProviderDomainExists,),
        ),
    ),
)  # fmt: skip
