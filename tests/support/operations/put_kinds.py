"""What every PUT of the interface does with members that its request leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

KEEPS, REPLACES = "keeps", "replaces"
"""An absent member stays, and null or an empty one clears; or the body takes the place of what was stored."""
ACTS: Final = "acts"
"""It stores no members of its body: it verifies, assigns, switches or resets, or names the changed item."""

_REPLACING: Final = """
access_settings.change_addresses access_settings.change_domains access_settings.change_locks access_settings.change_urls
bigcommerce_stores.replace captcha_settings.change consent_forms.update custom_fields.change_form jwt_clients.update
jwt_providers.update ldap_providers.update message_templates.change_mail message_templates.change_sms oauth_providers.update
oauth_registration.replace organization_permissions.update organization_roles.update perfectmind_sites.replace
registration_schema.change saml_clients.update scim.replace second_factor_settings.change_config second_factor_settings.change_duo
second_factor_settings.change_push security_questions.update security_settings.change_passkeys
security_settings.change_passwords security_settings.change_sessions security_settings.change_totp shopify_stores.replace
themes.put_file themes.save_draft themes.update
webhooks.older_update webhooks.update workflows.update default_workflow.update custom_objects.change
custom_objects.managed_change custom_object_types.update token_hook.update
"""
_KEEPING: Final = """
oauth_clients.update organization_connections.update organization_connections.update_group_role organizations.set_policies
organizations.update saml_providers.update scim_connections.update social_providers.update
"""
_ACTING: Final = """
accounts.change_uid accounts.invalidate_email accounts.invalidate_phone accounts.set_emails accounts.set_phone accounts.update
accounts.update_by_identifier consent_forms.set_status consents.change oauth_clients.rotate
organization_connections.set_status organization_invitations.accept organization_invitations.update
organization_members.assign organization_members.assign_everywhere organization_roles.set_default organizations.set_status
passwordless.by_sms_code passwords.change passwords.reset passwords.reset_by_answer passwords.reset_by_sms passwords.set
phones.change phones.verify pins.change pins.reset_by_answer_and_email pins.reset_by_answer_and_phone
pins.reset_by_answer_and_username pins.reset_by_code pins.reset_by_token registration.change_record roles.add_permissions
roles.assign roles.change_contexts second_factors.answer_push second_factors.keep_answers second_factors.prove_duo
second_factors.prove_email second_factors.prove_sms second_factors.prove_totp second_factors.set_number
second_factors.set_own_number second_factors.with_backup_code second_factors.with_duo second_factors.with_email
second_factors.with_new_answers second_factors.with_sms second_factors.with_totp self_service.set_picture
self_service.set_username self_service.unlock self_service.update smart_login.touch_code step_up.with_app
step_up.with_backup_code step_up.with_duo step_up.with_factor_mail step_up.with_mail step_up.with_password step_up.with_pin
step_up.with_sms themes.activate themes.publish_version themes.roll_back verification.by_code verification.resend
"""
PUTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        name: kind
        for kind, names in ((KEEPS, _KEEPING), (REPLACES, _REPLACING), (ACTS, _ACTING))
        for name in names.split()
    }
)
"""By operation. Profile updates act: they have a rule of their own for null, `nullsupport`."""
