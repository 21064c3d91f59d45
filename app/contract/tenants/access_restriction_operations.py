"""Management programs read and write access restrictions: locks, email domains, IP addresses, return addresses.

The docstrings are published."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors
from app.contract.configuration_model import Network
from app.contract.resources import singleton
from app.contract.tenants.file import AllowedUrl
from app.kit.operations.wire import Wire
from app.kit.resources.resource import COMPUTED, READ, UPDATE, Flattened, InSettings, SettingsKey, VerbOptions

LockType = Literal["None", "Suspend", "Captcha", "SecurityQuestion", "Block"]
Entries = Annotated[list[Annotated[str, Field(min_length=1, max_length=320)]], Field(max_length=1_000)]
Networks = Annotated[list[Network], Field(max_length=1_000)]


class SuspendConfiguration(Wire):
    """How long a lockout of the type `Suspend` lasts."""

    effective_period_in_seconds: Annotated[int, SettingsKey("lockout.suspend_seconds")] = 900


class LoginLockedConfiguration(Wire):
    """When failed sign-ins lock an account, and what unlocks it. With `MaximumFailedLoginAttempts` 0, accounts are never locked."""

    login_locked_type: Annotated[LockType, COMPUTED] = "Suspend"
    maximum_failed_login_attempts: Annotated[int, SettingsKey("lockout.maximum_failed_attempts")] = 5
    suspend_configuration: Annotated[SuspendConfiguration, Flattened()] = SuspendConfiguration()


class DomainAccess(Wire):
    """Email addresses and domains that can sign up, and those that can't. An entry with `@` is an address; a domain includes its
    subdomains. With an `Allowlist`, no other address can sign up."""

    allowlist: Annotated[Entries, SettingsKey("email_access.allow")] = Field(default_factory=list)
    blocklist: Annotated[Entries, SettingsKey("email_access.block")] = Field(default_factory=list)


class IpAccess(Wire):
    """IP addresses and networks (CIDR) that can call the tenant, and those that can't. With `AllowedIPs`, no other address can."""

    allowed_ips: Annotated[Networks, SettingsKey("allowed_ips")] = Field(default_factory=list, alias="AllowedIPs")
    denied_ips: Annotated[Networks, SettingsKey("denied_ips")] = Field(default_factory=list, alias="DeniedIPs")


class WhitelistedUrls(Wire):
    """Web applications and return addresses that a sign-in can lead to."""

    domains: Annotated[list[AllowedUrl], Field(max_length=500), SettingsKey("url_whitelist")] = Field(
        default_factory=list
    )


_AREA, _RESTRICTIONS = "access_settings", "/v2/manage/restrictions"

LOCKS = singleton(
    _AREA, "/v2/manage/lockout-config", LoginLockedConfiguration, kind="locks", noun="lockout settings",
    about="They set when failed sign-ins lock an account, and what unlocks it.", scope="security",
    verbs=(VerbOptions(READ, "read_locks"), VerbOptions(UPDATE, "change_locks")), backing=InSettings(),
)  # fmt: skip
DOMAINS = singleton(
    _AREA, f"{_RESTRICTIONS}/domain-access", DomainAccess, kind="email_domains", noun="email restrictions",
    about="They say which email addresses and domains may sign up. A domain includes its subdomains.",
    verbs=(
        VerbOptions(READ, "read_domains", errors=(errors.RestrictionNotSet,)),
        VerbOptions(UPDATE, "change_domains", errors=(errors.EntryInBothLists,)),
    ),
    scope="security", backing=InSettings(),
)  # fmt: skip
ADDRESSES = singleton(
    _AREA, f"{_RESTRICTIONS}/ip-access", IpAccess, kind="ip_access", noun="IP restrictions",
    about="They say which addresses and networks may call the tenant.",
    verbs=(
        VerbOptions(READ, "read_addresses", errors=(errors.RestrictionNotSet,)),
        VerbOptions(UPDATE, "change_addresses", errors=(errors.EntryInBothLists,)),
    ),
    scope="security", backing=InSettings(),
)  # fmt: skip
URLS = singleton(
    _AREA, "/v2/manage/whitelisted-urls", WhitelistedUrls, kind="whitelisted_urls", noun="allowed return addresses",
    about="Links and redirects of a sign-in lead only there.",
    verbs=(VerbOptions(READ, "read_urls"), VerbOptions(UPDATE, "change_urls")), scope="security", backing=InSettings(),
)  # fmt: skip
