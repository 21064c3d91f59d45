// A form whose answer a browser's passkey gives. Without this file it is sent empty, and the server says the way round.
(function () {
  if (!window.PublicKeyCredential || !navigator.credentials) return;
  var waiting, kept = {};

  function bytes(text) {
    var raw = atob(text.replace(/-/g, "+").replace(/_/g, "/")), made = new Uint8Array(raw.length);
    for (var i = 0; i < raw.length; i++) made[i] = raw.charCodeAt(i);
    return made;
  }

  function text(buffer) {
    var raw = String.fromCharCode.apply(null, new Uint8Array(buffer));
    return btoa(raw).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  }

  function opened(told) {
    told.challenge = bytes(told.challenge);
    if (told.user) told.user.id = bytes(told.user.id);
    (told.allowCredentials || []).concat(told.excludeCredentials || []).forEach(function (one) {
      one.id = bytes(one.id);
    });
    return told;
  }

  function plain(credential) {
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
    if (kept.asked === body.toString()) return Promise.resolve(JSON.parse(kept.told)); // nothing was typed since
    return fetch(form.dataset.from, { method: "POST", body: body }).then(function (answer) {
      if (!answer.ok) throw answer.status;
      return answer.text();
    }).then(function (told) {
      if ("beside" in form.dataset) kept = { asked: body.toString(), told: told };
      return JSON.parse(told);
    });
  }

  document.querySelectorAll("[data-passkey]").forEach(function (form) {
    var creates = form.dataset.passkey === "create", status = form.querySelector("#credential");
    var beside = "beside" in form.dataset, isAsking = true;

    // The box stands in the form of the password, and is meant for both.
    function remembers() {
      var box = document.querySelector("[type=checkbox][name=remember]");
      if (box && form.elements.remember) form.elements.remember.value = box.checked ? "y" : "";
    }

    function ask(mediation) {
      var control = waiting = new AbortController();
      return options(form).then(function (told) {
        var wish = { publicKey: opened(told), signal: control.signal };
        if (mediation) wish.mediation = mediation;
        return navigator.credentials[creates ? "create" : "get"](wish);
      }).then(function (credential) {
        if (!credential) throw 0;
        form.elements.credential.value = plain(credential);
        remembers();
        if (beside && form.elements.password) form.elements.password.value = ""; // the passkey stands in its place
        form.classList.add("busy");
        form.submit();
      });
    }

    function waits() {
      var is = PublicKeyCredential.isConditionalMediationAvailable;
      if ("autofill" in form.dataset && is) {
        is.call(PublicKeyCredential).then(function (can) {
          if (can) return ask("conditional");
        }).catch(function () {});
      }
    }

    form.addEventListener("submit", function (event) {
      if (event.defaultPrevented) return;
      form.elements.credential.value = ""; // of before, where somebody came back
      if (beside && (!isAsking || !event.submitter || event.submitter.value !== "passkey")) return;
      event.preventDefault();
      event.stopPropagation();
      if (form.classList.contains("busy")) return; // it is on its way
      if (waiting) waiting.abort(); // one question at a time: the quiet one gives way
      status.textContent = "";
      ask().catch(function (reason) {
        if (beside && reason > 0) { // refused: the page says which field it is
          isAsking = false;
          event.submitter.click();
          isAsking = true;
          return;
        }
        status.textContent = reason && reason.name === "InvalidStateError" ? form.dataset.there : form.dataset.failed;
        waits();
      });
    });
    waits();
    if ("upgrade" in form.dataset && PublicKeyCredential.getClientCapabilities) {
      PublicKeyCredential.getClientCapabilities().then(function (can) {
        if (can.conditionalCreate) return ask("conditional");
      }).catch(function () {});
    }
  });
})();
