// Solve the captcha by proof of work while the person types: the first number whose SHA-256 with the seed begins with the
// required zero bits (FIPS 180-4; one block is always enough). It works in slices of 12 ms, so that the page stays usable.
(function () {
  var box = document.querySelector("[data-seed]");
  if (!box) return;
  var form = box.closest("form"), work = form.elements.captcha_work;
  var button = form.querySelector(".button:not(.button--plain)") || form.querySelector(".button"), idle = button.textContent;
  var start = box.dataset.seed + ":", bits = Number(box.dataset.bits), shift = 32 - bits;
  var roots = [], squares = [], w = new Int32Array(64), tried = 0, isStarted = false, pressed = null, submitter = null;

  for (var n = 2; roots.length < 64; n++) {
    for (var d = 2; d * d <= n && n % d; d++);
    if (d * d <= n) continue;
    if (squares.length < 8) squares.push(fraction(Math.sqrt(n)));
    roots.push(fraction(Math.cbrt(n)));
  }

  function fraction(number) {
    return ((number % 1) * 4294967296) | 0;
  }

  function rotated(word, by) {
    return (word >>> by) | (word << (32 - by));
  }

  function leadingBits(text) {
    var i, x, y;
    for (i = 0; i < 16; i++) w[i] = 0;
    for (i = 0; i < text.length; i++) w[i >> 2] |= text.charCodeAt(i) << (24 - 8 * (i & 3));
    w[i >> 2] |= 128 << (24 - 8 * (i & 3));
    w[15] = 8 * text.length;
    for (i = 16; i < 64; i++) {
      x = w[i - 15];
      y = w[i - 2];
      x = rotated(x, 7) ^ rotated(x, 18) ^ (x >>> 3);
      y = rotated(y, 17) ^ rotated(y, 19) ^ (y >>> 10);
      w[i] = w[i - 16] + x + w[i - 7] + y;
    }
    var a = squares[0], b = squares[1], c = squares[2], e = squares[4], f = squares[5], g = squares[6];
    var k = squares[3], h = squares[7];
    for (i = 0; i < 64; i++) {
      x = (h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + ((e & f) ^ (~e & g)) + roots[i] + w[i]) | 0;
      y = ((rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (k + x) | 0;
      k = c;
      c = b;
      b = a;
      a = (x + y) | 0;
    }
    return (a + squares[0]) >>> shift;
  }

  // A form submitted too early waits for the solution, which takes a second or two; only then does its button say so. An emailed link needs none.
  form.addEventListener("submit", function (event) {
    if (!isStarted || work.value || (event.submitter && event.submitter.name === "captcha_link")) return;
    event.preventDefault();
    event.stopPropagation();
    if (pressed) return;
    submitter = event.submitter || null;
    pressed = submitter && submitter.matches(".button") ? submitter : button;
    form.classList.add("busy");
    pressed.setAttribute("aria-busy", "true");
    box.textContent = box.textContent || box.dataset.busy;
    if (pressed === button) button.textContent = box.dataset.busy;
  });

  function done() {
    box.textContent = box.dataset.done;
    box.classList.add("done");
    if (!pressed && "goesOn" in box.dataset) setTimeout(send, 400); // the tick is seen first
    if (!pressed) return;
    button.textContent = idle;
    pressed.removeAttribute("aria-busy");
    form.classList.remove("busy");
    if (form.requestSubmit) form.requestSubmit(submitter);
    else form.submit();
  }

  function send() {
    if (!form.classList.contains("busy")) button.click();
  }

  function run() {
    for (var until = Date.now() + 12; Date.now() < until; ) {
      for (var i = 0; i < 200; i++, tried++) {
        if (leadingBits(start + tried) === 0) {
          work.value = tried;
          return done();
        }
      }
    }
    setTimeout(run, 0);
  }

  function begin() {
    isStarted = true;
    if (work.value && leadingBits(start + work.value) === 0) done();
    else run();
  }

  form.elements.captcha_script.value = "y";
  if (box.hidden) box.addEventListener("work", begin, {once: true}); // beside the widget of a provider
  else begin();
})();
