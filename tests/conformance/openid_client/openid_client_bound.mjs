// A relying party on openid-client whose tokens are bound to a key (DPoP, RFC 9449): pushed request, code, refresh, userinfo. With
// `key`, a private JWK, it authenticates by private_key_jwt; with `machine` it also gets a token of its own. See localhost.mjs.
import * as client from "openid-client";
import { fetchHere, read, visit, write } from "./localhost.mjs";

const { issuer, client_id, key, algorithm, callback, machine } = await read();
const imports = { ES256: { name: "ECDSA", namedCurve: "P-256" }, PS256: { name: "RSA-PSS", hash: "SHA-256" }, EdDSA: { name: "Ed25519" } };
const { kid, use, ...jwk } = key ?? {};
const authentication = key
  ? client.PrivateKeyJwt({ key: await crypto.subtle.importKey("jwk", jwk, imports[algorithm], false, ["sign"]), kid })
  : client.None();
const seen = [];
const fetchSeen = async (address, options) => {
  const answer = await fetchHere(address, options);
  const body = answer.status === 400 ? (await answer.clone().json()).error : null;
  const challenge = answer.status === 401 ? answer.headers.get("www-authenticate") : null;
  seen.push({ path: new URL(address).pathname, status: answer.status, error: body ?? challenge });
  return answer;
};
const config = await client.discovery(new URL(issuer), client_id, undefined, authentication, {
  execute: [client.allowInsecureRequests],
  [client.customFetch]: fetchSeen,
});
config[client.customFetch] = fetchSeen;

const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair("ES256"));
const verifier = client.randomPKCECodeVerifier();
const state = client.randomState();
const pkce = { code_challenge: await client.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256" };
const asked = { redirect_uri: callback, scope: "openid email offline_access", prompt: "consent", state, ...pkce };
const pushed = await client.buildAuthorizationUrlWithPAR(config, asked, { DPoP });
const back = await visit(pushed, callback);
const tokens = await client.authorizationCodeGrant(config, back, { pkceCodeVerifier: verifier, expectedState: state }, undefined, { DPoP });
const subject = tokens.claims().sub;
const person = await client.fetchUserInfo(config, tokens.access_token, subject, { DPoP });
const renewed = await client.refreshTokenGrant(config, tokens.refresh_token, undefined, { DPoP });
const again = await client.fetchUserInfo(config, renewed.access_token, subject, { DPoP });
let refusal = null;
try {
  await client.fetchUserInfo(config, renewed.access_token, subject);
} catch (problem) {
  refusal = problem.cause?.[0]?.parameters?.error ?? String(problem);
}
const own = machine ? await client.clientCredentialsGrant(config, undefined, { DPoP }) : null;
const { alg } = JSON.parse(Buffer.from(tokens.id_token.split(".")[0], "base64url"));
write({
  types: [tokens.token_type, renewed.token_type, own?.token_type ?? null],
  query: [...pushed.searchParams.keys()].sort(),
  is_same_person: person.email === again.email && again.sub === subject,
  email: person.email,
  is_rotated: renewed.refresh_token !== tokens.refresh_token,
  refusal,
  iss: back.searchParams.get("iss"),
  alg,
  nonces: seen.filter((one) => (one.error ?? "").includes("use_dpop_nonce")).map((one) => one.path),
});
process.exit(0);
