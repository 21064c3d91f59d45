"""Errors of organizations, their roles, permissions, domains, connections and invitations (interface errors.md, organizations.md)."""

from app.kit.errors import ApiError


class OrganizationsOff(ApiError):
    code, status, message = 1267, 400, "Organizations are not enabled"
    description = "Organizations are off for the tenant."


class BadNestedBody(ApiError):
    code, status, message = 8044, 400, "JSON body is invalid"
    description = "Body not JSON."


class OrganizationNameTaken(ApiError):
    code, status, message = 8116, 409, "Organization name already exists"
    description = "Name taken in the tenant."


class MalformedOrganizationId(ApiError):
    code, status, message = 8117, 400, "Organization id is invalid"
    description = "Id malformed."


class UnknownOrganization(ApiError):
    code, status, message = 8118, 404, "Organization not found"
    description = "No such organization."


class MalformedPermissionId(ApiError):
    code, status, message = 8119, 400, "Permission id is invalid"
    description = "Id malformed, or of no permission of the tenant."


class PermissionTaken(ApiError):
    code, status, message = 8120, 409, "Permission already exists"
    description = "Name taken."


class UnknownOrganizationPermission(ApiError):
    code, status, message = 8122, 404, "Permission not found"
    description = "No such permission."


class OrganizationRoleTaken(ApiError):
    code, status, message = 8123, 409, "Role already exists"
    description = "Name taken."


class MalformedRoleId(ApiError):
    code, status, message = 8124, 400, "Role id is invalid"
    description = "Id malformed, or of no role of the tenant."


class UnknownOrganizationRole(ApiError):
    code, status, message = 8125, 404, "Role not found"
    description = "No such role."


class RoleIdMissing(ApiError):
    code, status, message = 8126, 400, "Role id is required"
    description = "Role id absent."


class RoleNameMissing(ApiError):
    code, status, message = 8127, 400, "Role name is required"
    description = "Role name absent."


class DefaultRoleKept(ApiError):
    code, status, message = 8128, 403, "Default role cannot be deleted"
    description = "The role is the default of the tenant or of an organization."


class OrganizationIdMissing(ApiError):
    code, status, message = 8129, 400, "Organization id is required"
    description = "orgId absent."


class UserRoleExists(ApiError):
    code, status, message = 8130, 409, "User Role already exists"
    description = "Role assigned before."


class UserIdMissing(ApiError):
    code, status, message = 8131, 400, "User id is required"
    description = "uid absent."


class UnknownMember(ApiError):
    code, status, message = 8132, 404, "User does not exist"
    description = "No such account."


class NotAMember(ApiError):
    code, status, message = 8135, 404, "User does not belong to the organization"
    description = "Not a member."


class WrongInvitationEmail(ApiError):
    code, status, message = 8137, 400, "Email is invalid"
    description = "Address malformed or not the signed-in user's."


class RoleOfOtherOrganization(ApiError):
    code, status, message = 8142, 403, "Role does not belong to organization"
    description = "Role of another organization."


class RoleNotOfTenant(ApiError):
    code, status, message = 8143, 403, "Role does not belong to tenant"
    description = "Organization-level role given."


class OrganizationConnectionTaken(ApiError):
    code, status, message = 8148, 409, "Connection exists with the same name"
    description = "Name taken."


class DomainOfOtherConnection(ApiError):
    code, status, message = 8149, 409, "Domain is used by another connection"
    description = "One connection per domain."


class DomainNotInOrganization(ApiError):
    code, status, message = 8150, 404, "Domain does not exist within the organization"
    description = "Domain unknown here."


class UnknownOrganizationConnection(ApiError):
    code, status, message = 8151, 400, "Connection id is invalid"
    description = "Id malformed or unknown."


class UnknownOrganizationDomain(ApiError):
    code, status, message = 8154, 400, "Domain id is invalid"
    description = "Id malformed or unknown."


class DomainVerified(ApiError):
    code, status, message = 8156, 400, "Domain is already verified"
    description = "Nothing to do."


class DomainTaken(ApiError):
    code, status, message = 8157, 409, "Domain already exists"
    description = "Domain taken."


class WrongDefaultMemberRole(ApiError):
    code, status, message = 8159, 400, "Default member role is invalid"
    description = "Role unknown."


class MfaPolicyConflict(ApiError):
    code, status, message = 8160, 403, "MFA policy conflicts with tenant settings"
    description = "Mode not allowed."


class GroupRoleNameTaken(ApiError):
    code, status, message = 8161, 409, "Group role name already exists"
    description = "Name taken."


class GroupTaken(ApiError):
    code, status, message = 8162, 409, "Group id already exists"
    description = "Group taken."


class UnknownGroupRole(ApiError):
    code, status, message = 8163, 404, "Group role not found"
    description = "No such group role."


class MalformedGroupRoleId(ApiError):
    code, status, message = 8164, 400, "Group role id is invalid"
    description = "Id malformed."


class StatusAlreadySet(ApiError):
    code, status, message = 8166, 409, "Status is already set"
    description = "Already in this state."


class WrongStatus(ApiError):
    code, status, message = 8167, 400, "Status is invalid"
    description = "Not a boolean."


class DomainNotProven(ApiError):
    code, status, message = 8168, 400, "Domain verification failed"
    description = "TXT record absent or wrong."


class UnknownOrganizationInvitation(ApiError):
    code, status, message = 8169, 404, "Invitation not found"
    description = "No such invitation."


class AlreadyMember(ApiError):
    code, status, message = 8170, 409, "User already exist in an organization"
    description = "Already a member."


class InvitationExists(ApiError):
    code, status, message = 8171, 400, "Invitation already exists"
    description = "One is open for this address."


class WrongInviter(ApiError):
    code, status, message = 8174, 400, "Inviter id is invalid"
    description = "Inviter unknown."


class ClosedInvitation(ApiError):
    code, status, message = 8175, 400, "Invitation id is invalid"
    description = "Malformed, or no longer open."


class InvitationUrlRefused(ApiError):
    code, status, message = 8176, 400, "Invitation URL is not whitelisted"
    description = "URL not on the allow-list."


class DomainNotVerified(ApiError):
    code, status, message = 8177, 403, "Organization domain is not verified"
    description = "Verify it first."


class DomainInUse(ApiError):
    code, status, message = 8178, 403, "Domain is in use by a connection"
    description = "Remove the connection first."


class OrganizationInactive(ApiError):
    code, status, message = 8180, 403, "Organization is not active"
    description = "Inactive."


class JitWithoutConnection(ApiError):
    code, status, message = 8181, 403, "JIT needs an active connection"
    description = "No active connection."


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
    description = "No such request of the organization."


class JoinRequestClosed(ApiError):
    code, status, message = 8213, 409, "Join request is not open"
    description = "It was decided before, or the account lost the address that allowed it."


class JoinRequestRefused(ApiError):
    code, status, message = 8214, 403, "Join request is not allowed yet"
    description = "A request was declined less than 30 days ago."


class TooManyOrganizations(ApiError):
    code, status, message = 8188, 403, "Organization limit reached"
    description = "Plan limit."


class TooManyDomains(ApiError):
    """A limit of one organization; the interface has no code of its own for it."""

    code, status, message = 8188, 403, "Organization limit reached"
    description = "The organization has too many domains."


class NoSeatLeft(ApiError):
    """The plan limit of one organization; the interface has no code of its own for it (decisions/0190)."""

    code, status, message = 8188, 403, "Organization limit reached"
    description = "The organization has no seat left."


class TooManyInvitationLinks(ApiError):
    """The plan limit of one organization; the interface has no code of its own for it (decisions/0197)."""

    code, status, message = 8188, 403, "Organization limit reached"
    description = "The organization has as many active invitation links as it may."
