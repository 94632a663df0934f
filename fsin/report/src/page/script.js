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
    // Groups keep their rows: they sort by the first one.
    const groups = table.tBodies.length > 1;
    const items = groups ? [...table.tBodies].filter((body) => body.rows.length) : [...table.tBodies[0].rows];
    const first = (item) => groups ? item.rows[0] : item;
    items.sort((one, other) => {
      const [a, b] = [first(one), first(other)];
      const [x, y] = [key(a), key(b)];
      const [m, n] = [parseFloat(x), parseFloat(y)];
      const order = isNaN(m) || isNaN(n) ? x.localeCompare(y) : m - n;
      return rising ? order : -order;
    });
    (groups ? table : table.tBodies[0]).append(...items);
  });
}
// The runs of a point are shown and hidden; without scripts they are there.
for (const fold of document.querySelectorAll(".fold")) {
  const toggle = () => {
    const open = fold.getAttribute("aria-expanded") !== "true";
    fold.setAttribute("aria-expanded", open);
    for (const part of fold.closest("tbody").querySelectorAll(".part")) part.hidden = !open;
  };
  fold.addEventListener("click", toggle);
  toggle();
}
// What the pointer rests on says its values.
const tip = document.getElementById("tip");
const say = (element, text) => {
  const box = element.getBoundingClientRect();
  tip.textContent = text;
  tip.hidden = false;
  const left = Math.min(box.right + 6, innerWidth - tip.offsetWidth - 6);
  const above = box.top - tip.offsetHeight - 6;
  tip.style.left = Math.max(6, left) + "px";
  tip.style.top = (above > 0 ? above : box.bottom + 6) + "px";
};
const hush = () => { tip.hidden = true; };
// Markers of curves; without scripts the browser shows their titles.
for (const hint of document.querySelectorAll(".hint")) {
  const text = hint.querySelector("title").textContent;
  hint.setAttribute("aria-label", text);
  hint.replaceChildren();
  const show = () => say(hint, text);
  hint.addEventListener("pointerenter", show);
  hint.addEventListener("focus", show);
  hint.addEventListener("pointerleave", hush);
  hint.addEventListener("blur", hush);
}
// Heat maps show the point that is picked.
for (const section of document.querySelectorAll(".links")) {
  const held = section.querySelector(".loads-of-points");
  const { top: most, maps, points } = JSON.parse(held.textContent);
  const lists = [...section.querySelectorAll("select")];
  const boxes = [...section.querySelectorAll(".map")];
  const bars = boxes.map((box) => [...box.querySelectorAll(".loads rect")]);
  let point = points[0];
  const show = () => {
    const picked = lists.map((list) => list.value);
    point = points.find(({ values }) => values.every((value, at) => value === picked[at]));
    section.querySelector(".absent").hidden = Boolean(point);
    boxes.forEach((box, at) => { box.hidden = !point || at !== point.map; });
    if (!point) return;
    const step = (load) => Math.min(20, Math.round(load / 1000 / most * 20));
    bars[point.map].forEach((bar, at) => bar.setAttribute("class", "h" + step(point.loads[at])));
    const { names, classes } = maps[point.map];
    [...boxes[point.map].querySelector("tbody").rows].forEach((row, kind) => {
      let [sum, largest, place, count] = [0, -1, 0, 0];
      classes.forEach((other, at) => {
        if (other !== kind) return;
        sum += point.loads[at];
        count += 1;
        if (point.loads[at] > largest) [largest, place] = [point.loads[at], at];
      });
      const words = [Math.round(sum / count) / 1000, largest / 1000, names[place]];
      words.forEach((word, at) => { row.cells[at + 2].textContent = word; });
    });
  };
  for (const list of lists) list.addEventListener("change", show);
  const about = (event) => {
    const bar = event.target.closest(".loads rect");
    const [map, at] = [boxes.indexOf(event.currentTarget), bar ? bars[boxes.indexOf(event.currentTarget)].indexOf(bar) : -1];
    if (at < 0) return hush();
    say(bar, maps[map].names[at] + "\n" + point.loads[at] / 1000 + " phits/cycle");
  };
  for (const box of boxes) {
    box.addEventListener("pointerover", about);
    box.addEventListener("pointerleave", hush);
  }
}
