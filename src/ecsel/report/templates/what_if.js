// The live part: controls, outcome, reasons and nearest changes follow one state.

const STRIP_NOTE = HAS_CLASSES
  ? DATA.threshold !== null
    ? `The strip above a slider is blue where the model would decide for ${DATA.classes[1]}, orange where for ${DATA.classes[0]}.`
    : "The strip above a slider is blue where the decision would stay, orange where it would change."
  : "The strip above a slider is blue where the prediction would be at least the value to reach, orange where it would be less.";

const MAX_CHANGES = 4;
const widgets = [];
let state = sampleRow(DATA.start);
let startRow = DATA.start;
const goal = { value: DATA.goal };

function setState(values) {
  state = values;
  widgets.forEach((widget, i) => widget.show(state[i]));
  redraw();
}

function change(i, value) {
  state = withValue(state, i, value);
  widgets[i].show(value);
  redraw();
}

function pickRow(row) {
  startRow = Math.max(0, Math.min(SAMPLE_SIZE - 1, row));
  byId("row").value = String(startRow + 1);
  const of = SAMPLE_SIZE < DATA.sample.of ? `a sample of ${SAMPLE_SIZE} of ${DATA.sample.of} rows` : `of ${SAMPLE_SIZE}`;
  byId("row-note").textContent = `${of}: in the table it is row ${DATA.sample.labels[startRow]}, actually ${DATA.sample.truth[startRow]}`;
  setState(sampleRow(startRow));
}

// ---- controls

function levelWidget(control, i) {
  const select = make("select", { id: `control-${i}` });
  control.levels.forEach((level, k) => select.append(make("option", { value: String(k) }, level)));
  if (control.open) select.append(make("option", { value: String(UNKNOWN) }, "a level not seen in training"));
  if (control.missing) select.append(make("option", { value: "missing" }, "missing"));
  select.addEventListener("change", () => change(i, select.value === "missing" ? null : Number(select.value)));
  const label = make("label", { for: select.id }, ...breakable(control.text));
  const box = make("div", { class: "control" }, make("div", { class: "head" }, label), select);
  return {
    box,
    strip: null,
    show(value) {
      select.value = value === null ? "missing" : String(value);
      box.dataset.value = JSON.stringify(value);
    },
  };
}

function numberWidget(control, i) {
  const field = make("input", { type: "number", step: "any", id: `control-${i}` });
  const slider = make("input", { type: "range", min: "0", max: String(stepsOf(control)), step: "1" });
  slider.setAttribute("aria-label", control.text);
  slider.id = `slider-${i}`;
  const strip = make("div", { class: "strip", "aria-hidden": "true" });
  const note = make("span", { class: "note" });
  const ends = make("div", { class: "ends" }, formatNumber(control.low), note, formatNumber(control.high));
  const head = make("div", { class: "head" }, make("label", { for: field.id }, ...breakable(control.text)), field);
  const box = make("div", { class: "control" }, head, strip, slider, ends);
  const missing = control.missing ? make("input", { type: "checkbox" }) : null;
  let last = control.low;
  if (missing) {
    box.append(make("label", { class: "check" }, missing, "missing"));
    missing.addEventListener("change", () => change(i, missing.checked ? null : last));
  }
  slider.addEventListener("input", () => change(i, valueAt(control, Number(slider.value))));
  field.addEventListener("input", () => {
    if (field.value !== "" && Number.isFinite(field.valueAsNumber)) change(i, field.valueAsNumber);
  });
  field.addEventListener("blur", () => widgets[i].show(state[i]));
  return {
    box,
    strip,
    show(value) {
      box.dataset.value = JSON.stringify(value);
      if (missing) missing.checked = value === null;
      if (value === null) {
        field.value = "";
        slider.setAttribute("aria-valuetext", "missing");
        note.textContent = "missing";
        return;
      }
      last = value;
      if (document.activeElement !== field) field.value = String(value);
      slider.value = String(positionOf(control, value));
      slider.setAttribute("aria-valuetext", formatNumber(value, 6));
      note.textContent = value < control.low || value > control.high ? "outside of the training range" : "";
    },
  };
}

// ---- answers

function drawOutcome(outcome) {
  const [line, list, margin] = [byId("outcome"), byId("probabilities"), byId("margin")];
  if (outcome === null) {
    line.textContent = "The model refuses these values.";
    list.replaceChildren();
    margin.textContent = "";
    delete line.dataset.prediction;
    return;
  }
  if (!HAS_CLASSES) {
    line.textContent = `${DATA.target}: ${formatNumber(outcome.prediction, 6)}`;
    line.dataset.prediction = String(outcome.prediction);
    const gap = outcome.prediction - goal.value;
    margin.dataset.margin = String(gap);
    margin.textContent = `${formatNumber(Math.abs(gap))} ${gap >= 0 ? "above" : "below"} the value to reach.`;
    return;
  }
  line.textContent = DATA.classes[outcome.decided];
  line.dataset.decided = String(outcome.decided);
  if (list.children.length !== outcome.p.length) list.replaceChildren(...DATA.classes.map(probabilityLine));
  outcome.p.forEach((p, c) => {
    const item = list.children[c];
    item.dataset.probability = String(p);
    item.querySelector(".figure").textContent = percent(p);
    const bar = item.querySelector("rect");
    bar.setAttribute("width", String(100 * p));
    // the colours of the strips: of two classes each has its own, of more the decision stands out
    const isDecided = c === outcome.decided;
    bar.setAttribute("class", DATA.threshold !== null ? (c === 1 ? "for" : "against") : isDecided ? "for" : "plain");
  });
  const [a, b] = contest(outcome);
  const needed = DATA.threshold === null ? 0 : Math.log(DATA.threshold) - Math.log1p(-DATA.threshold);
  const lead = marginOf(outcome) - needed;
  margin.dataset.margin = String(lead);
  margin.textContent =
    DATA.threshold === null
      ? `Margin over ${DATA.classes[b]}: ${formatNumber(lead)} in log-odds.`
      : `Margin: ${formatNumber(Math.abs(lead))} in log-odds ${lead >= 0 ? "above" : "below"} the threshold of ${formatNumber(DATA.threshold)}.`;
}

function probabilityLine(label) {
  const rect = makeSvg("rect", { x: 0, y: 0, width: 0, height: 10, class: "for" });
  const box = { viewBox: "0 0 100 10", preserveAspectRatio: "none", class: "bar", "aria-hidden": "true" };
  return make("li", {}, make("span", {}, label), makeSvg("svg", box, rect), make("span", { class: "figure" }));
}

function drawStrip(strip, points) {
  if (!strip) return;
  const colour = ({ lead }) => {
    if (lead === null) return "transparent";
    const name = lead >= 0 ? "--blue" : "--orange";
    return `color-mix(in srgb, var(${name}) ${Math.round(25 + 75 * Math.abs(lead))}%, transparent)`;
  };
  // hard edges, so that the change of the decision is seen where it is
  const stops = points.map((p, k) => `${colour(p)} ${(100 * k) / points.length}% ${(100 * (k + 1)) / points.length}%`);
  strip.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
}

function drawChanges(outcome) {
  const ask = askerOf(state);
  const reference = { decided: outcome === null ? 0 : outcome.decided, goal: goal.value };
  reference.side = sideOf(outcome, reference);
  const found = [];
  CONTROLS.forEach((control, i) => {
    const points = control.levels ? null : scan(ask, i, reference);
    if (points) drawStrip(widgets[i].strip, points);
    if (control.fixed || outcome === null) return;
    found.push(points ? nearestNumber(ask, i, state[i], points, reference) : nearestLevel(ask, i, state[i], reference));
  });
  const nearest = found.filter(Boolean).sort((a, b) => a.distance - b.distance || a.i - b.i);
  const items = nearest.slice(0, MAX_CHANGES).map((each) => changeLine(each, ask(each.i, each.value)));
  if (!items.length) items.push(make("li", {}, "No change of a single column within its training range would do it."));
  byId("changes").replaceChildren(...items);
}

function changeLine({ i, value, distance }, outcome) {
  const control = CONTROLS[i];
  const result = HAS_CLASSES
    ? `${DATA.classes[outcome.decided]} (${percent(outcome.p[outcome.decided])})`
    : formatNumber(outcome.prediction, 6);
  const from = valueText(control, state[i]);
  const verb = HAS_CLASSES ? "predicts" : "gives";
  const text = `${control.text}: ${valueText(control, value)} instead of ${from} ${verb} ${result}; distance ${formatNumber(distance, 2)}`;
  const apply = make("button", { type: "button", "aria-label": `Apply: ${text}` }, "Apply");
  apply.addEventListener("click", () => change(i, value));
  const item = make("li", {}, make("span", {}, text), apply);
  item.dataset.column = String(i);
  item.dataset.value = JSON.stringify(value);
  return item;
}

// ---- the address, written when the hand rests: browsers allow few changes a second

let writing = 0;

function writeAddress() {
  const fragment = toFragment(state);
  byId("link").value = location.href.split("#")[0] + fragment;
  clearTimeout(writing);
  writing = setTimeout(() => {
    const atStart = JSON.stringify(state) === JSON.stringify(sampleRow(startRow));
    if (!atStart || location.hash.startsWith(PREFIX)) history.replaceState(null, "", fragment);
  }, 400);
}

const redraw = oncePerFrame(() => {
  const outcome = outcomeFrom(MODEL.explain(rowOf(state)));
  drawOutcome(outcome);
  drawWaterfall(outcome, state);
  drawChanges(outcome);
  writeAddress();
  byId("live").dataset.drawn = JSON.stringify(state);
});

function readAddress() {
  const values = fromFragment(location.hash);
  if (values === null) return false;
  setState(values);
  byId("what-if").scrollIntoView();
  return true;
}

function startWhatIf() {
  byId("live").hidden = false;
  byId("strip-note").textContent = STRIP_NOTE;
  CONTROLS.forEach((control, i) => {
    const widget = control.levels ? levelWidget(control, i) : numberWidget(control, i);
    widgets.push(widget);
    byId("controls").append(widget.box);
  });
  if (!CONTROLS.length) byId("controls").append("The equation is a constant; no column changes it.");
  byId("row").max = String(SAMPLE_SIZE);
  byId("row").addEventListener("change", () => pickRow((byId("row").valueAsNumber || 1) - 1));
  byId("previous-row").addEventListener("click", () => pickRow(startRow - 1));
  byId("next-row").addEventListener("click", () => pickRow(startRow + 1));
  byId("reset").addEventListener("click", () => setState(sampleRow(startRow)));
  byId("copy").addEventListener("click", async () => {
    byId("link").select();
    try {
      await navigator.clipboard.writeText(byId("link").value);
      byId("copy").textContent = "Copied";
    } catch {
      byId("copy").textContent = "Press Ctrl+C"; // the link is selected
    }
  });
  if (!HAS_CLASSES) {
    byId("goal").value = String(goal.value);
    byId("goal").addEventListener("input", () => {
      if (Number.isFinite(byId("goal").valueAsNumber)) goal.value = byId("goal").valueAsNumber;
      redraw();
    });
  }
  for (const button of document.querySelectorAll("button[data-row]")) {
    button.addEventListener("click", () => {
      pickRow(Number(button.dataset.row));
      byId("what-if").scrollIntoView();
    });
  }
  pickRow(DATA.start);
  readAddress();
  addEventListener("hashchange", readAddress);
}

startWhatIf();
