// Broken laws and laws that almost hold, with the rows that break them.

const CARDS_AT_ONCE = 10;
const CARDS_ON_PAPER = 20;

function brokenSection() {
  if (!page.broken.length) {
    const why = lawCount ? "No row breaks any of these laws, as far as is known." : "There are no laws.";
    return section("broken", "Broken and almost-laws", "broken", make("p", { class: "good" }, why));
  }
  const cards = make("div", { class: "cards" });
  const more = make("button", { type: "button", class: "plain" });
  let shown = 0;
  const showMore = (most) => {
    const next = page.broken.slice(shown, shown + most);
    cards.append(...next.map(brokenCard));
    shown += next.length;
    const left = page.broken.length - shown;
    more.textContent = `Show ${Math.min(left, CARDS_AT_ONCE)} more of ${left}`;
    more.hidden = left === 0;
  };
  more.addEventListener("click", () => {
    const first = shown;
    showMore(CARDS_AT_ONCE);
    cards.children[first].focus();
  });
  showMore(CARDS_AT_ONCE);
  window.addEventListener("beforeprint", () => showMore(Math.max(0, CARDS_ON_PAPER - shown)));
  const hint = page.broken.some((each) => each.groups.length)
    ? null
    : make("p", { class: "muted" }, "The rows are not here: make the page with --table to see them.");
  return section("broken", "Broken and almost-laws", "broken", hint, cards, more);
}

function brokenCard(broken) {
  const place = broken.law;
  const head = make("header", {}, badge(laws.status[place]), lawText(laws.text[place], "h3"));
  const more = make("button", { type: "button", class: "link", click: () => showLaw(place) }, "Details");
  return make("article", { class: "card", tabindex: "-1" }, head, make("p", { class: "facts" }, brokenFacts(broken), more), brokenRows(broken));
}

/** The numbers of a broken law that are known. */
function brokenFacts(broken) {
  const place = broken.law;
  const facts = [
    [broken.removals, count(broken.removals), broken.removals === 1 ? "row to remove" : "rows to remove", "removals"],
    [broken.rows, count(broken.rows), "violating rows", "violating"],
    [broken.pairs, count(broken.pairs), "violating pairs", "pairs"],
    [laws.error[place], share(laws.error[place]), "error", "error"],
    [laws.strength[place], share(laws.strength[place]), "strength", "strength"],
  ];
  return facts
    .filter(([value]) => value !== null && value !== undefined)
    .map(([, text, word, term]) => make("span", { class: "fact" }, make("strong", {}, text), ` ${word}`, termButton(term)));
}

/** One table of all groups: what their rows agree on stands once, then each set of values in conflict. */
function brokenRows(broken) {
  if (!broken.groups.length) return null;
  const [first] = broken.groups;
  const shared = first.values.map(([name]) => name);
  const different = first.variants[0].values.map(([name]) => name);
  const names = [...shared, ...different].map((name) => make("th", { scope: "col" }, visible(name)));
  const head = make("tr", {}, names, make("th", { scope: "col", class: "number" }, "rows"), make("th", { scope: "col" }, "where"));
  const table = make("table", { class: "violations" }, make("thead", {}, head), broken.groups.map((each) => violationGroup(each, kindOf(broken.law) === "fd")));
  const hidden = broken.group_count === null ? 0 : broken.group_count - broken.groups.length;
  const more = hidden > 0 && !broken.is_witness ? make("p", { class: "muted" }, `${counted(hidden, "more group")} of rows.`) : null;
  const isSwapped = first.variants[0].is_wrong;
  const about = broken.is_witness ? "Two rows that break it together:" : isSwapped ? "Rows out of order, each with one that it is swapped with:" : null;
  const two = about ? make("p", { class: "muted" }, about) : null;
  return [two, make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Rows that break the law" }, table), more];
}

/** In a group of rows that should agree, values of few rows are the suspicious ones. */
function violationGroup(each, shouldAgree) {
  const span = each.variants.length + (each.more ? 1 : 0);
  const shared = each.values.map(([, value]) => make("td", { rowspan: span }, cellValue(value)));
  const most = Math.max(...each.variants.map((variant) => variant.rows));
  const lines = each.variants.map((variant, number) =>
    make(
      "tr",
      { class: variant.is_wrong || (shouldAgree && 2 * variant.rows < most) ? "minor" : null },
      number ? null : shared,
      variant.values.map(([, value]) => make("td", {}, cellValue(value))),
      make("td", { class: "number" }, count(variant.rows)),
      make("td", { class: "where" }, visible(variant.where)),
    ),
  );
  const width = each.variants[0].values.length + 2;
  if (each.more) lines.push(make("tr", {}, make("td", { colspan: width, class: "muted" }, `and ${counted(each.more, "other variant")}`)));
  return make("tbody", {}, lines);
}

function cellFact(name, value) {
  return make("span", { class: "cell-fact" }, make("span", { class: "muted" }, visible(name)), " ", cellValue(value));
}
