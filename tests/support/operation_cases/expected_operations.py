"""The rows of the interface that this service answers for people's own accounts, transcribed by hand from its specification.

The specification is not in this repository. A row has the id of an operation's declaration (`row="U12"`); nothing else is read
from the code. `auth` has K for the API key, S for the API secret, U for an access token.
"""

from __future__ import annotations

from dataclasses import dataclass

BAD_REQUEST = frozenset(
    {
        908, 920, 929, 930,
        965, 968, 1032, 1035, 1036, 1038, 1048, 1075, 1076, 1079, 1083, 1084, 1089, 1090, 1096, 1107, 1118, 1124, 1125, 1141, 1172,
        1201, 1202, 1203, 1213, 1214, 1337, 2017,
    }
)  # fmt: skip
UNAUTHORIZED = frozenset({902, 966, 967, 1205, 1236, 1241, 1409})


def status_of(row: str, code: int) -> int:
    """Return the status that the specification states for a code at a row."""
    if row == "U34" and code in (1134, 1189):
        return 400
    return 400 if code in BAD_REQUEST else 401 if code in UNAUTHORIZED else 403


@dataclass(frozen=True)
class Row:
    """One operation: its names, its callers, its marks, and its column "Errors beyond base"."""

    method: str
    path: str
    auth: str
    errors: str = ""
    older: str = ""  # what only its list of all errors adds
    decided: str = ""  # what a record in app/decisions adds to the tables
    marks: str = ""
    also: tuple[str, ...] = ()
    takes_form: bool = True  # a body may be form-encoded, as on older operations

    @property
    def codes(self) -> set[int]:
        """Every code that the row names."""
        return {
            number
            for part in (self.errors, self.older, self.decided)
            for text in part.split()
            for number in _range(text)
        }


def _range(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


A, M = "/identity/v2/auth", "/identity/v2/manage"
_REGISTER = (
    "1190 936 988 1017 1058 1030 1056 1247 1038 1075 1076 1089 1134 1216 1315 1163 1196 1225 1226 1234 1107 1124 1125 "
    "1201 1202 1203 1213 1122 1123 1249"
)
_LESS = f"{A}/login/passwordlesslogin"
_LOCK = "1132 1148 1198 991"
_RESET_OLDER = "909 922 942 1015 1081 1144"
_M, _N, _O = f"{A}/login/2fa", f"{A}/account/2fa", f"{M}/account/2fa"
_T, _SQA = "1103 1104 1264", "securityquestionanswer"
ROWS: dict[str, Row] = {
    "U01": Row("POST", f"{A}/register", "K", f"1048 1049 {_REGISTER}", marks="F PW", older=(
        "909 922 938 942 966 968 970 982 991 993 1071 1077 1091 1093 1094 1095 1096 1120 1130 1132 1148 1149 1150 1151 "
        "1153 1157 1159 1176 1183 1194 1198 1215 1243")),
    "U02": Row("POST", f"{A}/register/captcha", "K", f"{_REGISTER} 982", marks="F PW", older=(
        "909 922 942 958 968 970 991 993 1048 1049 1071 1091 1093 1094 1095 1096 1144 1149 1150 1151 1153 1157 1159")),
    "U03": Row("PUT", f"{A}/register", "K", "938 1025 1034 1038 1122 1249"),
    "U04": Row("GET", f"{A}/email", "K", "1038"),
    "U05": Row("GET", f"{A}/email", "K", "973 974 975 979 1063 1126", marks="F PW"),
    "U06": Row("PUT", f"{A}/email", "K", "1185 1186 1187 1188 1237 1132 1148 1198", marks="F PW"),
    "U07": Row("GET", f"{A}/email/sendverificationemail", "K+U", "1034 1025 1140"),
    "U08": Row("GET", f"{A}/phone", "K", "1074 1096"),
    "U09": Row("GET", f"{A}/username", "K", "1075 1204"),
    "U10": Row("GET", f"{A}/registrationdata/{{type}}", "K", "1155 1156 1158"),
    "U11": Row("POST", f"{A}/registrationdata/validatecode", "K", "1150 1152 1153 1157"),
    "U12": Row("POST", f"{A}/login", "K", (
        "966 938 970 1066 991 1130 1132 1148 1198 1264 1176 1074 1077 1183 1238 1194 1226 1243 1220 1286 1316 1317 1338 "
        "1164-1171 1287 1122 1149 982 1215"), older="922 1038 1091 1094", marks="F PW"),
    "U13": Row("GET", f"{A}/account/ping", "K", "1160 1140", marks="F"),
    "U15": Row("GET", f"{A}/account", "K+U", "1039 1194", marks="F"),
    "U16": Row("PUT", f"{A}/account", "K+U", (
        "936 968 993 1017 1038 1056 1058 1091 1093-1096 1107 1124 1125 1134 1150 1151 1153 1157 1163 1174 1194 1213 "
        "1216"), older="909 922 942 991 1015 1027 1071 1075 1081 1144 1149 1159", decided="967 1074 1132 1148 1198", marks="F PW",
        takes_form=False),  # decision 0320
    "U17": Row("PUT", f"{A}/account", "K+U", "1091 1095", takes_form=False),
    "U18": Row("DELETE", f"{A}/account", "K+U", "1032 1340 1122 1173"),
    "U19": Row("GET", f"{A}/account/delete", "K", "1119"),
    "U20": Row("GET", f"{A}/account/otp", "K+U", "2017 1292 1123 1149"),
    "U21": Row("POST", f"{A}/account/delete", "K+U", "1067-1070 1132 1148 1198", marks="PW"),
    "U22": Row("PUT", f"{A}/username", "K+U", "1017 1018 1024 1075 1204", marks="PW"),
    "U23": Row("POST", f"{A}/email", "K+U", "936 1006 1038 1046 1122 1174 1177 1201 1249", marks="PW"),
    "U24": Row("DELETE", f"{A}/email", "K+U", "1005 1006 1023", marks="PW"),
    "U25": Row("PUT", f"{A}/account/unlock", "K+U", "1079 1221 982 1091 1094", marks="PW"),
    "U26": Row("GET", f"{A}/account/sendwelcomeemail", "K+U", "1122 1340"),
    "U27": Row("GET", f"{A}/privacypolicy/accept", "K+U", "1195 1222", marks="F"),
    "U28": Row("GET", f"{A}/privacypolicy/history", "K+U", "1195"),
    "U29": Row("POST", f"{A}/socialidentity", "K+U", "983 986 1054 905", marks="PW"),
    "U30": Row("POST", f"{A}/socialidentity/ping", "K+U", "1140 1160 983 986 1054"),
    "U31": Row("DELETE", f"{A}/socialidentity", "K+U", "987 989 1008 1065 1078 1219", marks="PW"),
    "U32": Row("PUT", f"{A}/password/change", "K+U", "967 1015 1216 1315 1134 984 991 1132 1148 982", marks="PW",
               older="909 922 1038 1081 1144"),
    "U33": Row("POST", f"{A}/password", "K", "1075 1141 1038 1409 982 1251 938 991 1122", marks="PW", takes_form=False),
    "U34": Row("PUT", f"{A}/password", "K", (
        "1134 1075 1038 1189 1032 1409 1039 991 1198 1132 1264 1148 1091 1094 1093 1185-1188 1063 975 974 1216 1315 1130 "
        "938"), older=f"{_RESET_OLDER} 1194 1226", marks="PW", also=(f"{A}/password/reset",), takes_form=False),
    "U35": Row("POST", f"{A}/password/otp", "K", "938 1043 1066 1074 1123 1149 982"),
    "U36": Row("PUT", f"{A}/password/otp", "K", "1067-1070 1074 1216 1134 1132 1148 1198 991", marks="PW",
               older=f"938 1039 1091 1093 1094 1194 1226 {_RESET_OLDER}"),
    "U37": Row("PUT", f"{A}/password/securityanswer", "K", "938 991 1091-1095 1134 1216", marks="PW",
               older=f"1039 1194 1226 {_RESET_OLDER}"),
    "U38": Row("GET", f"{A}/securityquestion/email", "K", "938 1038 1092 1095 1184"),
    "U39": Row("GET", f"{A}/securityquestion/username", "K", "938 1092 1095"),
    "U40": Row("GET", f"{A}/securityquestion/phone", "K", "938 1092 1095 1184"),
    "U41": Row("GET", f"{A}/securityquestion/accesstoken", "K+U", "1092 1095"),
    "U46": Row("GET", f"{A}/session_token/invalidate", "K", "1245 1246"),
    "U49": Row("GET", f"{_LESS}/email", "K", "938 1038 1059 1122 1249 1183 1176", marks="PW"),
    "U50": Row("GET", f"{_LESS}/email/verify", "K", "973 975 1059 1062 1063 1194 1226 1243", marks="F PW"),
    "U51": Row("POST", f"{_LESS}/email/verifyotp", "K", "1185-1188 1132 1148 1198", marks="F PW"),
    "U52": Row("POST", f"{_LESS}/username/verifyotp", "K", "1185-1188 1132 1148 1198", marks="F PW"),
    "U53": Row("GET", f"{_LESS}/otp", "K", "938 1043 1059 1066 1074 1123 1149"),
    "U54": Row("PUT", f"{_LESS}/otp/verify", "K", "1067-1070 1132 1148 1198", marks="F PW"),
    "U55": Row("GET", f"{A}/login/smartlogin", "K", "1038 1135 1136 1183 938 1122"),
    "U56": Row("GET", f"{A}/login/smartlogin/ping", "K", "1139 1140 1137 1138", marks="F"),
    "U57": Row("GET", f"{A}/email/smartlogin", "K", "1032 1063 1135 1137 1138 975", marks="PW"),
    "U58": Row("POST", f"{A}/onetouchlogin/email", "K", "982 1038 1136 1146 1122 1190", marks="PW"),
    "U59": Row("POST", f"{A}/onetouchlogin/phone", "K", "982 1096 1146 1123 1149"),
    "U60": Row("PUT", f"{A}/onetouchlogin/phone/verify", "K", "1067-1070 1146", marks="F PW"),
    "U61": Row("GET", f"{A}/email/onetouchlogin", "K", "1145 1063 975", also=(f"{A}/email/smartlogin",)),
    "U67": Row("POST", f"{A}/login/pin", "K", "1236 1235 1233 1244 1245 1246", marks="F PW"),
    "U68": Row("POST", f"{A}/pin/set/pinauthtoken", "K", "1239 1240 1234 1233", marks="PW"),
    "U69": Row("PUT", f"{A}/pin/change", "K+U", "1241 1235 1233", marks="PW"),
    "U70": Row("POST", f"{A}/pin/forgot/email", "K", "938 1038 1233 1235 1248 1122"),
    "U71": Row("POST", f"{A}/pin/forgot/username", "K", "1022 1233 1235 1248 1122", takes_form=False),
    "U72": Row("POST", f"{A}/pin/forgot/otp", "K", "908 1409 1043 1233 1235 1123 1149", takes_form=False),
    "U73": Row("PUT", f"{A}/pin/reset/token", "K", "1063 975 1242 1233", marks="PW"),
    "U74": Row("PUT", f"{A}/pin/reset/otp/{{type}}", "K", "1067-1070 1185 1132 1148 1198", marks="PW",
               takes_form=False),
    "U75": Row("PUT", f"{A}/pin/reset/securityanswer/email", "K", "1091-1095 1233", marks="PW"),
    "U76": Row("PUT", f"{A}/pin/reset/securityanswer/phone", "K", "1091-1095 1233", marks="PW"),
    "U77": Row("PUT", f"{A}/pin/reset/securityanswer/username", "K", "1091-1095 1233", marks="PW"),
    "U78": Row("POST", f"{A}/customobject", "K+U", "1035 1036 1064 1002 999", marks="PW", takes_form=False),
    "U79": Row("GET", f"{A}/customobject", "K+U", "1057 1064"),
    "U80": Row("GET", f"{A}/customobject/{{objectrecordid}}", "K+U", "1001 1057 995"),
    "U81": Row("PUT", f"{A}/customobject/{{objectrecordid}}", "K+U", "1001 1035 1057", marks="PW", takes_form=False),
    "U82": Row("DELETE", f"{A}/customobject/{{objectrecordid}}", "K+U", "1001 1057", marks="PW"),
    "U83": Row("POST", f"{A}/consent", "K", "1224 1225 1227 1229 1230", marks="PW", takes_form=False),
    "U84": Row("POST", f"{A}/consent/profile", "K+U", "1224 1225 1227", marks="PW", takes_form=False),
    "U85": Row("PUT", f"{A}/consent", "K+U", "1079 1227", marks="PW", older="1224 1225", takes_form=False),
    "U86": Row("GET", f"{A}/consent/verify", "K+U", "2017 1227", older="1224"),
    "U87": Row("GET", f"{A}/consent/logs", "K+U", "2017 1228", older="1227"),
    "U88": Row("GET", "/api/v2/access_token/{nativeprovider}", "K+S", "908 902 901 7909 929 930 1337 1223 1231 1232 1000"),
    "U89": Row("GET", "/api/v2/userprofile/refresh", "K+U", "910 1000"),
    "M15": Row("GET", f"{A}/login/2fa/register/passkey/begin", "K", "1103 1104 1264 1322 1327"),
    "M16": Row("POST", f"{A}/login/2fa/register/passkey/finish", "K", "1103 1104 1264 1321 1322 1327"),
    "M17": Row("GET", f"{A}/login/2fa/passkey/begin", "K", "1103 1104 1264 1327 1328"),
    "M18": Row("POST", f"{A}/login/2fa/passkey/finish", "K", "1103 1104 1264 1321 1328"),
    "M29": Row("GET", f"{A}/account/2fa/register/passkey/begin", "K+U", "1322 1327"),
    "M30": Row("POST", f"{A}/account/2fa/register/passkey/finish", "K+U", "1321 1322 1327"),
    "M37": Row("DELETE", f"{A}/account/2fa/passkey", "K+U", "1121 1327 1328",
               also=(f"{A}/account/2fa/authenticator/passkey",)),
    "M38": Row("DELETE", f"{M}/account/2fa/passkey", "K+S", "984", also=(f"{M}/account/2fa/authenticator/passkey",),
               takes_form=False),
    "M48": Row("GET", f"{A}/register/passkey/begin", "K", "936 1038 1320 1322 1324 1190"),
    "M49": Row("POST", f"{A}/register/passkey/finish", "K", f"{_REGISTER} 1320-1322 1324", marks="F PW", takes_form=False),
    "M50": Row("GET", f"{A}/login/passkey/begin", "K", "938 970 1320 1322 1323 1324"),
    "M51": Row("POST", f"{A}/login/passkey/finish", "K", "1320-1324 991 1130 1194 1226 1243", marks="F PW"),
    "M52": Row("GET", f"{A}/login/passkey/autofill/begin", "K", "1320 1326"),
    "M53": Row("POST", f"{A}/login/passkey/autofill/finish", "K", "1321 1323 1326", marks="F PW"),
    "M54": Row("POST", f"{A}/passkey/forgot", "K", "938 1038 1122 1320 1323 1329"),
    "M55": Row("GET", f"{A}/passkey/reset/begin", "K", "1063 974 975 1320 1322"),
    "M56": Row("POST", f"{A}/passkey/reset/finish", "K", "1063 975 1321"),
    "M57": Row("GET", f"{A}/account/register/passkey/begin", "K+U", "1320 1322 1324"),
    "M58": Row("POST", f"{A}/account/register/passkey/finish", "K+U", "1321 1322"),
    "M59": Row("GET", f"{A}/account/passkey", "K+U", "1320 1323"),
    "M60": Row("DELETE", f"{A}/account/passkey/{{passkeyid}}", "K+U", "1325", takes_form=False),
    "M61": Row("GET", f"{M}/account/passkey", "K+S", "984 1323"),
    "M62": Row("DELETE", f"{M}/account/passkey/{{passkeyid}}", "K+S", "984 1325"),
    "M63": Row("GET", f"{A}/account/reauth/2fa", "K+U", "1101 1191 1123"),
    "M64": Row("PUT", f"{A}/account/reauth/2fa/authenticatorcode", "K+U", f"1099 1102 1191 1192 {_LOCK}", marks="PW",
               also=(f"{A}/account/reauth/2fa/googleauthenticatorcode",)),
    "M65": Row("PUT", f"{A}/account/reauth/2fa/otp", "K+U", f"1067-1070 1100 1192 {_LOCK}", marks="PW"),
    "M66": Row("PUT", f"{A}/account/reauth/2fa/backupcode", "K+U", "1128 1129 1192", marks="PW"),
    "M67": Row("GET", f"{A}/account/reauth/2fa/otp/email", "K+U", "1032 1256 1122"),
    "M68": Row("PUT", f"{A}/account/reauth/2fa/otp/email/verify", "K+U", f"908 901 1067 1185-1188 1256 {_LOCK}",
               marks="PW", takes_form=False),
    "M69": Row("POST", f"{A}/account/reauth/2fa/securityquestionanswer/verify", "K+U", "1093 1094 1257 1259 1260",
               marks="PW"),
    "M70": Row("PUT", f"{A}/account/reauth/2fa/duo", "K+U", "1330-1334", marks="PW"),
    "M71": Row("PUT", f"{A}/account/reauth/password", "K+U", f"967 1205 {_LOCK}", marks="PW"),
    "M72": Row("PUT", f"{A}/account/reauth/pin", "K+U", "1236 1233 1235", marks="PW"),
    "M73": Row("GET", f"{A}/account/reauth/otp/email", "K+U", "1032 1023 1122"),
    "M74": Row("PUT", f"{A}/account/reauth/otp/email", "K+U", f"1185-1188 {_LOCK}", marks="PW"),
    "M75": Row("POST", f"{M}/account/{{uid}}/reauth/2fa", "K+S", "965 902 901 1193"),
    "M76": Row("POST", f"{M}/account/{{uid}}/reauth/password", "K+S", "965 902 901 1193"),
    "M77": Row("POST", f"{M}/account/{{uid}}/reauth/pin", "K+S", "965 902 901", takes_form=False),
    "A14": Row("GET", f"{M}/account/{{uid}}/privacypolicy/history", "K+S", "1195 984"),
    "A15": Row("GET", f"{M}/account/{{uid}}/password", "K+S", "1039 984"),
    "A16": Row("PUT", f"{M}/account/{{uid}}/password", "K+S", "908 1015 1039 1134 1216 984"),
    "A17": Row("POST", f"{M}/account/forgot/token", "K+S", "938 1141 1178 1122"),
    "A18": Row("POST", f"{M}/account/verify/token", "K+S", "938 1126 1034 1178"),
    "A19": Row("GET", f"{M}/account/vtoken", "K+S", "938 1126 1034 1178"),
    "A20": Row("POST", f"{M}/account/emailtoken/{{tokentype}}", "K+S", "1181 938 984 1126 1178 1059 1135 1146 1233"),
    "A21": Row("POST", f"{M}/account/smsotp/{{smsotptype}}", "K+S", "1182 1043 1074 1179 1073"),
    "A31": Row("POST", f"{M}/account/{{uid}}/customobject", "K+S", "1035 1036 1064 1002 999 984", marks="PW", takes_form=False),
    "A32": Row("GET", f"{M}/account/{{uid}}/customobject", "K+S", "1057 1064"),
    "A33": Row("GET", f"{M}/account/{{uid}}/customobject/{{objectrecordid}}", "K+S", "1001 1057"),
    "A34": Row("PUT", f"{M}/account/{{uid}}/customobject/{{objectrecordid}}", "K+S", "1001 1035 1057", marks="PW", takes_form=False),
    "A35": Row("DELETE", f"{M}/account/{{uid}}/customobject/{{objectrecordid}}", "K+S", "1208 902 1212 1001 1057", marks="PW",
               takes_form=False),
    "A36": Row("GET", f"{M}/account/{{uid}}/consent/logs", "K+S", "1227 1228 984"),
    "A37": Row("GET", f"{M}/account/{{uid}}/role", "K+S", "984"),
    "A38": Row("PUT", f"{M}/account/{{uid}}/role", "K+S", "1047 984", takes_form=False),
    "A39": Row("DELETE", f"{M}/account/{{uid}}/role", "K+S", "1047 984", takes_form=False),
    "A40": Row("GET", f"{M}/account/{{uid}}/rolecontext", "K+S", "1133 984"),
    "A41": Row("PUT", f"{M}/account/{{uid}}/rolecontext", "K+S", "1047 1133 1172", takes_form=False),
    "A42": Row("DELETE", f"{M}/account/{{uid}}/rolecontext/{{context}}", "K+S", "1133", takes_form=False),
    "A43": Row("DELETE", f"{M}/account/{{uid}}/rolecontext/{{context}}/role", "K+S", "1133 1047", takes_form=False),
    "A44": Row("DELETE", f"{M}/account/{{uid}}/rolecontext/{{context}}/additionalpermission", "K+S", "1133 1142", takes_form=False),
    "A45": Row("GET", f"{M}/account/rolecontext/{{context}}", "K+S", "1133"),
    "A46": Row("GET", f"{M}/role", "K+S"),
    "A47": Row("POST", f"{M}/role", "K+S", "1175", takes_form=False),
    "A48": Row("DELETE", f"{M}/role/{{role}}", "K+S", "1047", takes_form=False),
    "A49": Row("PUT", f"{M}/role/{{role}}/permission", "K+S", "1047", takes_form=False),
    "A50": Row("DELETE", f"{M}/role/{{role}}/permission", "K+S", "1047 1142", takes_form=False),
    "A51": Row("POST", f"{M}/registrationdata", "K+S", "1151 1154 1158", takes_form=False),
    "A52": Row("GET", f"{M}/registrationdata/{{type}}", "K+S", "1155 1156 1158"),
    "A53": Row("PUT", f"{M}/registrationdata/{{recordid}}", "K+S", "1150 1151 1154", takes_form=False),
    "A54": Row("DELETE", f"{M}/registrationdata/{{recordid}}", "K+S", "1150"),
    "A55": Row("DELETE", f"{M}/registrationdata/type/{{type}}", "K+S", "1155"),
    "A56": Row("GET", f"{M}/account/sott", "K+S"),
    "A58": Row("GET", "/identity/v2/serverinfo", "K"),
    "M01": Row("POST", _M, "K", (
        "938 966 970 982 991 1066 1071 1072 1074 1077 1091 1094 1096-1098 1101 1123 1130 1132 1148 1149 1159 1183 1194 "
        "1198 1220 1226 1335 1336"), older="922 1038", marks="F"),
    "M02": Row("POST", _M, "K", f"{_T} 1298 1299 1313"),
    "M12": Row("PUT", f"{_M}/duo", "K", f"{_T} 1330-1334", marks="F", also=(f"{_M}/verification/duo",)),
    "M13": Row("GET", f"{_M}/push/ping", "K", "1278 1295-1299 1311-1313", marks="F", also=("/login/2fa/push/ping",)),
    "M14": Row("PUT", f"{_M}/verification/push", "K", "1296 1297 1311 1312"),
    "M26": Row("PUT", f"{_N}/duo", "K+U", "1330-1334", marks="F", also=(f"{_N}/verification/duo",)),
    "M35": Row("DELETE", f"{_N}/duo", "K+U", "1121 1330 1334", also=(f"{_N}/authenticator/duo",)),
    "M36": Row("DELETE", f"{_N}/push", "K+U", "1121 1299 1313", also=(f"{_N}/authenticator/push",)),
    "M39": Row("DELETE", f"{_O}/duo", "K+S", "984", also=(f"{_O}/authenticator/duo",)),
    "M44": Row("DELETE", f"{_O}/push", "K+S", "984", also=(f"{_O}/authenticator/push/{{uid}}",)),
    "M03": Row("PUT", f"{_M}/totp", "K", f"{_T} 1099 1102 1105 1279 {_LOCK}", marks="F PW", also=(
        f"{_M}/verification/authenticatorcode", f"{_M}/verification/googleauthenticatorcode")),
    "M04": Row("PUT", f"{_M}/sms", "K", f"{_T} 1067-1070 1100 1105 1277 {_LOCK}", marks="F PW",
               also=(f"{_M}/verification/otp",)),
    "M05": Row("PUT", f"{_M}/sms/phone", "K", f"{_T} 1096 1100 1106 1123 1149 1250 1281", also=(_M,)),
    "M06": Row("GET", f"{_M}/sms/resend", "K", f"{_T} 1100 1117 1123 1149", also=(f"{_M}/resend",)),
    "M07": Row("POST", f"{_M}/email", "K", f"{_T} 1023 1032 1038 1122 1256", also=(f"{_M}/otp/email",)),
    "M08": Row("PUT", f"{_M}/email", "K", f"{_T} 1067 1185-1188 1256 {_LOCK}", marks="F PW",
               also=(f"{_M}/verification/otp/email",)),
    "M09": Row("PUT", f"{_M}/backupcode", "K", f"{_T} 1128 1129 {_LOCK}", marks="F",
               also=(f"{_M}/verification/backupcode",)),
    "M10": Row("PUT", f"{_M}/{_SQA}", "K", f"{_T} 1091 1257 1258 1260", marks="F"),
    "M11": Row("POST", f"{_M}/verification/{_SQA}", "K", f"{_T} 1093 1094 1257 1259 1260 {_LOCK}", marks="F PW"),
    "M19": Row("GET", _N, "K+U", "1097 1098 1335 1336"),
    "M20": Row("PUT", f"{_N}/totp", "K+U", "1097 1099 1102 1105 1279", marks="F PW", also=(
        f"{_N}/verification/authenticatorcode", f"{_N}/verification/googleauthenticatorcode")),
    "M21": Row("PUT", f"{_N}/sms", "K+U", "1067-1070 1100 1117", marks="F PW", also=(f"{_N}/verification/otp",),
               takes_form=False),
    "M22": Row("PUT", f"{_N}/sms/phone", "K+U", "1096 1100 1106 1123 1149", also=(_N,)),
    "M23": Row("GET", f"{_N}/email", "K", "1032 1038 1023 1122 1256", also=(f"{_N}/otp/email",)),
    "M24": Row("PUT", f"{_N}/email", "K+U", "1067 1185-1188 1256", marks="F",
               also=(f"{_N}/verification/otp/email",)),
    "M25": Row("PUT", f"{_N}/{_SQA}", "K+U", "1091 1257 1258 1260"),
    "M27": Row("GET", f"{_N}/backupcode", "K+U", "1127 1101"),
    "M28": Row("GET", f"{_N}/backupcode/reset", "K+U", "1101 1128"),
    "M31": Row("DELETE", f"{_N}/totp", "K+U", "1121 1099", also=(f"{_N}/authenticator",)),
    "M32": Row("DELETE", f"{_N}/sms", "K+U", "1121 1117", also=(f"{_N}/authenticator",)),
    "M33": Row("DELETE", f"{_N}/email", "K+U", "1121 1256", also=(f"{_N}/authenticator/otp/email",)),
    "M34": Row("DELETE", f"{_N}/{_SQA}", "K+U", "1121 1257", also=(f"{_N}/authenticator/{_SQA}",)),
    "M40": Row("DELETE", f"{_O}/email", "K+S", "1214 984", also=(f"{_O}/authenticator/otp/email",)),
    "M41": Row("DELETE", f"{_O}/totp", "K+S", "1214 984 1121", also=(f"{_O}/authenticator",)),
    "M42": Row("DELETE", f"{_O}/sms", "K+S", "1214 984 1121", also=(f"{_O}/authenticator",)),
    "M43": Row("DELETE", f"{_O}/{_SQA}", "K+S", "1214 984", also=(f"{_O}/authenticator/{_SQA}",)),
    "M45": Row("GET", f"{_O}/backupcode", "K+S", "1214 1127 1101"),
    "M46": Row("GET", f"{_O}/backupcode/reset", "K+S", "1214 1101"),
    "M47": Row("GET", _O, "K+S", "984"),
}  # fmt: skip

LATER_ROWS = {
    "U14": "a page of the hub, and 1190 and 1223 are its words: test_routing.py, test_request_handler.py",
    "A57": "long-lived tokens of applications, with their list: the issue of a tenant's configuration",
}
"""Rows of the same sections that another issue builds, or another test shows."""

NOT_RAISED: dict[int, str] = {
    909: "every endpoint is open to every tenant",
    922: "908 for a missing key",
    942: "a tenant is known by its key: 901",
    958: "a body is read by its content type: 965",
    1027: "936, which an update of a profile says of every address that an account has",
    1081: "a body is read by its content type: 1079",
    1140: "a token names whose address is written to: U07 takes no client GUID",
    1144: "nothing is off for tenants of one version",
    1159: "1071, which says the same and has a text",
}
"""Codes that no row raises yet, and why."""
