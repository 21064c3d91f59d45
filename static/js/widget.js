// Show the captcha widget of the tenant's provider. Its third-party script may fail to load: our own check then begins (work.js).
(function () {
  var box = document.querySelector("[data-widget]");
  if (!box) return;
  var form = box.closest("form"), place = box.querySelector(".place"), fallbackButton = box.querySelector(".link");
  var status = box.querySelector("[role=status]"), own = document.getElementById("captcha"), key = box.dataset.key, timeoutMilliseconds = 6000;
  var proof = form.elements.captcha_proof, randstr = form.elements.captcha_randstr, isDrawn = false, submitter = null;
  var timer = setTimeout(fail, timeoutMilliseconds);

  function take(answer, other) {
    proof.value = answer || "";
    randstr.value = other || "";
    status.textContent = answer ? status.dataset.done : "";
  }

  function useOwn() {
    fallbackButton.hidden = true;
    own.hidden = false;
    own.dispatchEvent(new Event("work"));
  }

  function fail() {
    take("");
    form.classList.remove("busy");
    if (submitter) submitter.removeAttribute("aria-busy");
    if (own) {
      useOwn();
      box.hidden = !isDrawn;
    } else status.textContent = status.dataset.failed;
  }

  function drawn() {
    clearTimeout(timer);
    isDrawn = true;
    box.hidden = false;
    status.textContent = "";
  }

  // A theme may fix the scheme of its pages, whatever the device prefers.
  function isDark() {
    var schemes = getComputedStyle(place).colorScheme.split(" ");
    return schemes.indexOf("dark") >= 0 && (schemes.indexOf("light") < 0 || matchMedia("(prefers-color-scheme: dark)").matches);
  }

  function drawBox(service) {
    box.hidden = false;
    service.render(place, {
      sitekey: key,
      theme: isDark() ? "dark" : "light",
      size: place.clientWidth < 304 ? "compact" : "normal",
      callback: take,
      "expired-callback": function () { take(""); },
      "error-callback": fail
    });
    drawn();
  }

  // The invisible widget returns its token on submit. Our own check takes precedence.
  function drawInvisible() {
    drawn();
    form.addEventListener("submit", function (event) {
      if (proof.value || (own && !own.hidden) || form.classList.contains("busy")) return;
      event.preventDefault();
      event.stopPropagation();
      form.classList.add("busy");
      submitter = event.submitter || null;
      if (submitter) submitter.setAttribute("aria-busy", "true");
      timer = setTimeout(fail, timeoutMilliseconds);
      window.grecaptcha.execute(key, {action: "form"}).then(function (answer) {
        setTimeout(function () { send(answer); }); // a form cannot be submitted again within its submit event
      }, fail);
    });
  }

  function send(answer) {
    clearTimeout(timer);
    if (!form.classList.contains("busy")) return;
    form.classList.remove("busy");
    take(answer);
    if (form.requestSubmit) form.requestSubmit(submitter);
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
      window.grecaptcha.ready(drawInvisible);
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
  form.elements.captcha_script.value = "y";
  if (!own) form.querySelector("[data-scriptless]").hidden = true;
  else if (!own.hidden) fallbackButton.hidden = true;
  else fallbackButton.addEventListener("click", function () {
    useOwn();
    own.tabIndex = -1;
    own.focus();
  });
  document.head.appendChild(script);
})();
