"""The texts of pages that templates of themes can show. Any other text is denied, whatever its name: it may be a secret, or an address
that opens something. Numbers, flags and states are harmless by their type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SHOWN: Final[Mapping[str, frozenset[str]]] = {
    kind: frozenset(names.split())
    for kind, names in {
        # Pages
        "AccountChangedPage": "account",
        "AccountDeletedPage": "until",
        "AddIdentityPage": "provider",
        "ApproveSignInPage": "account decision device ip place",
        "BackupCodesPage": "state",
        "ChooseFactorPage": "account",
        "CodePage": "number",
        "ConsentFormsPage": "account events",
        "ConsentPage": "account destination home person_name policy terms",
        "CreateOrganizationAtSignInPage": "account",
        "DeviceApprovalPage": "state",
        "DeviceHandoffPage": "account decision",
        "DevicePage": "account device home ip place",
        "ErrorPage": "detail home",
        "ForgotPage": "send_label",
        "HumanCheckPage": "account",
        "IdentitiesPage": "result",
        "InvitationPage": "domains expires_in",
        "InvitePeoplePage": "sends",
        "JoinRequestsPage": "organization",
        "LinkPage": "label state",
        "LoginPage": "help initials",
        "MissingFieldsPage": "account",
        "NewPasswordPage": "account",
        "OrganizationDomainsPage": "organization people result",
        "OrganizationMembersPage": "organization seats",
        "OrganizationsPage": "result",
        "OwnInvitationsPage": "account",
        "PasskeyOfferPage": "account host",
        "PasskeysPage": "accepted",
        "PhonePage": "pending",
        "PhoneSignInPage": "number state",
        "PrivacyPolicyPage": "account changes since",
        "ProfilePage": "opened since",
        "RegisterPage": "provider_title",
        "RegistrationOffPage": "help",
        "ResetPasskeyPage": "state",
        "SecondFactorPage": "account",
        "SecurityPage": "done",
        "SelectOrganizationPage": "account",
        "SetPinPage": "account",
        "SignInRequestPage": "place",
        "SignedOutPage": "home",
        "SetupLinkPage": "organization state",
        "TransferOwnershipPage": "member organization roles_after",
        # Rows of lists
        "DomainRow": "day name record state",
        "FactorRow": "hint icon kind name since used",
        "Scope": "description name",
        "SignInMethod": "icon mark name title",
    }.items()
}
"""By the class that has the field or property: its own, not one that inherits it."""
