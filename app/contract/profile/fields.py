"""The table of profile fields, from which reading, writing, responses and documentation derive.

The interface sets their names and shapes, who may write them, which `nullsupport` clears, and the value of an absent field.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from app.contract.profile.member_kinds import Kind, ProfileMember, many, one, shape


class Write(Enum):
    """Who may write a field of the profile."""

    ANYONE = "by token, by UID and at registration"
    REGISTRATION = "at registration and by UID"
    UID = "by UID only"
    OWN = "by operations of its own"
    NEVER = "by nobody"


@dataclass(frozen=True)
class Field(ProfileMember):
    """One field of the profile.

    `key` names the members by which an element with `Operation: delete` is known; `is_cleared` tells that a null
    clears the field where `nullsupport` is on.
    """

    write: Write = Write.NEVER
    is_cleared: bool = False
    key: tuple[str, ...] = ()

    @property
    def absent(self) -> object:
        """The member's value in a profile without one."""
        if self.kind is Kind.FLAG:
            return False
        if self.kind is Kind.COUNT:
            return 0
        return [] if self.name == "Email" else None


def _flat(names: str, kind: Kind, write: Write, *, is_cleared: bool = False) -> Iterable[Field]:
    return (Field(name, kind, (), (), write, is_cleared) for name in names.split())


def _lists(write: Write, *members: ProfileMember) -> Iterable[Field]:
    return (Field(member.name, member.kind, member.members, member.also, write) for member in members)


def _keyed(name: str, names: str, *key: str, is_cleared: bool = True) -> Field:
    return Field(name, Kind.LIST, shape(names), (), Write.ANYONE, is_cleared, key)


_ACCOUNT = (
    *_flat("ID", Kind.TEXT, Write.NEVER),
    *_flat("Uid UserName PhoneId Password", Kind.TEXT, Write.OWN),
    *_flat("Provider RegistrationProvider LoginLockedType LastPasswordChangeToken FullName", Kind.TEXT, Write.NEVER),
    *_flat("Language", Kind.TEXT, Write.NEVER, is_cleared=True),
    *_flat("LastLoginLocation Age Verified", Kind.TEXT, Write.NEVER),
    *_flat("RegistrationSource", Kind.TEXT, Write.UID),
    *_flat("ExternalUserLoginId", Kind.TEXT, Write.REGISTRATION),
    *_flat("IsActive IsDeleted EmailVerified PhoneIdVerified IsLoginLocked", Kind.FLAG, Write.UID),
    *_flat(
        "IsPasswordBreached IsRequiredFieldsFilledOnce FirstLogin IsSecurePassword IsCustomUid", Kind.FLAG, Write.NEVER
    ),
    *_flat("NoOfLogins PinsCount BoardsCount LikesCount", Kind.COUNT, Write.NEVER),
    *_flat("SessionLimit", Kind.COUNT, Write.UID),
    *_flat("Created UpdatedTime CreatedDate ModifiedDate ProfileModifiedDate LastLoginDate", Kind.INSTANT, Write.NEVER),
    *_flat("SignupDate LastPasswordChangeDate PasswordExpirationDate", Kind.INSTANT, Write.NEVER),
    *_flat("Roles PreviousUids", Kind.TEXTS, Write.OWN),
    *_lists(
        Write.OWN,
        many("Email", "Type Value"),
        many("UnverifiedEmail", "Type Value"),
        many("Organizations", "Id Name LogoURL"),
        one("PIN", "Skipped:flag PIN LastPINChangeToken LastPINChangeDate:instant SkippedDate:instant"),
        one("PasskeyLogin", "ProgressiveFlag:flag LocalEnrollmentFlag:flag ProgressiveEnrollmentDate:instant"),
        one("PrivacyPolicy", "Version AcceptSource AcceptDateTime:instant"),
        one(
            "ConsentProfile",
            "",
            many("AcceptedConsentVersions", "IsCustom:flag Version:count Event"),
            many("Consents", "ConsentOptionId AcceptOnDate:instant"),
        ),
    ),
)

_PERSON = (
    *_flat(
        "Prefix FirstName MiddleName LastName Suffix NickName ProfileName BirthDate Gender Website ThumbnailImageUrl "
        "ImageUrl Favicon ProfileUrl HomeTown State City Industry About TimeZone LocalLanguage CoverPhoto TagLine "
        "MainAddress LocalCity ProfileCity LocalCountry RelationshipStatus Religion Political HttpsImageUrl IsGeoEnabled "
        "Associations Honors PublicRepository RepositoryUrl ProfessionalHeadline Currency StarredUrl GistsUrl Company "
        "GravatarImageUrl",
        Kind.TEXT,
        Write.ANYONE,
        is_cleared=True,
    ),
    *_flat("ProfileCountry Quota Quote LRUserID", Kind.TEXT, Write.ANYONE),
    *_flat("IsProtected Hireable IsEmailSubscribed", Kind.FLAG, Write.ANYONE),
    *_flat(
        "FollowersCount FriendsCount TotalStatusesCount NumRecommenders TotalPrivateRepository PublicGists PrivateGists",
        Kind.COUNT,
        Write.ANYONE,
    ),
    *_flat("InterestedIn", Kind.TEXTS, Write.ANYONE),
    Field("CustomFields", Kind.MAP, write=Write.ANYONE, is_cleared=True),
    *_flat("ProfileImageUrls WebProfiles", Kind.MAP, Write.ANYONE),
    _keyed("ExternalIds", "Operation|op Source SourceId", "Source", "SourceId", is_cleared=False),
    _keyed("PhoneNumbers", "PhoneType PhoneNumber Operation|op", "PhoneType"),
    _keyed("Addresses", "Type Address1 Address2 City State PostalCode Region Country Operation|op", "Type"),
    _keyed("Languages", "Id Name Proficiency Operation|op", "Id", "Name"),
    _keyed("PlacesLived", "Name Operation|op IsPrimary:flag", "Name"),
)

_CAREER = _lists(
    Write.ANYONE,
    many(
        "Positions",
        "Position|Positions Summary StartDate EndDate IsCurrent:flag Location",
        one("Company|Comapny", "Name Type Industry"),
    ),
    many("Educations", "School Year Type Notes Activities Degree FieldOfStudy StartDate EndDate"),
    many("Skills", "Id Name"),
    many("Awards", "Id Name Issuer"),
    many("Certifications", "Id Name Authority Number StartDate EndDate"),
    many("Courses", "Id Name Number"),
    many("Volunteer", "Id Role Organization Cause"),
    many("RecommendationsReceived", "Id RecommendationType RecommendationText Recommender"),
    many("Projects", "Id Name Summary StartDate EndDate IsCurrent:flag", many("With", "Id Name")),
    many("Patents", "Id Title Date"),
    many("Publications", "Title Publisher Date Id Url Summary", many("Authors", "Id Name")),
    many(
        "JobBookmarks",
        "IsApplied:flag IsSaved:flag ApplyTimestamp SavedTimestamp",
        one(
            "Job",
            "Active:flag Id DescriptionSnippet PostingTimestamp",
            one("Company|Compony", "Id Name"),
            one("Position", "Title"),
        ),
    ),
)

_SOCIAL = _lists(
    Write.ANYONE,
    many("IMAccounts", "AccountType AccountName"),
    many("Interests", "InterestedType InterestedName"),
    many("Sports", "Id Name"),
    many("InspirationalPeople", "Id Name"),
    many("CurrentStatus", "Id Text Source CreatedDate|CreateDate"),
    many("Games", "Id Category Name CreatedDate|CreateDate"),
    many("TelevisionShow", "Id Category Name CreatedDate|CreateDate"),
    many("Books", "Id Category Name CreatedDate|CreateDate"),
    many("Movies", "Id Category Name"),
    many("Family", "Id Relationship Name"),
    many("MutualFriends", "Id Name FirstName LastName Birthday Hometown Link Gender"),
    many("FavoriteThings", "Id Name Type"),
    many("RelatedProfileViews", "FirstName LastName Id"),
    many("Badges", "BadgeId|BageId Name BadgeMessage|BageMessage Description ImageUrl"),
    many("MemberUrlResources", "Url UrlName"),
    one("Country", "Code Name"),
    one("AgeRange", "Min:count Max:count"),
    one("KloutScore", "KloutId Score:number"),
    one("Subscription", "Name Space PrivateRepos Collaborators"),
    one("ProviderAccessCredential", "AccessToken TokenSecret"),
    one("RegistrationData", "", many("Data", "DataSource", one("Value", "Id"))),
    one(
        "Suggestions",
        "",
        many("CompaniesToFollow", "Id Name"),
        many("IndustriesToFollow", "Id Name"),
        many("NewssourceToFollow", "Id Name"),
        many("PeopleToFollow", "Id Name"),
    ),
)

_OUTER = (*_ACCOUNT, *_PERSON, *_CAREER, *_SOCIAL)

# What an entry of Identities does not repeat: the half of the profile that belongs to the account.
_ACCOUNT_HALF = (
    "Uid Password PIN CustomFields EmailVerified PhoneId PhoneIdVerified UserName Roles NoOfLogins IsActive IsDeleted "
    "IsLoginLocked LoginLockedType PrivacyPolicy ConsentProfile RegistrationProvider RegistrationSource RegistrationData "
    "UnverifiedEmail ExternalIds ExternalUserLoginId IsCustomUid IsSecurePassword IsEmailSubscribed IsPasswordBreached "
    "IsRequiredFieldsFilledOnce LastPasswordChangeToken LastPasswordChangeDate PasswordExpirationDate LastLoginLocation "
    "Organizations PasskeyLogin SessionLimit Suggestions"
)
_IDENTITY = (
    *(
        ProfileMember(field.name, field.kind, field.members)
        for field in _OUTER
        if field.name not in _ACCOUNT_HALF.split()
    ),
    *shape("TokenSignSecret", one("Suggestions", "SuggestedFriends:texts")),
)

PROVIDER_TOKENS = frozenset({"ProviderAccessCredential", "TokenSignSecret"})
"""Fields of a profile and of its identities that hold secrets of a provider."""

FIELDS: dict[str, Field] = {
    field.name: field for field in (*_OUTER, Field("Identities", Kind.LIST, _IDENTITY, (), Write.NEVER))
}
