// Show the copy buttons, which are hidden without JavaScript. The clipboard API needs https; the old command does not.
document.querySelectorAll("[data-copies]").forEach(function (button) {
  var label = button.lastElementChild, text = label.textContent, status = document.createElement("span");
  status.className = "unseen";
  status.setAttribute("role", "status");
  button.after(status);

  function copyOld(content) {
    var area = document.createElement("textarea");
    area.value = content;
    document.body.append(area);
    area.select();
    var done = document.execCommand("copy");
    area.remove();
    button.focus();
    return done ? Promise.resolve() : Promise.reject();
  }

  button.hidden = false;
  button.addEventListener("click", function () {
    var source = document.getElementById(button.dataset.copies), rows = source.querySelectorAll("code");
    var content = rows.length ? Array.from(rows, function (row) { return row.textContent; }).join("\n")
      : (source.value || source.textContent).replace(/\s/g, "");
    (navigator.clipboard ? navigator.clipboard.writeText(content).catch(function () { return copyOld(content); })
      : copyOld(content)).then(function () {
      label.textContent = status.textContent = button.dataset.copied;
      setTimeout(function () { label.textContent = text; status.textContent = ""; }, 3000);
    }, function () {});
  });
});
