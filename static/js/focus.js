// What went wrong is read first, also where the browser knows autofocus only on fields.
(function () {
  var summary = document.getElementById("summary");
  if (summary) summary.focus();
})();
