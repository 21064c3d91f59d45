// A relying party on openid-client (certified by the OpenID Foundation). It gets an issuer, an id and a secret. It asks the
// test to visit pages, one line of JSON at a time: it writes {"open": address, "until": prefix} and reads {"at": address}.
import * as client from "openid-client";
import { fetchHere, read, visit, write } from "./localhost.mjs";

const { issuer, client_id, secret, callback, bye } = await read();
const config = await client.discovery(new URL(issuer), client_id, undefined, secret ? client.ClientSecretBasic(secret) : client.None(), {
  execute: [client.allowInsecureRequests],
  [client.customFetch]: fetchHere,
});
config[client.customFetch] = fetchHere;

const verifier = client.randomPKCECodeVerifier();
const state = client.randomState();
const nonce = client.randomNonce();
const pkce = { code_challenge: await client.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256" };
const asked = client.buildAuthorizationUrl(config, {
  redirect_uri: callback,
  scope: "openid profile email",
  ...pkce,
  state,
  nonce,
  max_age: "3600",
});
const back = await visit(asked, callback);
const tokens = await client.authorizationCodeGrant(config, back, {
  pkceCodeVerifier: verifier,
  expectedState: state,
  expectedNonce: nonce,
  maxAge: 3600,
  idTokenExpected: true,
});
const claims = tokens.claims();
const person = await client.fetchUserInfo(config, tokens.access_token, claims.sub);
const pushed = await client.buildAuthorizationUrlWithPAR(config, { redirect_uri: callback, scope: "openid", state, ...pkce });
const at_push = await visit(pushed, callback);
const by_push = await client.authorizationCodeGrant(config, at_push, { pkceCodeVerifier: verifier, expectedState: state });
const device = await client.initiateDeviceAuthorization(config, { scope: "openid email" });
const decided = await visit(device.verification_uri_complete, new URL("/device/done", device.verification_uri).href);
const of_device = await client.pollDeviceAuthorizationGrant(config, device);
const also = { is_pushed: pushed.search.includes("request_uri="), by_push: by_push.claims().sub, of_device: of_device.claims().sub };
const renewed = await client.refreshTokenGrant(config, tokens.refresh_token);
const introspection = secret ? await client.tokenIntrospection(config, renewed.access_token) : null;
await client.tokenRevocation(config, renewed.access_token);
let is_revoked = false;
try {
  await client.fetchUserInfo(config, renewed.access_token, claims.sub);
} catch (refusal) {
  is_revoked = refusal.cause?.some?.((challenge) => challenge.parameters.error === "invalid_token") ?? false;
}
const ended = await visit(
  client.buildEndSessionUrl(config, { post_logout_redirect_uri: bye, id_token_hint: tokens.id_token, state: "bye now" }),
  bye,
);
const quiet = { redirect_uri: callback, scope: "openid", prompt: "none", state, ...pkce };
const silent = await visit(client.buildAuthorizationUrl(config, quiet), callback);
let silent_error = "";
try {
  await client.authorizationCodeGrant(config, silent, { expectedState: state });
} catch (refusal) {
  silent_error = refusal.error;
}
write({ ...also, decided: String(decided), claims, person, introspection, is_revoked, is_rotated: renewed.refresh_token !== tokens.refresh_token, ended: String(ended), silent_error });
process.exit(0);
