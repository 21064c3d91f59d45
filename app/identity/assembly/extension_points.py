"""Connects packages with those above them that they call."""

from app.identity.authentication.sign_in import allowed_methods
from app.identity.authentication.sign_in.sessions import session_ends
from app.identity.credentials.ldap import ldap_reports
from app.identity.directory.accounts import account_store
from app.identity.directory.organizations import connection_ends
from app.identity.directory.organizations.memberships import managed_organization, membership_store
from app.identity.platform import events
from app.identity.platform.context import Context
from app.identity.platform.outbound.findings import UpstreamRefusal
from app.identity.protocols.oauth.logout import backchannel_logout
from app.identity.webhooks import subscriptions


def connect() -> None:
    """Connect each extension point with the functions that it calls; idempotent, called by servers, commands and workers."""
    account_store.organizations_of_profile.connect(membership_store.profile_entries)
    session_ends.listeners.connect(backchannel_logout.notify_applications)
    connection_ends.listeners.connect(_end_what_connections_began)
    managed_organization.access_checks.connect(allowed_methods.refuse_management)
    events.listeners.connect(subscriptions.post_event)
    ldap_reports.listeners.connect(_trace)


def _trace(context: Context, name: str, problem: UpstreamRefusal) -> None:
    from app.identity.authentication.federation import connection_traces  # noqa: PLC0415 - few requests fail so

    connection_traces.record(context, name, problem)


def _end_what_connections_began(context: Context, org_id: str, connection_id: str | None) -> None:
    from app.identity.authentication.sign_in.sessions import connection_sessions  # noqa: PLC0415 - few tenants have any

    connection_sessions.end_of_connections(context, org_id, connection_id)
