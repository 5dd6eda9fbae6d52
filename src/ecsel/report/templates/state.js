// A state is one value per control: a number, null (missing), or the position of a level (−2: not seen in training).

const CONTROLS = DATA.controls;
const UNKNOWN = -2;
const UNSEEN = Symbol("a level that the model never saw");

/** The rows of the sample, column by column. */
const SAMPLE = DATA.sample.columns.map((column) => {
  if (column.levels) return column.levels.map((code) => (code === -1 ? null : code));
  if (column.numbers) return column.numbers;
  const bytes = Uint8Array.from(atob(column.doubles), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Array.from({ length: bytes.length / 8 }, (_, i) => {
    const value = view.getFloat64(8 * i, true);
    return Number.isNaN(value) ? null : value;
  });
});
const SAMPLE_SIZE = DATA.sample.labels.length;

const sampleRow = (i) => SAMPLE.map((column) => column[i]);

/** The raw value of one control, as the model takes it. */
function rawValue(i, value) {
  if (value === null || !CONTROLS[i].levels) return value;
  return value === UNKNOWN ? UNSEEN : MODEL.levels[i][value];
}

/** The row that the model takes: own properties only, whatever the columns are called. */
const rowOf = (values) => Object.fromEntries(values.map((value, i) => [CONTROLS[i].name, rawValue(i, value)]));

const withValue = (values, i, value) => values.map((old, j) => (i === j ? value : old));

const PREFIX = "#what-if=";

const toFragment = (values) => PREFIX + encodeURIComponent(JSON.stringify(values));

/** Read a state from the address; null unless every value is one that its control can have. */
function fromFragment(fragment) {
  if (!fragment.startsWith(PREFIX)) return null;
  let values;
  try {
    values = JSON.parse(decodeURIComponent(fragment.slice(PREFIX.length)));
  } catch {
    return null;
  }
  const fits = (value, i) => {
    const control = CONTROLS[i];
    if (value === null) return control.missing;
    if (!control.levels) return Number.isFinite(value);
    if (value === UNKNOWN) return control.open;
    return Number.isInteger(value) && value >= 0 && value < control.levels.length;
  };
  return Array.isArray(values) && values.length === CONTROLS.length && values.every(fits) ? values : null;
}

// A slider has positions 0 to STEPS, even in log(scale·x + offset) or in x itself; whole numbers, if few, one each.
const STEPS = 200;

function stepsOf(control) {
  return control.whole && control.high - control.low <= STEPS ? Math.round(control.high - control.low) : STEPS;
}

const isEven = (control) => control.scale === 0 || stepsOf(control) < STEPS;

function exactAt(control, position) {
  const share = position / stepsOf(control);
  if (share <= 0) return control.low;
  if (share >= 1) return control.high;
  if (isEven(control)) return control.low + share * (control.high - control.low);
  const image = (x) => Math.log(control.scale * x + control.offset);
  const log = image(control.low) + share * (image(control.high) - image(control.low));
  return (Math.exp(log) - control.offset) / control.scale;
}

/** The value at a position of the slider, rounded to what a step can tell apart. */
function valueAt(control, position) {
  const steps = stepsOf(control);
  if (position <= 0) return control.low;
  if (position >= steps) return control.high;
  const exact = exactAt(control, position);
  if (control.whole) return Math.round(exact);
  const step = exactAt(control, position + 0.5) - exactAt(control, position - 0.5);
  return roundedTo(exact, 10 ** Math.floor(Math.log10(Math.abs(step))));
}

function roundedTo(value, unit) {
  return unit > 0 && Number.isFinite(unit) ? Number((Math.round(value / unit) * unit).toPrecision(12)) : value;
}

function positionOf(control, value) {
  const steps = stepsOf(control);
  if (value <= control.low) return 0;
  if (value >= control.high) return steps;
  if (isEven(control)) return Math.round((steps * (value - control.low)) / (control.high - control.low));
  const image = (x) => Math.log(control.scale * x + control.offset);
  return Math.round((steps * (image(value) - image(control.low))) / (image(control.high) - image(control.low)));
}
