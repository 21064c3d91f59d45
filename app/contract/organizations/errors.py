"""Errors of organizations, their roles, permissions, domains, connections and invitations."""

from app.kit.operations.errors import ApiError


class OrganizationsOff(ApiError):
    code, status, message = 1267, 400, "Organizations are not enabled"
    description = "Organizations are off for this tenant."


class BadNestedBody(ApiError):
    code, status, message = 8044, 400, "JSON body is invalid"
    description = "The body isn’t valid JSON."


class OrganizationNameTaken(ApiError):
    code, status, message = 8116, 409, "Organization name already exists"
    description = "Another organization has this name."


class MalformedOrganizationId(ApiError):
    code, status, message = 8117, 400, "Organization id is invalid"
    description = "The organization ID is malformed."


class UnknownOrganization(ApiError):
    code, status, message = 8118, 404, "Organization not found"
    description = "There’s no organization with this ID."


class MalformedPermissionId(ApiError):
    code, status, message = 8119, 400, "Permission id is invalid"
    description = "The permission ID is malformed, or the tenant has no such permission."


class PermissionTaken(ApiError):
    code, status, message = 8120, 409, "Permission already exists"
    description = "There’s a permission with this name already."


class UnknownOrganizationPermission(ApiError):
    code, status, message = 8122, 404, "Permission not found"
    description = "There’s no permission with this ID."


class OrganizationRoleTaken(ApiError):
    code, status, message = 8123, 409, "Role already exists"
    description = "There’s a role with this name already."


class MalformedRoleId(ApiError):
    code, status, message = 8124, 400, "Role id is invalid"
    description = "The role ID is malformed, or the tenant has no such role."


class UnknownOrganizationRole(ApiError):
    code, status, message = 8125, 404, "Role not found"
    description = "There’s no role with this ID."


class RoleIdMissing(ApiError):
    code, status, message = 8126, 400, "Role id is required"
    description = "Send the role IDs."


class RoleNameMissing(ApiError):
    code, status, message = 8127, 400, "Role name is required"
    description = "Send the role’s name."


class DefaultRoleRequired(ApiError):
    code, status, message = 8128, 403, "Default role cannot be deleted"
    description = "New members get this role. Make another role the default first."


class OrganizationIdMissing(ApiError):
    code, status, message = 8129, 400, "Organization id is required"
    description = "Send the organization ID."


class UserRoleExists(ApiError):
    code, status, message = 8130, 409, "User Role already exists"
    description = "The account has this role already."


class UserIdMissing(ApiError):
    code, status, message = 8131, 400, "User id is required"
    description = "Send the account ID."


class UnknownMember(ApiError):
    code, status, message = 8132, 404, "User does not exist"
    description = "There’s no account with this ID."


class NotAMember(ApiError):
    code, status, message = 8135, 404, "User does not belong to the organization"
    description = "The account isn’t a member of the organization."


class WrongInvitationEmail(ApiError):
    code, status, message = 8137, 400, "Email is invalid"
    description = "The email address is malformed, or isn’t a verified address of the signed-in account."


class RoleOfOtherOrganization(ApiError):
    code, status, message = 8142, 403, "Role does not belong to organization"
    description = "The role belongs to another organization."


class RoleNotOfTenant(ApiError):
    code, status, message = 8143, 403, "Role does not belong to tenant"
    description = "The role belongs to one organization. Send a role of the tenant."


class OrganizationConnectionTaken(ApiError):
    code, status, message = 8148, 409, "Connection exists with the same name"
    description = "The organization has a connection with this name already."


class DomainOfOtherConnection(ApiError):
    code, status, message = 8149, 409, "Domain is used by another connection"
    description = "Another connection has this domain. A domain can have one connection."


class DomainNotInOrganization(ApiError):
    code, status, message = 8150, 404, "Domain does not exist within the organization"
    description = "The organization doesn’t have this domain. Add it first."


class UnknownOrganizationConnection(ApiError):
    code, status, message = 8151, 400, "Connection id is invalid"
    description = "The organization has no connection with this ID."


class UnknownOrganizationDomain(ApiError):
    code, status, message = 8154, 400, "Domain id is invalid"
    description = "The organization has no domain with this ID."


class DomainVerified(ApiError):
    code, status, message = 8156, 400, "Domain is already verified"
    description = "The domain is verified already."


class DomainTaken(ApiError):
    code, status, message = 8157, 409, "Domain already exists"
    description = "The domain belongs to an organization already."


class WrongDefaultMemberRole(ApiError):
    code, status, message = 8159, 400, "Default member role is invalid"
    description = "The role of new members doesn’t exist. Choose a role of the tenant or of the organization."


class MfaPolicyConflict(ApiError):
    code, status, message = 8160, 403, "MFA policy conflicts with tenant settings"
    description = "The tenant’s second factor settings don’t allow this policy."


class GroupRoleNameTaken(ApiError):
    code, status, message = 8161, 409, "Group role name already exists"
    description = "There’s a group role with this name already."


class GroupTaken(ApiError):
    code, status, message = 8162, 409, "Group id already exists"
    description = "There’s a group role for this group already."


class UnknownGroupRole(ApiError):
    code, status, message = 8163, 404, "Group role not found"
    description = "There’s no group role with this ID."


class MalformedGroupRoleId(ApiError):
    code, status, message = 8164, 400, "Group role id is invalid"
    description = "The group role ID is malformed."


class StatusAlreadySet(ApiError):
    code, status, message = 8166, 409, "Status is already set"
    description = "The organization or connection has this status already."


class WrongStatus(ApiError):
    code, status, message = 8167, 400, "Status is invalid"
    description = "The status is missing or malformed. Send true or false."


class DomainNotProven(ApiError):
    code, status, message = 8168, 400, "Domain verification failed"
    description = "The TXT record is missing or wrong. Publish it, wait until DNS has it, then try again."


class UnknownOrganizationInvitation(ApiError):
    code, status, message = 8169, 404, "Invitation not found"
    description = "There’s no invitation with this ID."


class AlreadyMember(ApiError):
    code, status, message = 8170, 409, "User already exist in an organization"
    description = "The account is a member already."


class InvitationExists(ApiError):
    code, status, message = 8171, 400, "Invitation already exists"
    description = "There’s an open invitation for this email address already. Resend or revoke it."


class WrongInviter(ApiError):
    code, status, message = 8174, 400, "Inviter id is invalid"
    description = "There’s no account with the inviter’s ID."


class ClosedInvitation(ApiError):
    code, status, message = 8175, 400, "Invitation id is invalid"
    description = "The invitation ID is malformed, or the invitation was accepted, revoked or has expired."


class InvitationUrlRefused(ApiError):
    code, status, message = 8176, 400, "Invitation URL is not whitelisted"
    description = "The invitation URL isn’t an allowed return address. Add it to the tenant’s list."


class DomainNotVerified(ApiError):
    code, status, message = 8177, 403, "Organization domain is not verified"
    description = "The organization’s domain isn’t verified. Verify it first."


class DomainInUse(ApiError):
    code, status, message = 8178, 403, "Domain is in use by a connection"
    description = "A connection uses the domain. Remove the connection first."


class OrganizationInactive(ApiError):
    code, status, message = 8180, 403, "Organization is not active"
    description = "The organization is inactive. Activate it first."


class JitWithoutConnection(ApiError):
    code, status, message = 8181, 403, "JIT needs an active connection"
    description = "The organization has no active connection, which joining by sign-in needs. Activate one first."


class LastOwner(ApiError):
    code, status, message = 8193, 409, "The organization needs an owner"
    description = "The member is the only owner."


class OwnersOnly(ApiError):
    code, status, message = 8194, 403, "Only an owner may change owners"
    description = "The change concerns an owner or a role of owners."


class OrganizationCreationOff(ApiError):
    code, status, message = 8210, 403, "Creating organizations is not enabled"
    description = "The tenant does not let people create organizations."


class OwnerCannotSignIn(ApiError):
    code, status, message = 8211, 409, "The account cannot sign in"
    description = "The account is blocked or is being deleted, so it cannot become an owner."


class UnknownJoinRequest(ApiError):
    code, status, message = 8212, 404, "Join request not found"
    description = "The organization has no such join request."


class JoinRequestClosed(ApiError):
    code, status, message = 8213, 409, "Join request is not open"
    description = "The join request was approved or declined before, or the account no longer has the email address that allowed it."


class JoinRequestRefused(ApiError):
    code, status, message = 8214, 403, "Join request is not allowed yet"
    description = "A request was declined less than 30 days ago."


class TooManyOrganizations(ApiError):
    code, status, message = 8188, 403, "Organization limit reached"
    description = "The tenant has the maximum number of organizations."


class TooManyDomains(ApiError):
    """A limit of one organization; the interface has no code of its own for it."""

    code, status, message = 8188, 403, "Organization limit reached"
    description = "The organization has too many domains."


class NoSeatLeft(ApiError):
    """The plan limit of one organization; the interface has no code of its own for it (decision 0190)."""

    code, status, message = 8188, 403, "Organization limit reached"
    description = "The organization has no seats left. Raise its limit or remove a member."


class TooManyInvitationLinks(ApiError):
    """The plan limit of one organization; the interface has no code of its own for it (decision 0197)."""

    code, status, message = 8188, 403, "Organization limit reached"
    description = "The organization has the maximum number of active invitation links. Turn one off first."


class TooManySetupLinks(ApiError):
    """A limit of one organization; the interface has no code of its own for it."""

    code, status, message = 8188, 403, "Organization limit reached"
    description = "The organization has the maximum number of active set-up links. Revoke one first."


class UnknownSetupLink(ApiError):
    """The interface has no code of its own for it."""

    code, status, message = 8169, 404, "Set-up link not found"
    description = "The organization has no set-up link with this ID."


class ClosedSetupLink(ApiError):
    """The interface has no code of its own for it."""

    code, status, message = 8175, 400, "Set-up link is closed"
    description = "The set-up link was completed, revoked or used up, or expired."


class SetupSessionOver(ApiError):
    """Only the hub gets it."""

    code, status, message = 8175, 403, "Set-up session is over"
    description = "The session of the set-up guide expired, or its link was revoked."


class SetupEntryRefused(ApiError):
    """Only the hub gets it. Its one problem is the entry's name and a reason: missing, malformed, unreadable,
    shared, expired, weak, known, foreign or many."""

    code, status, message = 7900, 422, "An entry can't be used"
    description = "A value of the set-up can’t be used."


class SetupIncomplete(ApiError):
    code, status, message = 7900, 409, "The set-up is incomplete"
    description = "An earlier step of the guide isn’t done."
