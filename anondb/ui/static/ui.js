"use strict";
// Files are dropped onto the field that picks them: <div class="drop"><input type="file"></div>.
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    const place = event.target.closest && event.target.closest(".drop");
    if (!place || !event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    place.classList.toggle("over", kind === "dragover");
    if (kind === "drop") place.querySelector("input[type=file]").files = event.dataTransfer.files;
  });
}
