"""What an answer must look like: which members it has, and what stands in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ExactObject:
    """An object with exactly these members, whatever they hold."""

    members: frozenset[str]


@dataclass(frozen=True)
class ListOf:
    """A list of one shape, with at least so many elements."""

    shape: Any
    least: int = 1


def narrowed(shape: Any) -> Any:
    """Return a shape as `fields=Uid,email/value` narrows it: the profile alone, wherever it stands."""
    if isinstance(shape, ExactObject) and "Uid" in shape.members:
        return {"Uid": str, "Email": ListOf({"Value": str}, least=0)}
    return {name: narrowed(item) for name, item in shape.items()} if isinstance(shape, dict) else shape


def differs(shape: Any, value: Any, at: str = "") -> str:
    """Return how a value differs from a shape, nothing where it does not."""
    if isinstance(shape, ExactObject):
        stored = set(value) if isinstance(value, dict) else {f"{value!r}"}
        return f"{at}: {sorted(stored ^ shape.members)}" if stored != shape.members else ""
    if isinstance(shape, ListOf):
        if not isinstance(value, list) or len(value) < shape.least:
            return f"{at}: {value!r}"
        return next((found for item in value if (found := differs(shape.shape, item, f"{at}[]"))), "")
    if isinstance(shape, dict):
        if not isinstance(value, dict) or set(value) != set(shape):
            return f"{at}: {value!r}"
        return next((found for name in shape if (found := differs(shape[name], value[name], f"{at}.{name}"))), "")
    if isinstance(shape, type):
        return "" if isinstance(value, shape) else f"{at}: {value!r}"
    return "" if value == shape and type(value) is type(shape) else f"{at}: {value!r}"


POSTED, DELETED = {"IsPosted": True}, {"IsDeleted": True}
POSTED_SMS = {"IsPosted": True, "Data": {"AccountSid": str, "Sid": str}}
PROFILE = ExactObject(
    frozenset(
        str.split(
            "IsPasswordBreached IsActive IsDeleted EmailVerified IsLoginLocked IsRequiredFieldsFilledOnce FirstLogin "
            "IsProtected Hireable IsSecurePassword IsCustomUid PhoneIdVerified IsEmailSubscribed NoOfLogins FollowersCount "
            "FriendsCount TotalStatusesCount NumRecommenders TotalPrivateRepository PublicGists PrivateGists PinsCount "
            "BoardsCount LikesCount SessionLimit ID Uid Password LoginLockedType Provider LastPasswordChangeToken FullName "
            "FirstName LastName MiddleName Prefix Suffix NickName ProfileName UserName RegistrationProvider "
            "RegistrationSource LastLoginLocation ExternalUserLoginId PhoneId BirthDate Gender Website ThumbnailImageUrl "
            "ImageUrl Favicon ProfileUrl HomeTown State City Industry About TimeZone LocalLanguage CoverPhoto TagLine "
            "Language Verified IsGeoEnabled Associations Honors HttpsImageUrl MainAddress LocalCity ProfileCity "
            "LocalCountry ProfileCountry RelationshipStatus Quota Quote Religion Political PublicRepository RepositoryUrl "
            "Age ProfessionalHeadline LRUserID Currency StarredUrl GistsUrl Company GravatarImageUrl Created UpdatedTime "
            "CreatedDate ModifiedDate ProfileModifiedDate LastLoginDate SignupDate LastPasswordChangeDate "
            "PasswordExpirationDate PrivacyPolicy Country AgeRange KloutScore Suggestions Subscription PIN ConsentProfile "
            "RegistrationData ProviderAccessCredential PasskeyLogin CustomFields ProfileImageUrls WebProfiles Roles "
            "PreviousUids InterestedIn Email UnverifiedEmail ExternalIds PhoneNumbers Addresses Positions Educations "
            "IMAccounts Interests Sports InspirationalPeople Skills Awards CurrentStatus Certifications Courses Volunteer "
            "RecommendationsReceived Languages Projects Games TelevisionShow Books Movies Family MutualFriends Patents "
            "FavoriteThings RelatedProfileViews PlacesLived Publications JobBookmarks Badges MemberUrlResources "
            "Organizations Identities"
        )
    )
)
"""Every member of a profile."""
LOGIN = {"Profile": PROFILE, "access_token": str, "refresh_token": str, "expires_in": str}
