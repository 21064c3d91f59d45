// The rules of a new password tick themselves off while it is typed. The server enforces them; this only tells early.
(function () {
  var list = document.querySelector("[data-rules]");
  if (!list) return;
  var field = document.getElementById(list.dataset.rules);
  var number = letters("\\p{Nd}", /\d/);
  var sign = letters("[^\\p{L}\\p{N}\\s]", /[^\s\dA-Za-z\u00aa-\uffff]/);
  var looks = {
    least: function (text, number) { return Array.from(text).length >= number; },
    most: function (text, number) { return text && Array.from(text).length <= number; },
    lower: function (text) { return hasCase(text, "toUpperCase"); },
    upper: function (text) { return hasCase(text, "toLowerCase"); },
    number: function (text) { return number.test(text); },
    sign: function (text) { return sign.test(text); }
  };

  // Letters of any script, as the server tells them; a browser that cannot tells the plainest.
  function letters(wanted, plain) {
    try {
      return new RegExp(wanted, "u");
    } catch (error) {
      return plain;
    }
  }

  function hasCase(text, other) {
    return Array.from(text).some(function (letter) { return letter !== letter[other](); });
  }

  function look() {
    list.querySelectorAll("li").forEach(function (rule) {
      var kept = rule.dataset.rule && looks[rule.dataset.rule](field.value, Number(rule.dataset.number));
      rule.className = kept ? "kept" : "";
      rule.lastElementChild.className = "unseen";
      rule.lastElementChild.textContent = kept ? list.dataset.kept : "";
    });
  }

  // What the last one lacked stays marked until the next one is begun.
  field.addEventListener("input", look);
  if (field.value) look();
})();
