// A web app whose users sign in with Gatehouse: OpenID Connect, authorization code flow with PKCE.
import "./localhost.mjs"; // development only: delete it, and localhost.mjs, once the issuer has a public host name
import express from "express";
import session from "express-session";
import * as client from "openid-client";

const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, SESSION_SECRET, APP_NAME, APP_URL, INBOX } = process.env;
const isSecure = APP_URL.startsWith("https:");

// Endpoints and signing keys are discovered at the first sign-in, so they need no configuration.
let discovered;
async function gatehouse() {
  // As gatehouse.yaml says, the secret goes in the Authorization header.
  const authentication = client.ClientSecretBasic(OIDC_CLIENT_SECRET);
  discovered ??= await client.discovery(new URL(OIDC_ISSUER), OIDC_CLIENT_ID, undefined, authentication, {
    execute: OIDC_ISSUER.startsWith("https:") ? [] : [client.allowInsecureRequests],
  });
  return discovered;
}

const app = express();
app.set("view engine", "ejs");
Object.assign(app.locals, { name: APP_NAME, issuer: OIDC_ISSUER, inbox: INBOX });
app.use(express.static("public"));
if (isSecure) app.set("trust proxy", 1); // HTTPS ends at a proxy
// Lax: browsers send the cookie on the way back from Gatehouse, not with forms of other sites.
app.use(
  session({ secret: SESSION_SECRET, resave: false, saveUninitialized: false, cookie: { sameSite: "lax", secure: isSecure } }),
);

app.get("/", (req, res) => {
  const { user, problem } = req.session;
  delete req.session.problem; // shown once
  res.render("home", { user, problem });
});

// For pages of signed-in users: others sign in first, and come back to the page.
function signedInOnly(req, res, next) {
  if (req.session.user) return next();
  req.session.next = req.path;
  res.redirect("/sign-in");
}

app.get("/account", signedInOnly, (req, res) => res.render("home", { user: req.session.user, problem: undefined }));

app.get("/sign-in", async (req, res) => {
  // PKCE: a stolen code is worthless without the verifier, which stays in this session.
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const [expectedState, expectedNonce] = [client.randomState(), client.randomNonce()];
  req.session.started = { pkceCodeVerifier, expectedState, expectedNonce };
  const url = client.buildAuthorizationUrl(await gatehouse(), {
    redirect_uri: `${APP_URL}/signed-in`,
    scope: "openid profile email",
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: "S256",
    state: expectedState,
    nonce: expectedNonce,
  });
  res.redirect(url.href);
});

app.get("/signed-in", async (req, res) => {
  const fail = (problem) => {
    req.session.problem = problem; // the home page shows it, with nothing of the answer in its address
    res.redirect("/");
  };
  if (!req.session.started) return fail("it didn’t start in this browser.");
  let tokens;
  try {
    // Checks state, nonce and PKCE, and the signature, issuer, audience and expiry of the ID token.
    const answer = new URL(req.originalUrl, APP_URL);
    tokens = await client.authorizationCodeGrant(await gatehouse(), answer, { ...req.session.started, idTokenExpected: true });
  } catch (error) {
    return fail(error.error_description ?? error.message);
  }
  // The ID token says who signed in; the claims of the scopes profile and email are at userinfo.
  const claims = await client.fetchUserInfo(await gatehouse(), tokens.access_token, tokens.claims().sub);
  const nextPage = req.session.next ?? "/";
  // A new session ID: nothing from before the sign-in survives it.
  await new Promise((done, failed) => req.session.regenerate((error) => (error ? failed(error) : done())));
  // Use `sub` as the key of your own user records: it never changes, unlike an email address.
  const { sub, name, given_name, email, email_verified } = claims;
  req.session.user = { sub, name, given_name, email, email_verified };
  req.session.idToken = tokens.id_token;
  res.redirect(nextPage);
});

app.post("/sign-out", async (req, res) => {
  const { idToken } = req.session;
  if (!idToken) return res.redirect(303, "/");
  // Signing out here alone would sign the user in again at the next click: end Gatehouse's session, too.
  const url = client.buildEndSessionUrl(await gatehouse(), { id_token_hint: idToken, post_logout_redirect_uri: `${APP_URL}/` });
  req.session.destroy(() => res.redirect(303, url.href));
});

app.listen(new URL(APP_URL).port || process.env.PORT, () => console.log(`Open ${APP_URL}`));
