// The rules of a new password tick themselves off while it is typed. The server enforces them; this only tells early.
(function () {
  var list = document.querySelector("[data-rules]");
  if (!list) return;
  var field = document.getElementById(list.dataset.rules);
  var looks = {
    least: function (text, number) { return Array.from(text).length >= number; },
    lower: function (text) { return hasCase(text, "toUpperCase"); },
    upper: function (text) { return hasCase(text, "toLowerCase"); },
    number: function (text) { return /\d/.test(text); },
    sign: function (text) { return /[^\s\dA-Za-z\u00aa-\uffff]/.test(text); }
  };

  function hasCase(text, other) {
    return Array.from(text).some(function (letter) { return letter !== letter[other](); });
  }

  function look() {
    list.querySelectorAll("[data-rule]").forEach(function (rule) {
      var kept = looks[rule.dataset.rule](field.value, Number(rule.dataset.number));
      rule.classList.toggle("kept", kept);
      rule.querySelector(".unseen").textContent = kept ? list.dataset.kept : "";
    });
  }

  field.addEventListener("input", look);
  look();
})();
