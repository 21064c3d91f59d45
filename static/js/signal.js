// Managers of passwords are told which passkeys are still good, so that none is offered that opens nothing.
(function () {
  var api = window.PublicKeyCredential, page = document.querySelector("[data-accepted],[data-unknown]");
  if (!api || !page) return;
  function tell(name, said) {
    if (api[name]) api[name](said).catch(function () {});
  }
  if (page.dataset.unknown) tell("signalUnknownCredential", { rpId: location.hostname, credentialId: page.dataset.unknown });
  if (!page.dataset.accepted) return;
  var held = JSON.parse(page.dataset.accepted);
  tell("signalAllAcceptedCredentials", { rpId: held.rp, userId: held.user, allAcceptedCredentialIds: held.ids });
  tell("signalCurrentUserDetails", { rpId: held.rp, userId: held.user, name: held.name, displayName: held.shown });
})();
