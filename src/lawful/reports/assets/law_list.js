// A list of any length: only the rows that are in sight are in the page.

const ROWS_BEYOND = 12;

/**
 * A grid whose rows are made when they come into sight.
 * `columns` are {key, name, term, number, cell(place)}; `open` is called with the place of a law that is chosen.
 */
class VirtualGrid {
  constructor(label, columns, open, sortBy) {
    this.columns = columns;
    this.open = open;
    this.places = new Int32Array(0);
    this.active = 0;
    this.pool = new Map();
    this.heads = columns.map((column) => this.#head(column, sortBy));
    const head = make("div", { class: "grid-row grid-head", role: "row", "aria-rowindex": "1" }, this.heads);
    this.body = make("div", { class: "grid-body", role: "rowgroup" });
    this.box = make("div", { class: "grid-scroll", role: "presentation" }, make("div", { role: "rowgroup", class: "grid-top" }, head), this.body);
    this.element = make(
      "div",
      { class: "grid", role: "grid", tabindex: "0", "aria-label": label, "aria-colcount": columns.length },
      this.box,
    );
    this.element.style.setProperty("--columns", columns.map((column) => column.width).join(" "));
    this.box.addEventListener("scroll", () => this.#render(), { passive: true });
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.element.addEventListener("focus", () => this.#markActive());
    this.body.addEventListener("click", (event) => this.#click(event));
    window.addEventListener("resize", () => this.#resized());
  }

  #head(column, sortBy) {
    const sort = make("button", { type: "button", class: "sort", click: () => sortBy(column.key) }, column.name, make("span", { class: "arrow", "aria-hidden": "true" }));
    return make("div", { role: "columnheader", class: `cell-${column.key} ${column.number ? "number" : ""}` }, sort, column.term ? termButton(column.term) : null);
  }

  /** Say by which column the laws are sorted. */
  sortedBy(key, isFalling) {
    this.columns.forEach((column, number) => {
      const sorted = column.key === key ? (isFalling ? "descending" : "ascending") : "none";
      this.heads[number].setAttribute("aria-sort", sorted);
      this.heads[number].querySelector(".arrow").textContent = column.key === key ? (isFalling ? "↓" : "↑") : "";
    });
  }

  /** Show other laws, from the beginning. */
  show(places) {
    this.places = places;
    this.active = 0;
    this.box.scrollTop = 0;
    this.element.setAttribute("aria-rowcount", places.length + 1);
    this.#resized();
  }

  #resized() {
    this.height = parseFloat(getComputedStyle(this.element).getPropertyValue("--row-height")) || 36;
    this.body.style.height = `${this.places.length * this.height}px`;
    for (const row of this.pool.values()) row.remove();
    this.pool.clear();
    this.#render();
  }

  #render() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.height) - ROWS_BEYOND);
    const last = Math.min(this.places.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / this.height) + ROWS_BEYOND);
    for (const [number, row] of this.pool) {
      if (number < first || number >= last) {
        row.remove();
        this.pool.delete(number);
      }
    }
    const fresh = document.createDocumentFragment();
    for (let number = first; number < last; number += 1) {
      if (!this.pool.has(number)) fresh.append(this.#row(number));
    }
    this.body.append(fresh);
    this.#markActive();
  }

  #row(number) {
    const place = this.places[number];
    const cells = this.columns.map((column) =>
      make("div", { role: "gridcell", class: `cell-${column.key} ${column.number ? "number" : ""}` }, column.cell(place)),
    );
    const row = make("div", { class: "grid-row", role: "row", id: `law-row-${number}`, "aria-rowindex": number + 2 }, cells);
    row.style.transform = `translateY(${number * this.height}px)`;
    row.dataset.number = String(number);
    if (follows[place]) row.classList.add("follows");
    this.pool.set(number, row);
    return row;
  }

  #markActive() {
    if (!this.places.length) {
      this.element.removeAttribute("aria-activedescendant");
      return;
    }
    for (const [number, row] of this.pool) row.classList.toggle("active", number === this.active);
    if (this.pool.has(this.active)) this.element.setAttribute("aria-activedescendant", `law-row-${this.active}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  #click(event) {
    const row = event.target.closest(".grid-row");
    if (!row) return;
    this.active = Number(row.dataset.number);
    this.#markActive();
    this.open(this.places[this.active]);
  }

  #key(event) {
    if (event.target !== this.element || !this.places.length) return;
    const page = Math.max(1, Math.floor(this.box.clientHeight / this.height) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in steps) this.#goTo(this.active + steps[event.key]);
    else if (event.key === "Enter" || event.key === " ") this.open(this.places[this.active]);
    else return;
    event.preventDefault();
  }

  #goTo(number) {
    this.active = Math.min(this.places.length - 1, Math.max(0, number));
    const top = this.active * this.height;
    const head = this.box.firstElementChild.offsetHeight;
    const room = this.box.clientHeight - head;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + this.height > this.box.scrollTop + room) this.box.scrollTop = top + this.height - room;
    this.#render();
  }
}
