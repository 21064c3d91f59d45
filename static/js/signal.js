// Tell password managers which passkeys are valid (WebAuthn signal API).
(function () {
  var api = window.PublicKeyCredential, page = document.querySelector("[data-accepted],[data-unknown]");
  if (!api || !page) return;
  function signal(name, details) {
    if (api[name]) api[name](details).catch(function () {});
  }
  if (page.dataset.unknown) signal("signalUnknownCredential", { rpId: location.hostname, credentialId: page.dataset.unknown });
  if (!page.dataset.accepted) return;
  var accepted = JSON.parse(page.dataset.accepted);
  signal("signalAllAcceptedCredentials", { rpId: accepted.rp, userId: accepted.user, allAcceptedCredentialIds: accepted.ids });
  signal("signalCurrentUserDetails", { rpId: accepted.rp, userId: accepted.user, name: accepted.name, displayName: accepted.shown });
})();
