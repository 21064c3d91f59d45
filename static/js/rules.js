// Mark the rules that a new password meets while it is typed. The server enforces them.
(function () {
  var list = document.querySelector("[data-rules]");
  if (!list) return;
  var field = document.getElementById(list.dataset.rules);
  var number = characterClass("\\p{Nd}", /\d/);
  var sign = characterClass("[^\\p{L}\\p{N}\\s]", /[^\s\dA-Za-z\u00aa-\uffff]/);
  var checks = {
    least: function (text, number) { return Array.from(text).length >= number; },
    most: function (text, number) { return text && Array.from(text).length <= number; },
    lower: function (text) { return hasCase(text, "toUpperCase"); },
    upper: function (text) { return hasCase(text, "toLowerCase"); },
    number: function (text) { return number.test(text); },
    sign: function (text) { return sign.test(text); }
  };

  // Unicode classes as on the server, with an ASCII fallback for older browsers.
  function characterClass(pattern, fallback) {
    try {
      return new RegExp(pattern, "u");
    } catch (error) {
      return fallback;
    }
  }

  function hasCase(text, other) {
    return Array.from(text).some(function (letter) { return letter !== letter[other](); });
  }

  function update() {
    var text = field.value.normalize ? field.value.normalize("NFKC") : field.value;
    list.querySelectorAll("li").forEach(function (rule) {
      var isMet = checks[rule.dataset.rule](text, Number(rule.dataset.number));
      rule.className = isMet ? "kept" : "";
      rule.querySelector(".unseen").textContent = isMet ? list.dataset.kept : "";
    });
  }

  // A theme's template of the field may have the note anywhere around the rules.
  function show(note, isShown) {
    var line = document.getElementById(field.id + "-" + note);
    if (line) line.classList.toggle("behind", !isShown);
  }

  // The error of the previous password and the rules that it broke stay marked until the user types.
  field.addEventListener("input", function () {
    show("hint", true);
    show("problem", false);
    update();
  });
  if (field.value) update();
})();
