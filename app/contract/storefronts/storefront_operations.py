"""Sign-on at storefronts and booking systems: Shopify, BigCommerce and PerfectMind.

A tenant's stores and sites are resources; a program asks with an access token for the address that signs the account in. The
docstrings are published."""

from typing import Annotated

from pydantic import AfterValidator, Field

from app.contract import errors
from app.contract.applications.application_urls import SecureUrl
from app.contract.auth import ACCESS_TOKEN, API_KEY, NEVER
from app.contract.catalogue import operation
from app.contract.configuration_model import web_origin
from app.contract.error_groups import WORKFLOW_REFUSALS
from app.contract.resources import collection
from app.contract.shared_parameters import AccessTokenQuery
from app.kit.operations.wire import From, Wire
from app.kit.resources.resource import LIST, REPLACE, SECRET, Key

Query = From.QUERY
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$")]
Secret = Annotated[str | None, SECRET, Field(max_length=500)]
MAX_STORES = 50
_NAMED = "The name that requests give."


def https_origin(origin: str) -> str:
    """Check `https://host[:port]`. Raises ValueError."""
    if not web_origin(origin).startswith("https://"):
        raise ValueError("an origin such as https://shop.example.com, without a path or *")
    return origin


class ShopifyStore(Wire):
    """A Shopify store with Multipass. Shopify shows `MultipassSecret` in the store's settings of customer accounts; responses
    mask it."""

    store: Annotated[Name, Key()] = Field(description=_NAMED)
    domain: Annotated[str, Field(max_length=253, pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$")] = Field(
        description="The store's own domain, or its domain below myshopify.com."
    )
    multipass_secret: Secret = None


class BigCommerceStore(Wire):
    """A BigCommerce store, and its API account. Responses mask `ClientSecret` and `AccessToken`."""

    store: Annotated[Name, Key()] = Field(description=_NAMED)
    store_hash: Annotated[str, Field(pattern=r"^[a-z0-9]{1,60}$")] = Field(
        description="The ID of the store, as in the address of its API."
    )
    store_url: Annotated[str, Field(max_length=300), AfterValidator(https_origin)] = Field(
        description="The origin of the storefront."
    )
    client_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,200}$")] = Field(
        description="The client ID of the API account, which needs the scopes Customers Login and Customers."
    )
    client_secret: Secret = None
    access_token: Secret = None


class PerfectMindSite(Wire):
    """A PerfectMind (Xplor Recreation) site. `AccessKey` is its API key; responses mask it."""

    site: Annotated[Name, Key()] = Field(description=_NAMED)
    host: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}\.perfectmind\.com$")] = Field(
        description="The host of the site."
    )
    client_number: Annotated[str, Field(pattern=r"^[0-9]{1,20}$")] = Field(description="The client number of the API.")
    access_key: Secret = None
    session_url: SecureUrl | None = Field(
        default=None, description="The https address of your server that begins a session at the site."
    )


class StoreSignOn(AccessTokenQuery):
    """`store` is the name of a store that is set up. `return_url` is where the account goes then: an address at the store, or its path.
    `password` is not read. `callback` is refused: there is no JSONP."""

    store: Annotated[str | None, Query, Field(max_length=200)] = None
    return_url: Annotated[str | None, Query, Field(max_length=2_000)] = Field(default=None, alias="return_url")
    callback: Annotated[str | None, Query, Field(max_length=200)] = None


class ShopifySignOn(StoreSignOn):
    """`return_url` may also be an address of the tenant's whitelist."""


class ShopifyLogin(Wire):
    """The address that signs the account in at the store, once and within 15 minutes."""

    login_url: str = Field(alias="loginUrl")


class BigCommerceLogin(Wire):
    """The address that signs the account in at the store, once and within 30 seconds."""

    url: str = Field(alias="url")


class ReadContact(AccessTokenQuery):
    site_name: Annotated[str, Query, Field(max_length=200)] = Field(alias="perfectMindSiteName")


class SiteContacts(Wire):
    """The account's email address, and the IDs of the site's contacts with that address."""

    email: str
    contact_id: list[str]


class BeginSession(ReadContact):
    pass


class SiteSession(Wire):
    """A session of the account at the site. `IsNewLink`: whether the account had no contact there before."""

    session_id: str
    url: str = Field(alias="URL")
    is_new_link: bool


SIGN_ON_ERRORS = (
    errors.EmailUnverified,
    errors.MalformedEmail,
    errors.HostedPluginNotFound,
    errors.HostedPluginInvalid,
)

shopify_login = operation(
    "storefronts.shopify_login", "GET /sso/shopify/api/token", ShopifySignOn, ShopifyLogin, auth=API_KEY & ACCESS_TOKEN, access=NEVER,
    errors=(*SIGN_ON_ERRORS, *WORKFLOW_REFUSALS, errors.StoreNameMissing, errors.LoginNotAllowed),
    summary="Sign in at a Shopify store",
    description="Returns an address that signs the account in at a Shopify store. The account’s email address must be verified.",
)  # fmt: skip
bigcommerce_login = operation(
    "storefronts.bigcommerce_login", "GET /sso/bigcommerce/api/token", StoreSignOn, BigCommerceLogin,
    auth=API_KEY & ACCESS_TOKEN, access=NEVER,
    errors=(*SIGN_ON_ERRORS, *WORKFLOW_REFUSALS, errors.StoreNameMissing, errors.LoginNotAllowed, errors.StorefrontFailed),
    summary="Sign in at a BigCommerce store",
    description="Returns an address that signs the account in at a BigCommerce store, as a new customer if it isn’t one yet. The "
    "account’s email address must be verified.",
)  # fmt: skip
perfectmind_contact = operation(
    "storefronts.perfectmind_contact", "GET /sso/perfectmind/contact", ReadContact, SiteContacts, auth=API_KEY & ACCESS_TOKEN, access=NEVER,
    errors=(*SIGN_ON_ERRORS, errors.BookingSystemFailed),
    summary="Find PerfectMind contacts",
    description="Returns the IDs of the PerfectMind contacts that have the account’s verified email address.",
)  # fmt: skip

perfectmind_session = operation(
    "storefronts.perfectmind_session", "GET /sso/perfectmind/session", BeginSession, SiteSession, auth=API_KEY & ACCESS_TOKEN, access=NEVER,
    errors=(*SIGN_ON_ERRORS, *WORKFLOW_REFUSALS, errors.LoginNotAllowed, errors.SessionCallMissing, errors.BookingSystemFailed),
    summary="Begin a PerfectMind session",
    description="Begins a session of the account at a PerfectMind site, and returns where the browser continues. Your server at the site’s "
    "`SessionUrl` begins it: it gets a signed POST, as the calls of workflows are, with the account’s ID, verified email and names, and "
    "answers `SessionId`, `URL` (an address at the site or on the tenant’s whitelist) and `IsNewLink`.",
)  # fmt: skip

_PLUGINS = "/v2/manage/hosted-plugins"
_VERBS = (LIST, REPLACE)

SHOPIFY = collection(
    "shopify_stores", f"{_PLUGINS}/shopify", ShopifyStore, verbs=_VERBS, noun="Shopify store",
    about="Each store needs Shopify Multipass.", scope="client", is_paged=False,
    max_items=MAX_STORES, file_key="shopify_stores",
    file_note="Shopify stores at which accounts are signed in by Multipass.",
)  # fmt: skip
BIGCOMMERCE = collection(
    "bigcommerce_stores", f"{_PLUGINS}/bigcommerce", BigCommerceStore, verbs=_VERBS, noun="BigCommerce store",
    about="Each needs an API account of the store.", scope="client",
    is_paged=False, max_items=MAX_STORES, file_key="bigcommerce_stores",
    file_note="BigCommerce stores at which accounts are signed in by the Customer Login API.",
)  # fmt: skip
PERFECTMIND = collection(
    "perfectmind_sites", f"{_PLUGINS}/perfectmind", PerfectMindSite, verbs=_VERBS, noun="PerfectMind site",
    about="Each needs an API key of the site.", scope="client",
    is_paged=False, max_items=MAX_STORES, file_key="perfectmind_sites",
    file_note="PerfectMind sites in which an account's contacts are looked up.",
)  # fmt: skip
