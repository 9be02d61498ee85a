// Which columns determine which: a row for each column that determines, a column for each that is determined.

const HOW_WORDS = { holds: "determines", key: "is a key, and determines", almost: "almost determines", part: "helps to determine" };

function matrixSection() {
  const matrix = page.matrix;
  if (!matrix) return null;
  const names = matrix.columns.map((position) => visible(columnName(position)));
  const cells = new Map(matrix.cells.map((cell) => [cell[0] * names.length + cell[1], cell]));
  const head = make("tr", {}, make("td", {}), names.map((name) => make("th", { scope: "col" }, make("span", {}, name))));
  const rows = names.map((name, left) =>
    make("tr", {}, make("th", { scope: "row" }, name), names.map((_, right) => matrixCell(cells.get(left * names.length + right), left, right, names))),
  );
  const table = make("table", { class: "matrix", role: "grid", "aria-label": "Which columns determine which" }, make("thead", {}, head), make("tbody", {}, rows));
  moveByArrows(table, names.length);
  const left = matrix.left_out ? make("p", { class: "muted" }, `${counted(matrix.left_out, "column")} that take part in fewer laws are left out.`) : null;
  return section("matrix", "Which columns determine which", "matrix", matrixKey(), make("div", { class: "scroll", role: "region", "aria-label": "Matrix" }, table), left);
}

function matrixCell(cell, left, right, names) {
  if (left === right) return make("td", { class: "self", role: "gridcell", tabindex: "-1", "aria-label": names[left] });
  if (!cell) return make("td", { role: "gridcell", tabindex: "-1", "aria-label": `${names[left]} does not determine ${names[right]}` });
  const [, , how, value, place] = cell;
  const words = `${names[left]} ${HOW_WORDS[how]} ${names[right]}${matrixMore(how, value)}`;
  const properties = { class: `how-${how}`, role: "gridcell", tabindex: "-1", "aria-label": words, title: words };
  if (place >= 0) properties["data-law"] = place;
  return make("td", properties, matrixMark(how, value));
}

function matrixMark(how, value) {
  if (how === "holds") return "■";
  if (how === "key") return "K";
  if (how === "almost") return value ? share(value).slice(1, 4) : "≈";
  return String(value);
}

function matrixMore(how, value) {
  if (how === "almost") return value ? `, strength ${share(value)}` : "";
  return how === "part" ? ` with ${counted(value - 1, "other column")}` : "";
}

function matrixKey() {
  const sample = (how, mark, words) => make("span", {}, make("span", { class: `mark how-${how}`, "aria-hidden": "true" }, mark), words);
  return make(
    "p",
    { class: "legend" },
    sample("holds", "■", "determines"),
    sample("key", "K", "is a key"),
    sample("almost", ".93", "almost, strength"),
    sample("part", "2", "only as one of so many columns"),
  );
}

/** One cell of a grid takes part in the order of the Tab key; arrows lead to the others, Enter to the law. */
function moveByArrows(table, width) {
  const cells = Array.from(table.querySelectorAll("tbody td"));
  let active = cells.length > 1 ? 1 : 0;
  cells[active].tabIndex = 0;
  const goTo = (number) => {
    cells[active].tabIndex = -1;
    active = number;
    cells[active].tabIndex = 0;
    cells[active].focus();
  };
  const openLaw = (cell) => {
    if (cell && cell.dataset.law !== undefined) showLaw(Number(cell.dataset.law));
  };
  table.addEventListener("keydown", (event) => {
    const row = Math.floor(active / width);
    const column = active % width;
    const to = {
      ArrowRight: [row, Math.min(width - 1, column + 1)],
      ArrowLeft: [row, Math.max(0, column - 1)],
      ArrowDown: [Math.min(width - 1, row + 1), column],
      ArrowUp: [Math.max(0, row - 1), column],
      Home: [row, 0],
      End: [row, width - 1],
    }[event.key];
    if (to) goTo(to[0] * width + to[1]);
    else if (event.key === "Enter" || event.key === " ") openLaw(cells[active]);
    else return;
    event.preventDefault();
  });
  table.addEventListener("click", (event) => {
    const cell = event.target.closest("tbody td");
    if (!cell) return;
    goTo(cells.indexOf(cell));
    openLaw(cell);
  });
}
