// Show a chosen picture before it is saved, and send it small: phones take larger ones than the form takes.
document.querySelectorAll("[data-picture]").forEach(function (field) {
  field.addEventListener("change", function () {
    var file = field.files[0];
    if (!file || !window.createImageBitmap) return;
    createImageBitmap(file).then(function (image) {
      var side = Math.min(image.width, image.height), size = Math.min(side, 768), shown = document.createElement("canvas");
      shown.width = shown.height = size;
      shown.getContext("2d").drawImage(image, (image.width - side) / 2, (image.height - side) / 2, side, side, 0, 0, size, size);
      document.querySelector(".face--large").replaceChildren(shown);
      if (file.size <= field.dataset.picture) return;
      shown.toBlob(function (content) {
        var files = new DataTransfer();
        files.items.add(new File([content], "picture.jpg", { type: "image/jpeg" }));
        field.files = files.files;
      }, "image/jpeg", 0.92);
    }, function () {}); // the server says what is wrong with it
  });
});
