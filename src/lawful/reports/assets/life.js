// The life of a maintained state: its rows and laws, batch by batch.

const CURVE = { width: 640, height: 120, padding: 6 };

function lifeSection() {
  const life = page.life;
  if (!life) return null;
  const columns = [
    { name: "version", number: true },
    { name: "time" },
    { name: "rows", number: true },
    { name: "inserted", number: true },
    { name: "deleted", number: true },
    { name: "laws came", number: true },
    { name: "laws went", number: true },
    { name: "batch" },
  ];
  const lines = life.batches.map((entry) => [
    count(entry.version),
    visible(entry.time ?? ""),
    count(entry.rows),
    count(entry.inserted),
    count(entry.deleted),
    count(entry.added),
    count(entry.removed),
    make("bdi", { class: "batch-id" }, visible(entry.batch ?? "")),
  ]);
  const more = life.more_batches ? make("p", { class: "muted" }, `${counted(life.more_batches, "earlier batch")} not shown.`) : null;
  const about = make("p", { class: "muted" }, `${visible(life.folder)}: version ${count(life.version)}, ${count(Math.ceil(life.bytes / 1000))} kB on disk.`);
  const curves =
    life.batches.length > 1
      ? make(
          "div",
          { class: "curves" },
          curveFigure("Rows after each batch", life.batches.map((entry) => entry.rows)),
          curveFigure("Laws that came and went", life.batches.map((entry) => entry.added), life.batches.map((entry) => entry.removed)),
        )
      : null;
  const batches = lines.length ? dataTable("Batches", columns, lines.reverse()) : make("p", {}, "No batch was applied yet.");
  return section("life", "The life of the laws", "batch", about, curves, lifeOfLaws(life), batches, more);
}

/** Laws that came or went, where the state keeps their lives. */
function lifeOfLaws(life) {
  if (!life.laws.length) return null;
  const columns = [{ name: "law" }, { name: "now" }, { name: "since version", number: true }, { name: "what happened" }];
  const lines = life.laws.map((each) => [lawText(each.law), visible(each.now), count(each.since), visible(each.story)]);
  const more = life.more_laws ? make("p", { class: "muted" }, `${counted(life.more_laws, "law")} more.`) : null;
  return [make("h3", {}, "Laws that came and went"), make("div", { class: "lives" }, dataTable("Laws that came and went", columns, lines)), more, make("h3", {}, "Batches")];
}

function curveFigure(title, values, others = null) {
  const most = Math.max(1, ...values, ...(others ?? []));
  const step = (CURVE.width - 2 * CURVE.padding) / Math.max(1, values.length - 1);
  const y = (value) => CURVE.height - CURVE.padding - (value / most) * (CURVE.height - 2 * CURVE.padding);
  const path = (some) => some.map((value, place) => `${place ? "L" : "M"}${(CURVE.padding + place * step).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  const picture = draw("svg", { viewBox: `0 0 ${CURVE.width} ${CURVE.height}`, role: "img", "aria-label": `${title}: at most ${count(most)}`, preserveAspectRatio: "none" });
  picture.append(draw("rect", { class: "plot-back", x: 0.5, y: 0.5, width: CURVE.width - 1, height: CURVE.height - 1 }));
  picture.append(draw("path", { class: "curve", d: path(values) }));
  if (others) picture.append(draw("path", { class: "curve gone", d: path(others) }));
  const key = others ? make("span", { class: "legend" }, make("span", { class: "line-came" }, "came"), make("span", { class: "line-went" }, "went (dashed)")) : null;
  return make("figure", {}, make("figcaption", {}, `${title}, at most ${count(most)} `, key), picture);
}
