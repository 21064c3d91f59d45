// A relying party on openid-client that registers itself (RFC 7591), signs in, and reads, replaces and deletes its registration (RFC 7592).
import * as client from "openid-client";
import { fetchHere, read, visit, write } from "./localhost.mjs";

const { issuer, callback } = await read();
const metadata = {
  client_name: "Registered",
  redirect_uris: [callback],
  grant_types: ["authorization_code", "refresh_token"],
  token_endpoint_auth_method: "client_secret_post",
};
const seen = [];
const fetchSeen = async (address, options) => {
  const answer = await fetchHere(address, options);
  seen.push(answer.clone());
  return answer;
};
const config = await client.dynamicClientRegistration(new URL(issuer), metadata, undefined, {
  execute: [client.allowInsecureRequests],
  [client.customFetch]: fetchSeen,
});
config[client.customFetch] = fetchHere;
const registered = config.clientMetadata();

const verifier = client.randomPKCECodeVerifier();
const state = client.randomState();
const pkce = { code_challenge: await client.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256" };
const back = await visit(client.buildAuthorizationUrl(config, { redirect_uri: callback, scope: "openid email", state, ...pkce }), callback);
const tokens = await client.authorizationCodeGrant(config, back, { pkceCodeVerifier: verifier, expectedState: state, idTokenExpected: true });
const person = await client.fetchUserInfo(config, tokens.access_token, tokens.claims().sub);
const renewed = await client.refreshTokenGrant(config, tokens.refresh_token);

const manage = async (token, method = "GET", body) => {
  const headers = { authorization: `Bearer ${token}`, ...(body ? { "content-type": "application/json" } : {}) };
  return fetchHere(registered.registration_client_uri, { method, headers, body: body && JSON.stringify(body) });
};
const known = await (await manage(registered.registration_access_token)).json();
const changed = await (await manage(registered.registration_access_token, "PUT", { ...metadata, client_id: known.client_id, client_name: "Renamed" })).json();
const former = (await manage(registered.registration_access_token)).status;
const deleted = (await manage(changed.registration_access_token, "DELETE")).status;
let after = null;
try {
  await client.refreshTokenGrant(config, renewed.refresh_token);
} catch (problem) {
  after = problem.error ?? problem.status;
}
write({
  statuses: seen.map((one) => one.status),
  aud: tokens.claims().aud,
  client_id: registered.client_id,
  email: person.email,
  names: [known.client_name, changed.client_name],
  former,
  deleted,
  after,
});
process.exit(0);
