// All laws: searched, filtered by kind, by how they fare and by column, sorted by any of their numbers.

const PRINTED = 300;
const NUMBERS = ["strength", "interest", "tested", "violating", "error"];

/** Places of laws in an order: numbers fall, with unknown ones last; texts and words rise. */
function sortedPlaces(key, isFalling) {
  const places = Int32Array.from({ length: lawCount }, (_, place) => place);
  if (key === "text") {
    places.sort((a, b) => (laws.text[a] < laws.text[b] ? -1 : laws.text[a] > laws.text[b] ? 1 : a - b));
    return isFalling ? places.reverse() : places;
  }
  const unknown = isFalling ? -Infinity : Infinity;
  const values = Float64Array.from(laws[key], (value) => (value === null ? unknown : value));
  return places.sort(isFalling ? (a, b) => values[b] - values[a] || a - b : (a, b) => values[a] - values[b] || a - b);
}

class LawList {
  constructor() {
    this.texts = laws.text.map((text) => text.toLowerCase());
    this.kinds = new Set(laws.kinds.map((_, number) => number));
    this.statuses = new Set([BROKEN, ALMOST, HOLDS, UNCHECKED]);
    this.words = [];
    this.column = -1;
    this.withFollowing = laws.folded.length === 0;
    this.orders = new Map();
    this.key = "status";
    this.isFalling = false;
  }

  /** The part of the page. */
  section() {
    if (!lawCount) return null;
    const known = NUMBERS.filter((key) => laws[key].some((value) => value !== null));
    this.grid = new VirtualGrid("Laws", lawColumns(known), showLaw, (key) => this.sortBy(key));
    this.told = make("p", { class: "muted told", role: "status" });
    this.printed = make("div", { class: "only-print" });
    window.addEventListener("beforeprint", () => this.#print());
    window.addEventListener("afterprint", () => this.printed.replaceChildren());
    const found = section("laws", "Laws", "law", this.#controls(), this.told, this.grid.element, this.printed);
    this.grid.sortedBy(this.key, this.isFalling);
    return found;
  }

  /** Show what is asked for; the page must have the list by now. */
  update() {
    const places = this.#order().filter((place) => this.#fits(place));
    this.grid.show(places);
    this.told.textContent = places.length === lawCount ? counted(lawCount, "law") : `${count(places.length)} of ${counted(lawCount, "law")}`;
  }

  #fits(place) {
    if (!this.kinds.has(laws.kind[place]) || !this.statuses.has(laws.status[place])) return false;
    if (follows[place] && !this.withFollowing) return false;
    if (this.column >= 0 && !laws.columns[place].includes(this.column)) return false;
    const text = this.texts[place];
    return this.words.every((word) => text.includes(word));
  }

  #order() {
    const name = `${this.key} ${this.isFalling}`;
    if (!this.orders.has(name)) this.orders.set(name, sortedPlaces(this.key, this.isFalling));
    return this.orders.get(name);
  }

  sortBy(key) {
    const falls = NUMBERS.includes(key);
    this.isFalling = key === this.key ? !this.isFalling : falls;
    this.key = key;
    this.grid.sortedBy(this.key, this.isFalling);
    this.update();
  }

  chooseColumn(position) {
    this.column = position;
    this.choice.value = String(position);
    this.update();
    document.getElementById("laws").scrollIntoView();
    this.choice.focus({ preventScroll: true });
  }

  #controls() {
    this.search = make("input", { type: "search", id: "search", placeholder: "zip city", autocomplete: "off", spellcheck: "false", input: () => this.#typed() });
    this.choice = make("select", { id: "column-choice", change: () => this.#chosen() }, make("option", { value: "-1" }, "any column"));
    page.table.columns.forEach((column, position) => this.choice.append(make("option", { value: position }, visible(column.name))));
    const kinds = laws.kinds.length > 1 ? chips("Kinds", laws.kinds.map((kind, number) => [number, kindWord(kind, false)]), this.kinds, () => this.update()) : null;
    const there = [BROKEN, ALMOST, HOLDS, UNCHECKED].filter((status) => laws.status.includes(status));
    const statuses = there.length > 1 ? chips("How they fare", there.map((status) => [status, STATUS_WORDS[status]]), this.statuses, () => this.update()) : null;
    const box = make("input", { type: "checkbox", id: "following", change: () => this.#toggled() });
    const following = laws.folded.length ? make("span", { class: "check" }, box, make("label", { for: "following" }, `show ${count(laws.folded.length)} that follow from others`), termButton("folded")) : null;
    return make(
      "div",
      { class: "controls", role: "search", "aria-label": "Laws" },
      make("div", { class: "field grow" }, make("label", { for: "search" }, "Search"), this.search, make("kbd", { title: "Press / to search" }, "/")),
      make("div", { class: "field" }, make("label", { for: "column-choice" }, "With"), this.choice),
      kinds,
      statuses,
      following,
    );
  }

  #typed() {
    this.words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.update();
  }

  #chosen() {
    this.column = Number(this.choice.value);
    this.update();
  }

  #toggled() {
    this.withFollowing = document.getElementById("following").checked;
    this.update();
  }

  /** Paper has no scrolling: the first laws as a plain table. */
  #print() {
    const places = this.grid.places.slice(0, PRINTED);
    const columns = this.grid.columns.map((column) => ({ name: column.name, number: column.number }));
    const rows = Array.from(places, (place) => this.grid.columns.map((column) => column.cell(place)));
    const more = this.grid.places.length - places.length;
    this.printed.replaceChildren(dataTable("Laws", columns, rows), more ? make("p", {}, `${counted(more, "law")} more in the file.`) : "");
  }
}

/** Buttons that are on or off; with all of them off nothing would be shown, so the last one turns all on. */
function chips(label, choices, chosen, changed) {
  const buttons = choices.map(([value, word]) => {
    const button = make("button", { type: "button", class: "chip", "aria-pressed": "true" }, word);
    button.addEventListener("click", () => {
      const isOnly = choices.every(([other]) => chosen.has(other));
      if (isOnly) {
        chosen.clear();
        chosen.add(value);
      } else if (chosen.has(value)) chosen.delete(value);
      else chosen.add(value);
      if (!choices.some(([other]) => chosen.has(other))) for (const [other] of choices) chosen.add(other);
      show();
      changed();
    });
    return button;
  });
  const show = () => choices.forEach(([value], number) => buttons[number].setAttribute("aria-pressed", String(chosen.has(value))));
  return make("div", { class: "chips", role: "group", "aria-label": label }, buttons);
}

/** The columns of the list: those numbers that some law has. */
function lawColumns(known) {
  const numbers = {
    strength: { name: "strength", width: "5.8rem", text: (place) => share(laws.strength[place]) },
    interest: { name: "interest", width: "5.6rem", text: (place) => share(laws.interest[place]) },
    tested: { name: "tested", width: "6.4rem", text: (place) => count(laws.tested[place]) },
    violating: { name: "violating", width: "6.2rem", text: (place) => count(laws.violating[place]) },
    error: { name: "error", width: "4.6rem", text: (place) => share(laws.error[place]) },
  };
  const shown = known.map((key) => ({ key, term: key, number: true, cell: numbers[key].text, ...numbers[key] }));
  return [
    { key: "status", name: "status", width: "6.6rem", cell: (place) => badge(laws.status[place]) },
    { key: "text", name: "law", width: "minmax(12rem, 1fr)", cell: (place) => lawText(laws.text[place], "span") },
    ...shown,
  ];
}

const lawList = new LawList();
