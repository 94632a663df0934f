"use strict";
// Tables sort by the column that is pressed: numbers by value, words by the alphabet.
for (const table of document.querySelectorAll("table.sorts")) {
  table.tHead.addEventListener("click", (event) => {
    const head = event.target.closest("th");
    if (!head) return;
    const rising = head.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", rising ? "ascending" : "descending");
    const key = (row) => row.cells[head.cellIndex].textContent.replaceAll("\u2009", "");
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      const [m, n] = [parseFloat(x), parseFloat(y)];
      const order = isNaN(m) || isNaN(n) ? x.localeCompare(y) : m - n;
      return rising ? order : -order;
    });
    table.tBodies[0].append(...rows);
  });
}
// Markers of curves say their values; without scripts the browser shows their titles.
const tip = document.getElementById("tip");
for (const hint of document.querySelectorAll(".hint")) {
  const text = hint.querySelector("title").textContent;
  hint.setAttribute("aria-label", text);
  hint.replaceChildren();
  const show = () => {
    const box = hint.getBoundingClientRect();
    tip.textContent = text;
    tip.hidden = false;
    const left = Math.min(box.right + 6, innerWidth - tip.offsetWidth - 6);
    const above = box.top - tip.offsetHeight - 6;
    tip.style.left = Math.max(6, left) + "px";
    tip.style.top = (above > 0 ? above : box.bottom + 6) + "px";
  };
  const hide = () => { tip.hidden = true; };
  hint.addEventListener("pointerenter", show);
  hint.addEventListener("focus", show);
  hint.addEventListener("pointerleave", hide);
  hint.addEventListener("blur", hide);
}
