// Why: from the reference, a typical row, to this one, column by column. The bars add up to the margin of the outcome.

const MAX_BARS = 10;

/** The class in question and its rival: the second of two classes, else the decided class and the next best. */
function contest(outcome) {
  if (outcome.p.length === 2) return [1, 0];
  const order = outcome.p.map((_, c) => c).sort((a, b) => outcome.p[b] - outcome.p[a] || a - b);
  return [outcome.decided, order.find((c) => c !== outcome.decided)];
}

const sum = (numbers) => numbers.reduce((so, value) => so + value, 0);

/** What is explained: its value at the typical row, what each control adds, and its value here. */
function explained(outcome) {
  const answer = outcome.answer.contributions;
  const ofScore = (s) => CONTROLS.map((control) => answer[s].values[control.name]);
  if (!HAS_CLASSES) return { base: answer[0].base_value, adds: ofScore(0), total: outcome.prediction };
  const [a, b] = contest(outcome);
  let [base, adds] = [answer[0].base_value, DATA.sigmoid ? ofScore(0) : null];
  if (!DATA.sigmoid) {
    const [mine, rival] = [ofScore(a), ofScore(b)];
    base = answer[a].base_value - answer[b].base_value;
    adds = mine.map((value, i) => (value === null || rival[i] === null ? null : value - rival[i]));
  }
  // exact contributions add up to the log-odds, also where a probability is so near to 0 that its logarithm is lost
  const adding = DATA.method === "shapley" && !adds.includes(null);
  return { base, adds, total: adding ? base + sum(adds) : Math.log(outcome.p[a]) - Math.log(outcome.p[b]), a, b };
}

/** The log-odds of the class in question against its rival. */
const marginOf = (outcome) => explained(outcome).total;

function drawWaterfall(outcome, values) {
  const body = byId("waterfall").tBodies[0];
  const note = byId("waterfall-note");
  body.replaceChildren();
  note.textContent = "";
  byId("waterfall-heading").textContent = "Why";
  if (outcome === null) return;
  const { base, adds, total, a, b } = explained(outcome);
  if (HAS_CLASSES) byId("waterfall-heading").textContent = `Why ${DATA.classes[a]} rather than ${DATA.classes[b]}`;
  if (adds.some((value) => value === null)) {
    note.textContent = "The contributions are not defined for these values.";
    return;
  }
  const lines = linesOf(base, adds, total, values);
  const [low, high] = windowOf(lines);
  const place = (value) => Math.min(100, Math.max(0, (100 * (value - low)) / (high - low || 1)));
  for (const line of lines) body.append(rowFor(line, place));
  const unit = HAS_CLASSES ? "log-odds" : `units of ${DATA.target}`;
  const how = DATA.method === "shapley" ? "exact Shapley values" : "first-order contributions, with the remainder";
  note.textContent = `In ${unit}; ${how} against ${DATA.reference}. Blue adds, orange takes away.`;
}

/** Where things happen: all places that the columns lead through, and 0 only where it is not far from them. */
function windowOf(lines) {
  const reached = lines.flatMap((line) => (line.total ? [line.to] : [line.from, line.to]));
  const [low, high] = [Math.min(...reached), Math.max(...reached)];
  const room = 0.06 * (high - low) || 1;
  const near = Math.max(low, -high, 0) <= (high - low) / 2;
  return near ? [Math.min(0, low - room), Math.max(0, high + room)] : [low - room, high + room];
}

/** The lines from the typical row to this one, the strongest columns first, the weak ones together. */
function linesOf(base, adds, total, values) {
  const scale = Math.abs(base) + Math.abs(total) + sum(adds.map(Math.abs));
  const order = adds.map((_, i) => i).filter((i) => Math.abs(adds[i]) > 1e-12 * scale); // less is rounding
  order.sort((i, j) => Math.abs(adds[j]) - Math.abs(adds[i]) || i - j);
  const parts = order.slice(0, MAX_BARS).map((i) => ({ name: nameOf(i, values[i]), adds: adds[i], column: i }));
  const weak = order.slice(MAX_BARS);
  if (weak.length) {
    const name = `${weak.length} other ${weak.length === 1 ? "column" : "columns"}`;
    parts.push({ name, adds: sum(weak.map((i) => adds[i])) });
  }
  const rest = total - base - sum(adds);
  if (Math.abs(rest) > 1e-9 * scale) parts.push({ name: "together (not first order)", adds: rest });
  let so = base;
  const lines = parts.map((part) => ({ ...part, from: so, to: (so += part.adds) }));
  const ends = { total: true, from: 0 };
  return [
    { ...ends, name: DATA.reference, adds: base, to: base },
    ...lines,
    { ...ends, name: "these values", adds: total, to: total },
  ];
}

function nameOf(i, value) {
  const control = CONTROLS[i];
  return `${control.text} = ${valueText(control, value, 6)}`;
}

/** A value as text; with all its digits unless told otherwise, since a suggested change was confirmed with all. */
function valueText(control, value, digits = 15) {
  if (value === null) return "missing";
  if (!control.levels) return formatNumber(value, digits);
  return value === UNKNOWN ? "not seen in training" : control.levels[value];
}

function rowFor(line, place) {
  const [start, stop] = [place(Math.min(line.from, line.to)), place(Math.max(line.from, line.to))];
  const kind = line.total ? "plain" : line.adds >= 0 ? "for" : "against";
  const bar = makeSvg(
    "svg",
    { viewBox: "0 0 100 10", preserveAspectRatio: "none", class: "bar", "aria-hidden": "true" },
    makeSvg("rect", { x: start, y: 0, width: Math.max(stop - start, 0.3), height: 10, class: kind }),
    ...(place(0) > 0 && place(0) < 100 ? [makeSvg("rect", { x: place(0) - 0.2, y: 0, width: 0.4, height: 10, class: "zero" })] : []),
  );
  const adds = make("td", { "data-adds": String(line.adds) }, signedNumber(line.adds));
  if (!line.total) adds.className = line.adds >= 0 ? "up" : "down";
  if (line.column !== undefined) adds.dataset.column = String(line.column);
  const row = make("tr", {}, make("th", { scope: "row" }, ...breakable(line.name)), adds, make("td", { class: "picture" }, bar));
  if (line.total) row.className = "total";
  return row;
}
