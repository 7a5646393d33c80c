// Draws a figure as SVG text: the one drawer of the report's pages, of the documents and of the playground. It knows no page: a figure and
// a view go in, a text comes out. `cnsimMarks` are the shapes of marks. Colours are variables of the page, so a change of theme draws nothing anew.
const cnsimChart = (() => {
  'use strict';
  const DASHES = ['', '7 4', '2 3', '9 3 2 3'];
  const LETTER = 6.6; // Width of a letter.

  // ---- Elements
  const esc = (t) => String(t).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
  const num = (v) => String(Math.round(v * 10) / 10);
  const kind = (name) => (name ? ` class="${name}"` : '');
  const text = (x, y, t, name) => `<text${kind(name)} x="${num(x)}" y="${num(y)}">${esc(t)}</text>`;
  const turned = (x, y, by, t, name) => `<text${kind(name)} transform="translate(${num(x)} ${num(y)}) rotate(${by})">${esc(t)}</text>`;
  const path = (name, d, more = '') => `<path${kind(name)} d="${d}"${more}/>`;
  const rect = (name, x, y, w, h, more = '') => `<rect${kind(name)} x="${num(x)}" y="${num(y)}" width="${num(w)}" height="${num(h)}"${more}/>`;
  const mark = (slot, x, y, k) => path('mark', cnsimMarks[slot % 8], ` transform="translate(${num(x)} ${num(y)})${k ? ` scale(${k})` : ''}"`);
  const colour = (t) => `var(--s${t.slot})`;
  const named = (l, inside) => `<g style="color:${colour(l)}" data-name="${esc(l.name)}">${inside}</g>`;
  const clipped = (id, x, y, w, h, inside) => `<clipPath id="${id}">${rect('', x, y, w, h)}</clipPath><g clip-path="url(#${id})">${inside}</g>`;

  // ---- Data: encode.rs writes series.
  const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const DIGIT = Object.fromEntries([...DIGITS].map((c, i) => [c, i]));
  // A row of whole numbers: coded() in crates/measure/src/map.rs writes it.
  function row(text, length) {
    const out = new Uint32Array(length);
    for (let at = 0, last = 0, i = 0; i < text.length && at < length;) {
      const run = text[i] === '*';
      let n = 0, shift = 1, d;
      if (run) { i++; }
      do { d = DIGIT[text[i++]] || 0; n += (d & 31) * shift; shift *= 32; } while (d > 31 && i < text.length);
      if (run) { out.fill(last, at, at += n); } else { last += n % 2 ? -(n + 1) / 2 : n / 2; out[at++] = last; }
    }
    return out;
  }
  function series({ x, y }) {
    const values = y.plain || Array.from(row(y.coded[3], y.coded[2]), (code) => {
      const [low, high] = y.coded;
      return code === 65535 ? null : code === 65534 ? high : low + (high - low) * code / 65534;
    });
    // Seven digits: what multiplying adds behind them is no information.
    const even = ([from, step], i) => +(from + step * i).toPrecision(7);
    const places = x.plain || (x.even ? values.map((_, i) => even(x.even, i)) : Array.from(row(x.at[2], values.length), (i) => even(x.at, i)));
    return { x: places, y: values, whole: !x.at };
  }
  function decode(f) {
    for (const t of f.traces) {
      t.data = t.data || series(t.line);
      t.group = t.group || '';
      if (t.low && t.high) { t.band = t.band || [series(t.low), series(t.high)]; }
    }
    return f;
  }

  // ---- Axes
  // From data to pixels, and back.
  function scale(low, high, from, to, log) {
    const f = log ? Math.log10 : (v) => v, l = f(low), k = f(high) > l ? (to - from) / (f(high) - l) : 0;
    const back = (p) => { const v = k ? l + (p - from) / k : l; return log ? 10 ** v : v; };
    return Object.assign((v) => from + (f(v) - l) * k, { low, high, log, back });
  }
  // Round numbers of an axis, about `most` in number.
  function ticks({ low, high, log }, most) {
    const out = [];
    if (log) {
      const from = Math.floor(Math.log10(low)), to = Math.ceil(Math.log10(high)), decades = to - from;
      for (let e = from; e <= to; e += Math.max(1, Math.ceil(decades / 7))) {
        out.push(...(decades > 3 ? [1] : decades > 1 ? [1, 3] : [1, 2, 5]).map((s) => +`${s}e${e}`));
      }
      return out.filter((v) => v >= low * 0.999 && v <= high * 1.001);
    }
    const raw = (high - low) / Math.max(most, 1), power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9 && out.length < 60; i++) { out.push(+(i * step).toPrecision(12)); }
    return out;
  }
  function label(v) {
    const size = Math.abs(v);
    if (v !== 0 && (size >= 1e7 || size < 1e-4)) { return v.toExponential().replace('e+', 'e'); }
    const [whole, ...rest] = String(+v.toPrecision(6)).split('.');
    const apart = whole.replace('-', '').length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, '\u202f') : whole;
    return [apart, ...rest].join('.').replace('-', '\u2212');
  }
  const value = (v) => label(+(+v).toPrecision(4));
  const axis = (a) => (a.unit ? `${a.title} [${a.unit}]` : a.title);
  function axes(f, v) {
    return v.mode === 'cdf' ? { x: { ...f.y }, y: { title: 'share of time', unit: '%', log: false } } : { x: f.x, y: f.y };
  }
  // The numbers below a panel.
  function below(x, left, right, y) {
    return ticks(x, Math.max(2, Math.floor((right - left) / 74))).map((t) => path('base', `M${num(x(t))} ${num(y)}v4`) + text(x(t), y + 17, label(t), 'mid')).join('');
  }
  // The title of the horizontal axis: a long one stays in the figure, about as wide as its letters are.
  function title(a, middle, w, y) {
    const half = Math.min(LETTER / 2 * axis(a).length + 2, w / 2);
    return text(Math.min(Math.max(middle, half), w - half), y, axis(a), 'mid title');
  }
  function extent(lists) {
    let low = Infinity, high = -Infinity;
    for (const list of lists) { for (const v of list) { if (v !== null && isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); } } }
    return low <= high ? [low, high] : null;
  }

  // ---- What is drawn: the lines as asked for, or the share of time below a value.
  function shown(f, v) {
    return f.traces.filter((t) => !v.off[t.name]).map((t) => {
      if (v.mode !== 'cdf') { return { name: t.name, slot: t.slot, dash: t.dash, notes: t.notes || [], x: t.data.x, y: t.data.y, band: t.band }; }
      const x = t.data.y.filter((y) => y !== null).sort((a, b) => a - b);
      return { name: t.name, slot: t.slot, dash: t.dash, notes: [], x, y: x.map((_, k) => 100 * (k + 1) / x.length) };
    });
  }
  // The vertical values between two places, and beside them, so that a line that only crosses counts.
  function within({ x, y }, [from, to]) {
    let a = 0, b = x.length;
    while (a < b && x[a] < from) { a++; }
    while (b > a && x[b - 1] > to) { b--; }
    return y.slice(a > 0 && a === b ? a - 1 : a, a === b ? b + 1 : b);
  }
  // The least positive value: where a log axis starts, not below a millionth of the greatest.
  function positive(lines, side, [low, high]) {
    if (low > 0) { return low; }
    const least = extent(lines.map((l) => l[side].filter((v) => v > 0)));
    return least ? Math.max(least[0], high * 1e-6) : 1;
  }
  function across(f, v, lines, log) {
    if (v.zoom) { return [...v.zoom]; }
    if (f.categories.length) { return [-0.5, f.categories.length - 0.5]; }
    const xs = extent(lines.map((l) => l.x)) || [0, 1];
    if (!log && f.kind === 'lines' && v.mode !== 'cdf' && xs[0] > 0 && xs[0] < 0.02 * xs[1]) { xs[0] = 0; }
    if (log) { xs[0] = positive(lines, 'x', xs); if (xs[1] <= xs[0]) { xs[1] = xs[0] * 10; } }
    if (f.kind !== 'points') { return xs; }
    const pad = log ? (xs[1] / xs[0]) ** 0.03 : (xs[1] - xs[0]) * 0.03;
    return log ? [xs[0] / pad, xs[1] * pad] : [xs[0] - pad, xs[1] + pad];
  }
  function upwards(f, v, lines, xs, log) {
    if (v.mode === 'cdf') { return [0, 100]; }
    const bars = f.kind === 'bars';
    let ys = extent(lines.flatMap((l) => [l, ...(l.band || [])].map((d) => within(d, xs)))) || [0, 1];
    for (const l of f.levels) { if (!v.zoom || l.value < ys[1] * 1.3) { ys = [Math.min(ys[0], l.value), Math.max(ys[1], l.value)]; } }
    if (log) {
      ys[0] = positive(lines, 'y', ys);
      if (ys[1] <= ys[0]) { ys[1] = ys[0] * 10; }
      return bars ? [10 ** Math.floor(Math.log10(ys[0]) - 0.01), ys[1] * 1.2] : [ys[0] / 1.1, ys[1] * 1.15];
    }
    // From zero, but for what is small beside its height.
    let span = ys[1] - ys[0];
    if (!v.zoom || bars || ys[0] < 0.5 * ys[1] || span <= 0) { ys = [Math.min(ys[0], 0), Math.max(ys[1], 0)]; } else { ys[0] -= 0.06 * span; }
    span = ys[1] - ys[0] || 1;
    return [ys[0] < 0 ? ys[0] - 0.06 * span : ys[0], ys[1] + 0.06 * span];
  }
  function layout(f, v, lines, box) {
    const cdf = v.mode === 'cdf', logX = cdf ? !!v.log : f.x.log, logY = !cdf && (v.log === null ? f.y.log : v.log);
    const xs = across(f, v, lines, logX);
    if (xs[1] <= xs[0]) { xs[0] -= 0.5; xs[1] = xs[0] + 1; }
    const ys = upwards(f, v, lines, xs, logY);
    return { ...box, x: scale(xs[0], xs[1], box.l, box.r, logX), y: scale(ys[0], ys[1], box.b, box.t, logY) };
  }

  // ---- Lines and bars in a panel: `p` has its scales and its edges l, r, t, b.
  const seen = (p, x, y) => y !== null && y !== undefined && !(p.y.log && y <= 0) && !(p.x.log && x <= 0);
  // A line; of many points to a pixel, the ends and extremes of each column.
  function course({ x, y }, p) {
    let out = '', pen = 'M', column = null, from = 0, to = x.length;
    while (from < to - 1 && p.x(x[from + 1]) < p.l) { from++; }
    while (to > from + 1 && p.x(x[to - 2]) > p.r) { to--; }
    const thin = to - from > 2 * (p.r - p.l);
    const put = (px, py) => { out += `${pen}${num(px)} ${num(py)}`; pen = 'L'; };
    const flush = () => {
      if (column) { [column.first, column.low, column.high, column.last].filter((py, i, all) => py !== all[i - 1]).forEach((py) => put(column.at, py)); }
      column = null;
    };
    for (let i = from; i < to; i++) {
      if (!seen(p, x[i], y[i])) { flush(); pen = 'M'; continue; }
      const at = thin ? Math.round(p.x(x[i])) : p.x(x[i]), py = p.y(y[i]);
      if (!thin) { put(at, py); continue; }
      if (!column || column.at !== at) { flush(); column = { at, first: py, low: py, high: py }; }
      column.low = Math.min(column.low, py); column.high = Math.max(column.high, py); column.last = py;
    }
    flush();
    return out;
  }
  const floor = (p, v) => p.y(p.y.log ? Math.max(v, p.y.low) : v);
  function area([low, high], p) {
    const there = [], back = [];
    high.x.forEach((x, i) => {
      if (!seen(p, x, high.y[i]) || low.y[i] === null || low.y[i] === undefined) { return; }
      there.push(`${num(p.x(x))} ${num(p.y(high.y[i]))}`);
      back.unshift(`${num(p.x(low.x[i]))} ${num(floor(p, low.y[i]))}`);
    });
    return there.length ? `M${there.join('L')}L${back.join('L')}z` : '';
  }
  // Marks on each line at its own places: lines that cover one another show theirs in turn.
  function spread(l, nth, of, p) {
    const step = (p.r - p.l) / 4, n = l.x.length;
    let out = '', i = 0;
    for (let px = p.l + step * (nth + 0.5) / of; px < p.r && n; px += step) {
      const want = p.x.back(px);
      while (i < n - 1 && l.x[i] < want) { i++; }
      if (l.x[i] >= want && seen(p, l.x[i], l.y[i])) { out += mark(l.slot, p.x(l.x[i]), p.y(l.y[i])); }
    }
    return out;
  }
  function marks(f, v, l, nth, of, p) {
    if (f.kind === 'points' && v.mode !== 'cdf' && l.x.length <= 60) {
      const inside = (x, i) => seen(p, x, l.y[i]) && p.x(x) >= p.l - 1 && p.x(x) <= p.r + 1;
      return l.x.map((x, i) => (inside(x, i) ? mark(l.slot, p.x(x), p.y(l.y[i]), 1.15) : '')).join('');
    }
    return of > 1 && !v.tiny ? spread(l, nth, of, p) : '';
  }
  function line(l, p) {
    const band = l.band && area(l.band, p);
    return (band ? path('trace scatter band', band) : '') + path('trace scatter line', course(l, p), ` stroke-dasharray="${DASHES[l.dash]}"`);
  }
  function bar(l, nth, of, p, id) {
    const wide = (p.x(1) - p.x(0)) * 0.74, each = wide / of, thin = Math.max(each - Math.min(2, each * 0.15), 1), zero = floor(p, 0);
    // Lines of one colour have other hatches.
    const hatch = `${id}h${l.slot}x${l.dash}`, fill = l.dash ? ` style="fill:url(#${hatch})"` : '';
    let out = l.dash ? `<pattern id="${hatch}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(${[0, 45, 0, 135][l.dash]})"><path d="M0 0V6" stroke="currentColor" stroke-width="5"/></pattern>` : '';
    l.x.forEach((x, i) => {
      if (!seen(p, x, l.y[i])) { return; }
      const left = p.x(x) - wide / 2 + nth * each, top = p.y(l.y[i]), m = num(left + thin / 2), c = Math.min(3, thin / 2);
      out += rect('trace column', left, Math.min(top, zero), thin, Math.max(Math.abs(zero - top), 0.5), fill);
      const [low, high] = (l.band || []).map((b) => b.y[i]);
      if (low === null || !(high > low)) { return; }
      const whisker = (y) => `M${num(left + thin / 2 - c)} ${y}h${num(2 * c)}`, ends = [num(floor(p, low)), num(p.y(high))];
      out += path('errorbar', `M${m} ${ends[0]}V${ends[1]}${ends.map(whisker).join('')}`);
    });
    return `<g class="trace bars" style="color:${colour(l)}" data-name="${esc(l.name)}">${out}</g>`;
  }
  function places(f, p) {
    const room = (p.r - p.l) / f.categories.length, turn = longest(f.categories) * 6.4 > room;
    return f.categories.map((c, i) => (turn ? turned(p.x(i) + 4, p.b + 12, -28, c.length > 24 ? `${c.slice(0, 23)}…` : c, 'end') : text(p.x(i), p.b + 17, c, 'mid'))).join('');
  }
  const longest = (words) => words.reduce((most, w) => Math.max(most, w.length), 0);
  const grid = (p) => ticks(p.y, Math.max(2, Math.floor((p.b - p.t) / 44)));
  function panel(f, v, lines, box, id, name) {
    const p = layout(f, v, lines, box), across = `M${num(p.l)} `;
    let out = grid(p).map((t) => path('gridline', `${across}${num(p.y(t))}H${num(p.r)}`) + text(p.l - 6, p.y(t) + 4, label(t), 'end')).join('');
    out += path('base', `${across}${num(p.b)}H${num(p.r)}`) + (f.categories.length ? places(f, p) : below(p.x, p.l, p.r, p.b));
    let inside = '';
    for (const w of v.mode === 'cdf' ? [] : f.windows) {
      const at = Math.max(p.x(w.from), p.l);
      inside += rect('window', p.x(w.from), p.t, Math.max(p.x(w.to) - p.x(w.from), 0), p.b - p.t);
      if (w.label && !v.tiny && at < p.r - 30) { out += text(at, p.t - 5, w.label); }
    }
    // Marks on top of all lines: each line shows where another covers it.
    const of = lines.length, bars = f.kind === 'bars';
    inside += lines.map((l, i) => (bars ? bar(l, i, of, p, id) : named(l, line(l, p)))).join('');
    if (!bars) { inside += lines.map((l, i) => named(l, marks(f, v, l, i, of, p))).join(''); }
    out += clipped(id, p.l, p.t - 2, p.r - p.l, p.b - p.t + 4, inside);
    for (const l of v.mode === 'cdf' ? [] : f.levels) {
      const y = p.y(l.value);
      if (!(y >= p.t - 1 && y <= p.b + 1)) { continue; }
      out += path('level', `${across}${num(y)}H${num(p.r)}`) + (v.tiny ? '' : text(p.r - 2, y - 4 < p.t + 6 ? y + 12 : y - 4, l.label, 'end halo'));
    }
    if (name) { out += text(p.l + 4, p.t + 11, name, 'halo name'); }
    return { ...p, svg: out };
  }
  function panels(f, v) {
    const lines = shown(f, v), w = v.width, n = v.mode === 'apart' && lines.length > 1 ? lines.length : 1, ax = axes(f, v);
    // Names that are turned reach down by their length, above the axis' title.
    const words = Math.min(24, longest(f.categories)), turn = words * 6.4 > (w - 70) / f.categories.length ? 3.1 * words : 0;
    const tall = v.print ? 215 : n > 1 ? 60 + 84 * n : v.tiny ? 148 : w < 420 ? 250 : 290;
    const height = tall + turn, foot = (v.tiny ? 38 : 40) + turn, bottom = height - foot, each = (bottom - 20) / n;
    // Room for the numbers at the left: as wide as the widest of them.
    const widest = longest(grid(layout(f, v, lines, { l: 50, r: w - 20, t: 20, b: 20 + each })).map(label));
    const left = Math.min(12 + 7 * Math.max(widest, 1) + (v.tiny ? 0 : 16), w / 3), all = [];
    for (let i = 0; i < n; i++) {
      const box = { l: left, r: w - 20, t: 20 + i * each, b: 20 + (i + 1) * each - (i < n - 1 ? 24 : 0) };
      all.push(panel(f, v, n > 1 ? [lines[i]] : lines, box, `${v.id}c${i}`, n > 1 && lines[i].name));
    }
    const side = v.tiny ? '' : turned(12, 20 + (bottom - 20) / 2, -90, axis(ax.y), 'mid title');
    return { inside: all.map((p) => p.svg).join('') + title(ax.x, (left + w - 20) / 2, w, height - 6) + side, height, bottom, panels: all };
  }

  // ---- Rows of bars over time: of heat a row a line, of spans a row a group.
  const shade = (p) => ` fill-opacity="${p > 0 ? +(0.15 + 0.0085 * p).toFixed(3) : 0.06}"`;
  // Equal parts are one bar.
  function heatRows(f) {
    return f.traces.map(({ name, group, data: { x, y } }, n, all) => {
      const step = x.length > 1 ? x[1] - x[0] : x[0], bars = [];
      const head = n === 0 || all[n - 1].group !== group ? `${group || 'rows'} (${all.filter((t) => t.group === group).length})` : '';
      for (let a = 0, b; a < y.length; a = b) {
        for (b = a + 1; b < y.length && y[b] === y[a]; b++) { /* equal */ }
        if (y[a] > 0) { bars.push({ from: x[a] - step, to: x[b - 1], foot: 0, tall: 100, more: shade(y[a]) }); }
      }
      return { name, head, lines: [bars] };
    });
  }
  // Bars that begin together stand upon each other; one with words has an end that is seen.
  function spanRows(f) {
    const rows = new Map();
    for (const t of f.traces) {
      const r = rows.get(t.group) || { name: t.group, below: {}, lines: [] }, { x, y } = t.data, bars = [];
      for (let i = 0; i + 1 < x.length; i++) {
        if (!(y[i] > 0)) { continue; }
        const foot = r.below[x[i]] || 0;
        r.below[x[i]] = foot + y[i];
        bars.push({ from: x[i], to: x[i + 1], foot, tall: y[i], gap: t.notes && t.notes[i] ? 1 : 0 });
      }
      r.lines.push(Object.assign(bars, { of: t }));
      rows.set(t.group, r);
    }
    return [...rows.values()];
  }
  function strips(f, v) {
    const heat = f.kind === 'heat', rows = heat ? heatRows(f) : spanRows(f), w = v.width, right = w - 20;
    const tall = !heat ? (v.tiny ? 5 : 17) : Math.max(v.tiny ? 2 : 3, Math.min(13, Math.floor((v.tiny ? 130 : 420) / rows.length)));
    const names = w > 300 && (heat ? tall >= 11 : !v.tiny), inner = tall - (heat ? 1 : 2);
    const left = names ? Math.min(14 + 7.2 * longest(rows.map((r) => r.name)), 0.55 * w) : 8, room = Math.floor((left - 14) / 7.2 + 0.01);
    const ends = extent(f.traces.map((t) => t.data.x)) || [0, 1], xs = v.zoom || [heat ? first(f) : 0, ends[1]], x = scale(xs[0], xs[1], left, right, false);
    let y = v.tiny ? 4 : heat ? 26 : 20, out = '', inside = '';
    if (heat && !v.tiny) { out += [0, 25, 50, 75, 100].map((p, i) => rect('heat', left + i * 16, 4, 15, 10, shade(p))).join('') + text(left + 86, 13, `0 to 100 ${f.y.unit}`); }
    for (const r of rows) {
      if (r.head) { out += text(left, y + 13, r.head, 'name'); y += 18; }
      if (names) { out += text(left - 7, y + (tall + inner) / 2 - 3, r.name.length > room ? `…${r.name.slice(1 - room)}` : r.name, 'end'); }
      out += rect('window', left, y, right - left, inner);
      for (const bars of r.lines.filter((l) => !l.of || !v.off[l.of.name])) {
        const drawn = bars.filter((b) => b.to >= xs[0] && b.from <= xs[1]).map((b) => rect(heat ? 'heat' : 'span', x(b.from), y + (100 - b.foot - b.tall) * inner / 100, Math.max(x(b.to) - x(b.from) - (b.gap || 0), 0.7), b.tall * inner / 100, b.more)).join('');
        inside += bars.of ? named(bars.of, drawn) : drawn;
      }
      y += tall;
    }
    out += clipped(`${v.id}c`, left, 0, right - left, y, inside) + below(x, left, right, y) + title(f.x, (left + right) / 2, w, y + 34);
    return { inside: out, height: y + 40, bottom: y, panels: [{ x, l: left, r: right, t: 20, b: y }] };
  }
  // Where the first part of a strip of heat begins.
  function first(f) {
    const x = f.traces.length ? f.traces[0].data.x : [0];
    return x.length > 1 ? 2 * x[0] - x[1] : 0;
  }

  const VIEW = { width: 760, id: 'f', tiny: false, print: false, mode: 'lines', log: null, zoom: null, off: {}, alt: '' };
  // A figure as an SVG text, and the places of its panels. What a view leaves out has its default.
  function draw(figure, view) {
    const v = { ...VIEW, ...view }, f = decode(figure), d = f.kind === 'heat' || f.kind === 'spans' ? strips(f, v) : panels(f, v);
    const svg = `<svg class="chart" role="img" aria-label="${esc(v.alt)}" viewBox="0 0 ${v.width} ${num(d.height)}" width="${v.width}" height="${num(d.height)}">${d.inside}`;
    return { ...d, svg: `${svg}<path class="cursor" d=""/><rect class="choice" width="0" height="${num(d.bottom - 20)}" y="20"/></svg>`, width: v.width };
  }
  return { draw, decode, row, shown, axes, axis, extent, value, text, rect, path, mark, esc, num, colour, DASHES };
})();
