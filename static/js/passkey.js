// Fill a form with a WebAuthn response. Without JavaScript the form is posted empty and the page explains the alternatives.
(function () {
  var password = document.querySelector("[data-beside] > .more"); // closed: the passkey in its place
  if (!window.PublicKeyCredential || !navigator.credentials) {
    if (password) password.open = password.hidden = true;
    return;
  }
  var pending, cache = {};

  function bytes(text) {
    var raw = atob(text.replace(/-/g, "+").replace(/_/g, "/")), result = new Uint8Array(raw.length);
    for (var i = 0; i < raw.length; i++) result[i] = raw.charCodeAt(i);
    return result;
  }

  function text(buffer) {
    var raw = String.fromCharCode.apply(null, new Uint8Array(buffer));
    return btoa(raw).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  }

  function decoded(options) {
    options.challenge = bytes(options.challenge);
    if (options.user) options.user.id = bytes(options.user.id);
    (options.allowCredentials || []).concat(options.excludeCredentials || []).forEach(function (credential) {
      credential.id = bytes(credential.id);
    });
    return options;
  }

  function encoded(credential) {
    var from = credential.response, response = {};
    ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"].forEach(function (name) {
      if (from[name]) response[name] = text(from[name]);
    });
    if (from.getTransports) response.transports = from.getTransports();
    return JSON.stringify({
      id: credential.id, rawId: text(credential.rawId), type: credential.type,
      authenticatorAttachment: credential.authenticatorAttachment || undefined, response: response
    });
  }

  function options(form) {
    if (form.dataset.options) return Promise.resolve(JSON.parse(form.dataset.options));
    var body = new URLSearchParams("beside" in form.dataset ? new FormData(form) : undefined);
    if (!("beside" in form.dataset)) form.querySelectorAll("input[type=hidden]").forEach(function (field) {
      body.append(field.name, field.value);
    });
    if (cache.request === body.toString()) return Promise.resolve(JSON.parse(cache.response)); // the form is unchanged
    return fetch(form.dataset.from, { method: "POST", body: body }).then(function (answer) {
      if (!answer.ok) throw answer.status;
      return answer.text();
    }).then(function (response) {
      if ("beside" in form.dataset) cache = { request: body.toString(), response: response };
      return JSON.parse(response);
    });
  }

  document.querySelectorAll("[data-passkey]").forEach(function (form) {
    var creates = form.dataset.passkey === "create", status = form.querySelector("#credential");
    var beside = "beside" in form.dataset, isIntercepting = true;
    var button = form.querySelector("[value=passkey]");

    if (beside) password.onclick = function () {
      setTimeout(function () {
        if (password.open) form.elements.password.focus();
      });
    };

    // The checkbox and the identifier are in the password form and apply to both forms.
    function copyTyped() {
      var box = document.querySelector("[type=checkbox][name=remember]");
      if (box && form.elements.remember) form.elements.remember.value = box.checked ? "y" : "";
      var typed = document.querySelector("#login [name=identifier]");
      if (!typed || creates) return;
      var copy = form.elements.identifier || form.appendChild(document.createElement("input"));
      copy.type = "hidden";
      copy.name = "identifier";
      copy.value = typed.value;
    }

    function startCeremony(mediation) {
      var control = pending = new AbortController();
      return options(form).then(function (received) {
        var request = { publicKey: decoded(received), signal: control.signal };
        if (mediation) request.mediation = mediation;
        return navigator.credentials[creates ? "create" : "get"](request);
      }).then(function (credential) {
        if (!credential) throw 0;
        form.elements.credential.value = encoded(credential);
        copyTyped();
        if (beside && form.elements.password) form.elements.password.value = ""; // the passkey replaces it
        form.classList.add("busy");
        form.submit();
      });
    }

    function startAutofill() {
      var is = PublicKeyCredential.isConditionalMediationAvailable;
      if ("autofill" in form.dataset && is) {
        is.call(PublicKeyCredential).then(function (can) {
          if (can) return startCeremony("conditional");
        }).catch(function () {});
      }
    }

    form.addEventListener("submit", function (event) {
      if (event.defaultPrevented) return;
      form.elements.credential.value = ""; // a stale response after Back
      // Enter may press the hidden button of the password, which then stands for the passkey.
      if (beside && (!isIntercepting || (password.open && event.submitter !== button))) return;
      event.preventDefault();
      event.stopPropagation();
      if (form.classList.contains("busy")) return; // already submitted
      if (pending) pending.abort(); // one ceremony at a time: cancel the conditional one
      status.textContent = "";
      startCeremony().catch(function (reason) {
        if (beside && reason > 0) { // the server refused the form: submit it to show the errors
          isIntercepting = false;
          button.click();
          isIntercepting = true;
          return;
        }
        var lost = document.querySelector("[data-lost]");
        if (lost) lost.hidden = false;
        status.textContent = reason && reason.name === "InvalidStateError" ? form.dataset.there : form.dataset.failed;
        startAutofill();
      });
    });
    startAutofill();
    if ("upgrade" in form.dataset && PublicKeyCredential.getClientCapabilities) {
      PublicKeyCredential.getClientCapabilities().then(function (can) {
        if (can.conditionalCreate) return startCeremony("conditional");
      }).catch(function () {});
    }
  });
})();
