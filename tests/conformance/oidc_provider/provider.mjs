// npm oidc-provider, certified by the OpenID Foundation, as the provider of connections: with its own pages and dynamic registration.
// Prints its issuer; a line on stdin has it rotate its keys, and the end of stdin ends it.
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { fetchHere, read, write } from "../openid_client/localhost.mjs";

console.info = console.error; // stdout is for the test
const { default: Provider } = await import("oidc-provider");
const { createMemoryAdapter } = await import("oidc-provider/lib/adapters/memory_adapter.js");
const adapter = createMemoryAdapter(); // one for every provider: sessions, grants and clients outlive a rotation

const jwk = (kind, options) => ({ ...generateKeyPairSync(kind, options).privateKey.export({ format: "jwk" }), use: "sig" });
const newKeys = () => [jwk("rsa", { modulusLength: 2048 }), jwk("ec", { namedCurve: "P-256" }), jwk("ed25519")];
const names = { email: ["email", "email_verified"], profile: ["name", "given_name", "family_name"] };
// The login that a person types is the email; `first.last@…` is named so.
const account = (login) => {
  const [given_name = "", family_name = ""] = login.split("@")[0].split(".").map((name) => name.charAt(0).toUpperCase() + name.slice(1));
  const claims = { sub: login, email: login, email_verified: true, given_name, family_name, name: `${given_name} ${family_name}`.trim() };
  return { accountId: login, claims: () => claims };
};
const algorithms = ["RS256", "PS256", "ES256", "EdDSA"];
const provider = (issuer) =>
  new Provider(issuer, {
    adapter,
    claims: names,
    clientDefaults: { response_types: ["code"], grant_types: ["authorization_code"] },
    cookies: { keys: ["of the cookies"] },
    enabledJWA: { idTokenSigningAlgValues: algorithms },
    features: { backchannelLogout: { enabled: true }, registration: { enabled: true }, devInteractions: { enabled: true } },
    fetch: fetchHere,
    findAccount: (_context, login) => account(login),
    jwks: { keys: newKeys() },
    pkce: { required: () => true },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 3600, IdToken: 600, Interaction: 600, Session: 3600 },
  }).callback();

const server = createServer((request, response) => answer(request, response));
server.listen(0, "127.0.0.1", async () => {
  const issuer = `http://provider.localhost:${server.address().port}`;
  answer = provider(issuer);
  write({ issuer });
  process.stdin.on("end", () => process.exit());
  for (;;) {
    await read();
    answer = provider(issuer);
    write({ rotated: true });
  }
});
let answer;
