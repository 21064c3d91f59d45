// The captcha of the tenant's provider. Its script comes from elsewhere and may not come at all, or stop half way: the
// question of our own, which stands in the page, is hidden only for as long as the widget may be of use.
(function () {
  var box = document.querySelector("[data-widget]");
  if (!box) return;
  var form = box.closest("form"), place = box.querySelector(".place"), instead = box.querySelector(".link");
  var status = box.querySelector("[role=status]"), field = document.getElementById("captcha");
  var question = field && field.closest(".field"), key = box.dataset.key, patience = 6000;
  var proof = form.elements.captcha_proof, randstr = form.elements.captcha_randstr, isDrawn = false, by = null;
  var late = setTimeout(fail, patience);

  function take(answer, other) {
    proof.value = answer || "";
    randstr.value = other || "";
    status.textContent = answer ? status.dataset.done : "";
  }

  function ask() {
    question.hidden = false;
    instead.hidden = true;
  }

  function fail() {
    take("");
    form.classList.remove("busy");
    if (question) {
      ask();
      box.hidden = !isDrawn;
    } else status.textContent = status.dataset.failed;
  }

  function drawn() {
    clearTimeout(late);
    isDrawn = true;
    box.hidden = false;
    status.textContent = "";
  }

  function drawBox(service) {
    box.hidden = false;
    service.render(place, {
      sitekey: key,
      theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
      size: place.clientWidth < 304 ? "compact" : "normal",
      callback: take,
      "expired-callback": function () { take(""); },
      "error-callback": fail
    });
    drawn();
  }

  // Nobody sees this one: it tells what it thinks when the form is sent. An answered question goes first.
  function drawUnseen() {
    drawn();
    form.addEventListener("submit", function (event) {
      if (proof.value || (field && field.value) || form.classList.contains("busy")) return;
      event.preventDefault();
      event.stopPropagation();
      form.classList.add("busy");
      by = event.submitter || null;
      late = setTimeout(fail, patience);
      window.grecaptcha.execute(key, {action: "form"}).then(function (answer) {
        setTimeout(function () { send(answer); }); // a form is not sent twice within one event
      }, fail);
    });
  }

  function send(answer) {
    clearTimeout(late);
    if (!form.classList.contains("busy")) return;
    form.classList.remove("busy");
    take(answer);
    if (form.requestSubmit) form.requestSubmit(by);
    else form.submit();
  }

  function drawButton() {
    var button = place.querySelector("button");
    button.disabled = false;
    button.addEventListener("click", function () {
      new window.TencentCaptcha(key, function (result) {
        if (result.ret === 0 && !result.errorCode) take(result.ticket, result.randstr);
        else if (result.ret !== 2) fail(); // 2: closed by the person
      }, {userLanguage: document.documentElement.lang}).show();
    });
    drawn();
  }

  var draw = {
    recaptcha_v2: function () {
      window.grecaptcha.ready(function () { drawBox(window.grecaptcha); });
    },
    recaptcha_v3: function () {
      window.grecaptcha.ready(drawUnseen);
    },
    hcaptcha: function () { drawBox(window.hcaptcha); },
    tencent: drawButton
  };

  var script = document.createElement("script");
  script.nonce = document.currentScript.nonce;
  script.src = box.dataset.from;
  script.onerror = fail;
  script.onload = function () {
    try {
      draw[box.dataset.widget]();
    } catch (error) {
      fail();
    }
  };

  take("");
  box.hidden = false;
  if (!question) form.querySelector("[data-scriptless]").hidden = true;
  else if (field.value || question.classList.contains("field--wrong")) ask();
  else {
    question.hidden = true;
    instead.addEventListener("click", function () {
      ask();
      field.focus();
    });
  }
  document.head.appendChild(script);
})();
