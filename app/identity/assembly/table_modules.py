"""Imports every module that declares tables, so that migrations, deletions and tests see the whole schema."""

# ruff: noqa: F401 - importing them is the purpose
import app.identity.administration.theme_versions.version_store
import app.identity.authentication.federation.connection_traces
import app.identity.authentication.registration.choice_lists
import app.identity.authentication.sign_in.tables
import app.identity.credentials.captcha.answers
import app.identity.credentials.credential_store
import app.identity.credentials.one_time_tokens.one_time_token_store
import app.identity.credentials.tokens.token_store
import app.identity.directory.accounts.assigned_roles
import app.identity.directory.accounts.tables
import app.identity.directory.consents.consent_log
import app.identity.directory.custom_objects.custom_object_store
import app.identity.directory.organizations.tables
import app.identity.directory.pictures
import app.identity.directory.provisioning.tables
import app.identity.directory.roles.tenant_role_store
import app.identity.directory.tenants.tables
import app.identity.directory.tenants.theme_files
import app.identity.messaging.tenant_templates.template_store
import app.identity.messaging.theme_failures
import app.identity.platform.audit
import app.identity.platform.continuation_tokens
import app.identity.platform.outbox.outbox
import app.identity.platform.resource_storage.former_versions
import app.identity.platform.resource_storage.resource_store
import app.identity.protocols.oauth.registration.initial_access_tokens
import app.identity.protocols.oauth.tables
from app.identity.platform.store.tables import declare_complete, metadata

declare_complete()

__all__ = ["metadata"]
