// A relying party on openid-client that verifies every signature: of id_tokens, userinfo and introspection responses.
import * as client from "openid-client";
import { fetchHere, read, visit, write } from "./localhost.mjs";

const { issuer, client_id, secret, callback, algorithm } = await read();
const registered = {
  client_secret: secret,
  id_token_signed_response_alg: algorithm,
  userinfo_signed_response_alg: algorithm,
  introspection_signed_response_alg: algorithm,
};
const config = await client.discovery(new URL(issuer), client_id, registered, client.ClientSecretBasic(secret), {
  execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks],
  [client.customFetch]: fetchHere,
});
const seen = {};
config[client.customFetch] = async (address, options) => {
  const answer = await fetchHere(address, options);
  seen[new URL(address).pathname.split("/").pop()] = answer.headers.get("content-type");
  return answer;
};

const verifier = client.randomPKCECodeVerifier();
const state = client.randomState();
const asked = client.buildAuthorizationUrl(config, {
  redirect_uri: callback,
  scope: "openid email",
  code_challenge: await client.calculatePKCECodeChallenge(verifier),
  code_challenge_method: "S256",
  state,
});
const back = await visit(asked, callback);
const tokens = await client.authorizationCodeGrant(config, back, { pkceCodeVerifier: verifier, expectedState: state, idTokenExpected: true });
const claims = tokens.claims();
const person = await client.fetchUserInfo(config, tokens.access_token, claims.sub);
const introspection = await client.tokenIntrospection(config, tokens.access_token);
const header = JSON.parse(Buffer.from(tokens.id_token.split(".")[0], "base64url"));
write({ claims, person, introspection, header, seen });
process.exit(0);
