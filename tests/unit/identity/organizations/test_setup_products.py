"""The products of the set-up guide: each file is complete, and its short forms become whole values."""

from __future__ import annotations

import pytest

from app.contract.federation.connections import is_provider_url
from app.contract.organizations.organization_connection_operations import OIDC_TYPE, SAML_TYPES
from app.identity.directory.organizations.connections import shared_issuers
from app.identity.directory.organizations.setup.setup_products import OPENID, SAML, Product, ProductField, products

PRODUCTS = list(products().values())
VALUES = {"redirect_uri", "login_url", "entity_id", "metadata_url", "acs", "acs_pattern"}
NEEDED = {OPENID: {"issuer", "client_id", "client_secret"}, SAML: {"metadata"}}


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.name)
def test_product_has_what_its_steps_and_fields_need(product: Product) -> None:
    assert product.protocols
    assert {product.connection_type(name) for name in product.protocols} <= {OIDC_TYPE, *SAML_TYPES}
    for name, protocol in product.protocols.items():
        assert {item.name for item in protocol.fields} | protocol.settings.keys() >= NEEDED[name]
        entered = {step.value for step in protocol.steps if step.do == "enter"}
        assert entered <= VALUES
        assert entered >= ({"redirect_uri"} if name == OPENID else {"acs", "entity_id"})
        for step in protocol.steps:
            assert len(step.words) >= (2 if step.do in ("choose", "attribute") else 1)
            assert step.do != "visit" or step.value.startswith("https://")


def test_every_product_of_the_issue_is_there() -> None:
    assert [product.title for product in PRODUCTS] == [
        "Microsoft Entra ID", "Okta", "Google Workspace", "Keycloak", "AD FS", "JumpCloud", "OneLogin", "PingOne", "OpenID Connect",
        "SAML 2.0",
    ]  # fmt: skip


def field_of(product: str, name: str = "issuer") -> ProductField:
    return next(item for item in products()[product].protocols[OPENID].fields if item.name == name)


DIRECTORY = "9c3f0a41-5d0e-4b52-a3f5-6c5d1f0e7b11"


@pytest.mark.parametrize(
    ("product", "typed", "issuer"),
    [
        ("okta", " globex.okta.com ", "https://globex.okta.com"),
        ("okta", "https://globex.okta.com/", "https://globex.okta.com"),
        ("okta", "https://globex.okta.com/oauth2/default", "https://globex.okta.com/oauth2/default"),
        ("okta", "okta", None),
        ("okta", "globex.okta.com/?x", None),
        ("entra", DIRECTORY, f"https://login.microsoftonline.com/{DIRECTORY}/v2.0"),
        (
            "entra",
            f"https://login.microsoftonline.com/{DIRECTORY}/v2.0",
            f"https://login.microsoftonline.com/{DIRECTORY}/v2.0",
        ),
        ("entra", "common", None),
        ("adfs", "adfs.globex.example", "https://adfs.globex.example/adfs"),
        ("openid", "https://login.globex.example", "https://login.globex.example"),
    ],
)
def test_short_form_becomes_the_issuer(product: str, typed: str, issuer: str | None) -> None:
    found = field_of(product).whole_value(typed)
    assert found == issuer
    assert issuer is None or (is_provider_url(issuer) and not shared_issuers.is_shared(issuer))
