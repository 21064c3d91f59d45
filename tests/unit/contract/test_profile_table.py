"""The profile's table against the interface's own lists."""

import json

import pytest

from app.contract.accounts.account_operations import CreateAccount, UpdateAccount
from app.contract.profile import FIELDS, Kind, Profile, ProfileMember, Write
from app.contract.profile.schema import of_member

FLAGS = (
    "IsPasswordBreached IsActive IsDeleted EmailVerified IsLoginLocked IsRequiredFieldsFilledOnce FirstLogin IsProtected "
    "Hireable IsSecurePassword IsCustomUid PhoneIdVerified IsEmailSubscribed"
)
COUNTS = (
    "NoOfLogins FollowersCount FriendsCount TotalStatusesCount NumRecommenders TotalPrivateRepository PublicGists "
    "PrivateGists PinsCount BoardsCount LikesCount SessionLimit"
)
TEXTS = (
    "ID Uid Password LoginLockedType Provider LastPasswordChangeToken FullName FirstName LastName MiddleName Prefix Suffix "
    "NickName ProfileName UserName RegistrationProvider RegistrationSource LastLoginLocation ExternalUserLoginId PhoneId "
    "BirthDate Gender Website ThumbnailImageUrl ImageUrl Favicon ProfileUrl HomeTown State City Industry About TimeZone "
    "LocalLanguage CoverPhoto TagLine Language Verified IsGeoEnabled Associations Honors HttpsImageUrl MainAddress LocalCity "
    "ProfileCity LocalCountry ProfileCountry RelationshipStatus Quota Quote Religion Political PublicRepository RepositoryUrl "
    "Age ProfessionalHeadline LRUserID Currency StarredUrl GistsUrl Company GravatarImageUrl"
)
INSTANTS = (
    "Created UpdatedTime CreatedDate ModifiedDate ProfileModifiedDate LastLoginDate SignupDate LastPasswordChangeDate "
    "PasswordExpirationDate"
)
OBJECTS = {
    "PrivacyPolicy": "Version AcceptSource AcceptDateTime",
    "Country": "Code Name",
    "AgeRange": "Min Max",
    "KloutScore": "KloutId Score",
    "Suggestions": "CompaniesToFollow IndustriesToFollow NewssourceToFollow PeopleToFollow",
    "Subscription": "Name Space PrivateRepos Collaborators",
    "PIN": "Skipped PIN LastPINChangeToken LastPINChangeDate SkippedDate",
    "ConsentProfile": "AcceptedConsentVersions Consents",
    "RegistrationData": "Data",
    "ProviderAccessCredential": "AccessToken TokenSecret",
    "PasskeyLogin": "ProgressiveFlag LocalEnrollmentFlag ProgressiveEnrollmentDate",
}
LISTS = {
    "Email": "Type Value",
    "UnverifiedEmail": "Type Value",
    "ExternalIds": "Operation Source SourceId",
    "PhoneNumbers": "PhoneType PhoneNumber Operation",
    "Addresses": "Type Address1 Address2 City State PostalCode Region Country Operation",
    "Positions": "Position Summary StartDate EndDate IsCurrent Location Company",
    "Educations": "School Year Type Notes Activities Degree FieldOfStudy StartDate EndDate",
    "IMAccounts": "AccountType AccountName",
    "Interests": "InterestedType InterestedName",
    "Sports": "Id Name",
    "InspirationalPeople": "Id Name",
    "Skills": "Id Name",
    "Awards": "Id Name Issuer",
    "CurrentStatus": "Id Text Source CreatedDate",
    "Certifications": "Id Name Authority Number StartDate EndDate",
    "Courses": "Id Name Number",
    "Volunteer": "Id Role Organization Cause",
    "RecommendationsReceived": "Id RecommendationType RecommendationText Recommender",
    "Languages": "Id Name Proficiency Operation",
    "Projects": "Id Name Summary StartDate EndDate IsCurrent With",
    "Games": "Id Category Name CreatedDate",
    "TelevisionShow": "Id Category Name CreatedDate",
    "Books": "Id Category Name CreatedDate",
    "Movies": "Id Category Name",
    "Family": "Id Relationship Name",
    "MutualFriends": "Id Name FirstName LastName Birthday Hometown Link Gender",
    "Patents": "Id Title Date",
    "FavoriteThings": "Id Name Type",
    "RelatedProfileViews": "FirstName LastName Id",
    "PlacesLived": "Name Operation IsPrimary",
    "Publications": "Title Publisher Date Id Url Summary Authors",
    "JobBookmarks": "IsApplied IsSaved ApplyTimestamp SavedTimestamp Job",
    "Badges": "BadgeId Name BadgeMessage Description ImageUrl",
    "MemberUrlResources": "Url UrlName",
    "Organizations": "Id Name LogoURL",
}
MAPS, TEXT_LISTS = "CustomFields ProfileImageUrls WebProfiles", "Roles PreviousUids InterestedIn"
CLEARED = (
    "Prefix FirstName MiddleName LastName Suffix NickName ProfileName BirthDate Gender Website ThumbnailImageUrl ImageUrl "
    "Favicon ProfileUrl HomeTown State City Industry About TimeZone LocalLanguage CoverPhoto TagLine Language MainAddress "
    "LocalCity ProfileCity LocalCountry RelationshipStatus Religion Political HttpsImageUrl IsGeoEnabled Associations Honors "
    "PublicRepository RepositoryUrl ProfessionalHeadline Currency StarredUrl GistsUrl Company GravatarImageUrl Languages "
    "PlacesLived Addresses PhoneNumbers CustomFields"
)
NEVER = (
    "ID Provider FullName Age Language Verified UpdatedTime Created CreatedDate ModifiedDate ProfileModifiedDate PinsCount "
    "BoardsCount LikesCount SignupDate LastLoginDate LastLoginLocation LastPasswordChangeToken LastPasswordChangeDate "
    "PasswordExpirationDate NoOfLogins RegistrationProvider IsCustomUid IsRequiredFieldsFilledOnce IsSecurePassword "
    "IsPasswordBreached Identities"
)


def of_kind(kind: Kind) -> set[str]:
    return {name for name, field in FIELDS.items() if field.kind is kind}


def members(field: ProfileMember) -> set[str]:
    return {member.name for member in field.members}


def test_profile_table_has_exactly_the_interface_fields() -> None:
    assert of_kind(Kind.FLAG) == set(FLAGS.split())
    assert of_kind(Kind.COUNT) == set(COUNTS.split())
    assert of_kind(Kind.TEXT) == set(TEXTS.split())
    assert of_kind(Kind.INSTANT) == set(INSTANTS.split())
    assert of_kind(Kind.MAP) == set(MAPS.split())
    assert of_kind(Kind.TEXTS) == set(TEXT_LISTS.split())
    assert of_kind(Kind.OBJECT) == set(OBJECTS)
    assert of_kind(Kind.LIST) == {*LISTS, "Identities"}


@pytest.mark.parametrize(("name", "expected"), [*OBJECTS.items(), *LISTS.items()])
def test_every_shape_has_the_interface_members(name: str, expected: str) -> None:
    assert members(FIELDS[name]) == set(expected.split())


def test_names_do_not_collide_in_lower_case() -> None:
    def check(stored: tuple[ProfileMember, ...]) -> None:
        spelt = [name.lower() for member in stored for name in (member.name, *member.also)]
        assert len(spelt) == len(set(spelt))
        for member in stored:
            check(member.members)

    check(tuple(FIELDS.values()))


def test_nullsupport_clears_what_the_interface_lists() -> None:
    assert {name for name, field in FIELDS.items() if field.is_cleared} == set(CLEARED.split())


def test_computed_fields_are_read_only() -> None:
    assert {name for name in NEVER.split() if FIELDS[name].write is not Write.NEVER} == set()


def test_identity_has_only_the_social_fields() -> None:
    stored = members(FIELDS["Identities"])
    assert {"Uid", "Password", "PIN", "CustomFields", "Roles", "Organizations", "Identities"} & stored == set()
    assert {
        "ID",
        "Provider",
        "Email",
        "Country",
        "Positions",
        "TokenSignSecret",
        "FirstLogin",
        "PreviousUids",
    } <= stored


def test_published_schema_has_every_field_with_its_shape() -> None:
    described = Profile.model_json_schema()["properties"]
    assert set(described) == set(FIELDS)
    assert described["Country"] == of_member(FIELDS["Country"])
    assert set(described["Positions"]["items"]["properties"]["Company"]["properties"]) == {"Name", "Type", "Industry"}
    json.dumps(described)


@pytest.mark.parametrize("request_model", [CreateAccount, UpdateAccount])
def test_request_schema_has_the_writable_fields(request_model: type[CreateAccount] | type[UpdateAccount]) -> None:
    described = request_model.model_json_schema()["properties"]
    assert {"FirstName", "Addresses", "CustomFields", "Email", "Password", "DisableLogin"} <= set(described)
    assert {"Identities", "NoOfLogins", "FullName"} & set(described) == set()
