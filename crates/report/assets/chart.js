// Figures as SVG: decoded, drawn when they come into view, switched, zoomed and read by pointer or keyboard.
// Colours are variables of the page, so a change of theme draws nothing anew.
var cnsimFigures = (function () {
  'use strict';
  var DASHES = ['', '7 4', '2 3', '9 3 2 3'];
  var pages = {};            // route -> data
  var state = new WeakMap(); // canvas -> what the reader chose: zoom, log, mode, cursor, size

  function esc(t) { return String(t).replace(/[&<>"']/g, function (c) { return '&#' + c.charCodeAt(0) + ';'; }); }
  function num(v) { return (Math.round(v * 10) / 10).toString(); }
  function colour(t) { return 'var(--s' + t.slot + ')'; }

  // ---- Data: see encode.rs, what is written there is read here.
  function bytes(text) {
    var raw = atob(text), out = new Uint8Array(raw.length);
    for (var i = 0; i < raw.length; i++) { out[i] = raw.charCodeAt(i); }
    return new DataView(out.buffer);
  }
  function decode(series) {
    var y, x, i, view;
    if (series.y.plain) { y = series.y.plain; } else {
      var low = series.y.coded[0], high = series.y.coded[1];
      view = bytes(series.y.coded[2]);
      y = new Array(view.byteLength / 2);
      for (i = 0; i < y.length; i++) {
        var code = view.getUint16(2 * i, true);
        y[i] = code === 65535 ? null : code === 65534 ? high : high === low ? low : low + (high - low) * code / 65534;
      }
    }
    if (series.x.plain) { x = series.x.plain; } else if (series.x.even) {
      x = y.map(function (_, k) { return series.x.even[0] + series.x.even[1] * k; });
    } else {
      view = bytes(series.x.at[2]);
      x = y.map(function (_, k) { return series.x.at[0] + series.x.at[1] * view.getUint32(4 * k, true); });
    }
    // Seven digits: what multiplying adds behind them is no information.
    return { x: series.x.plain ? x : x.map(function (v) { return +v.toPrecision(7); }), y: y, whole: !series.x.at };
  }
  function page(route) {
    if (!pages[route]) {
      var data = Array.from(document.querySelectorAll('script[data-for]')).find(function (s) { return s.dataset.for === route; });
      pages[route] = data ? JSON.parse(data.textContent) : { tables: [], looks: [], figures: [] };
    }
    return pages[route];
  }
  function routeOf(element) { var of = element.closest('[data-of]'); return of ? of.dataset.of : element.closest('section.page').dataset.page; }
  function figureOf(div) {
    var f = page(routeOf(div)).figures[+div.dataset.figure];
    f.traces.forEach(function (t) {
      if (t.data) { return; }
      t.data = decode(t.line);
      if (t.low && t.high) { t.band = [decode(t.low), decode(t.high)]; }
    });
    return f;
  }
  function chosen(div) {
    if (!state.has(div)) { state.set(div, { zoom: null, log: null, mode: 'lines', cursor: null }); }
    return state.get(div);
  }

  // ---- Axes
  function ticks(low, high, most) {
    var raw = (high - low) / Math.max(most, 1), power = Math.pow(10, Math.floor(Math.log10(raw)));
    var step = [1, 2, 2.5, 5, 10].map(function (m) { return m * power; }).find(function (s) { return s >= raw * 0.999; });
    var out = [];
    for (var i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9 && out.length < 60; i++) { out.push(+(i * step).toPrecision(12)); }
    return out;
  }
  function logTicks(low, high) {
    var out = [], from = Math.floor(Math.log10(low)), to = Math.ceil(Math.log10(high)), steps = to - from > 3 ? [1] : to - from > 1 ? [1, 3] : [1, 2, 5];
    var every = Math.max(1, Math.ceil((to - from) / 7));
    for (var e = from; e <= to; e += every) { steps.forEach(function (s) { var v = s * Math.pow(10, e); if (v >= low * 0.999 && v <= high * 1.001) { out.push(+v.toPrecision(6)); } }); }
    return out;
  }
  function label(v) {
    if (v === 0) { return '0'; }
    var a = Math.abs(v);
    if (a >= 1e7 || a < 1e-4) { return v.toExponential().replace('e+', 'e'); }
    var t = String(+v.toPrecision(6)), parts = t.split('.');
    if (parts[0].replace('-', '').length > 4) { parts[0] = parts[0].replace(/\B(?=(\d{3})+$)/g, '\u202f'); }
    return parts.join('.').replace('-', '\u2212');
  }
  function value(v) { return label(+(+v).toPrecision(4)); }
  // A scale from data to pixels, and back.
  function scale(low, high, a, b, log) {
    var f = log ? Math.log10 : function (v) { return v; }, l = f(low), h = f(high), k = h > l ? (b - a) / (h - l) : 0;
    var s = function (v) { return a + (f(v) - l) * k; };
    s.back = function (p) { var v = k ? l + (p - a) / k : l; return log ? Math.pow(10, v) : v; };
    s.low = low; s.high = high; s.log = log;
    return s;
  }
  function axis(a) { return a.unit ? a.title + ' [' + a.unit + ']' : a.title; }

  // ---- What is drawn: the lines as asked for, or the share of time below a value.
  function shown(div, f) {
    var off = hiddenOf(div), mode = chosen(div).mode;
    return f.traces.map(function (t, i) {
      var d = t.data;
      if (mode === 'cdf') {
        var v = d.y.filter(function (y) { return y !== null; }).sort(function (a, b) { return a - b; });
        d = { x: v, y: v.map(function (_, k) { return 100 * (k + 1) / v.length; }) };
      }
      return { t: t, i: i, name: t.name, slot: t.slot, dash: t.dash, x: d.x, y: d.y, band: mode === 'cdf' || f.kind === 'bars' ? null : t.band };
    }).filter(function (l) { return !off[l.name]; });
  }
  function axes(div, f) {
    var mode = chosen(div).mode;
    return mode === 'cdf' ? { x: { title: f.y.title, unit: f.y.unit, log: f.y.log }, y: { title: 'share of time', unit: '%', log: false } } : { x: f.x, y: f.y };
  }
  function extent(lists) {
    var low = Infinity, high = -Infinity;
    lists.forEach(function (a) { for (var i = 0; i < a.length; i++) { var v = a[i]; if (v !== null && isFinite(v)) { if (v < low) { low = v; } if (v > high) { high = v; } } } });
    return low <= high ? [low, high] : null;
  }
  // The vertical values between two places, and beside them, so that a line that only crosses counts.
  function within(x, y, from, to) {
    var a = 0, b = x.length;
    while (a < b && x[a] < from) { a++; }
    while (b > a && x[b - 1] > to) { b--; }
    return y.slice(a > 0 && a === b ? a - 1 : a, a === b ? b + 1 : b);
  }
  function layout(div, f, lines, box) {
    var v = chosen(div), ax = axes(div, f), logY = v.mode !== 'cdf' && (v.log === null ? f.y.log : v.log), logX = v.mode === 'cdf' ? !!v.log : ax.x.log, bars = f.kind === 'bars';
    var xs = f.categories.length ? [-0.5, f.categories.length - 0.5] : extent(lines.map(function (l) { return l.x; })) || [0, 1];
    if (!f.categories.length && !logX && v.mode === 'lines' && f.kind === 'lines' && xs[0] > 0 && xs[0] < 0.02 * xs[1]) { xs[0] = 0; }
    if (v.zoom) { xs = v.zoom; } else if (f.kind === 'points' && !f.categories.length) {
      var pad = logX ? Math.pow(xs[1] / xs[0], 0.03) : (xs[1] - xs[0]) * 0.03;
      xs = logX ? [xs[0] / pad, xs[1] * pad] : [xs[0] - pad, xs[1] + pad];
    }
    var seen = [];
    lines.forEach(function (l) {
      seen.push(within(l.x, l.y, xs[0], xs[1]));
      (l.band || (bars && l.t.band) || []).forEach(function (b) { seen.push(within(b.x, b.y, xs[0], xs[1])); });
    });
    var ys = v.mode === 'cdf' ? [0, 100] : extent(seen) || [0, 1];
    if (v.mode !== 'cdf') { f.levels.forEach(function (l) { if (!v.zoom || l.value < ys[1] * 1.3) { ys = [Math.min(ys[0], l.value), Math.max(ys[1], l.value)]; } }); }
    if (logX) { xs = [positive(lines, 'x', xs), xs[1]]; if (xs[1] <= xs[0]) { xs[1] = xs[0] * 10; } }
    if (logY) {
      ys = [positive(lines, 'y', ys), ys[1]];
      if (ys[1] <= ys[0]) { ys[1] = ys[0] * 10; }
      ys = bars ? [Math.pow(10, Math.floor(Math.log10(ys[0]) - 0.01)), ys[1] * 1.2] : [ys[0] / 1.1, ys[1] * 1.15];
    } else if (v.mode !== 'cdf') {
      // From zero, but for what is small beside its height.
      var span = ys[1] - ys[0];
      if (!v.zoom || bars || ys[0] < 0.5 * ys[1] || span <= 0) { ys = [Math.min(ys[0], 0), Math.max(ys[1], 0)]; } else { ys[0] -= 0.06 * span; }
      span = ys[1] - ys[0] || 1;
      ys[1] += 0.06 * span;
      if (ys[0] < 0) { ys[0] -= 0.06 * span; }
    }
    if (xs[1] <= xs[0]) { xs = [xs[0] - 0.5, xs[0] + 0.5]; }
    return { x: scale(xs[0], xs[1], box.l, box.r, logX), y: scale(ys[0], ys[1], box.b, box.t, logY), ax: ax };
  }
  // The least positive value: where a log axis starts, not below a millionth of the greatest.
  function positive(lines, side, ends) {
    var least = Infinity;
    if (ends[0] > 0) { return ends[0]; }
    lines.forEach(function (l) { l[side].forEach(function (v) { if (v > 0 && v < least) { least = v; } }); });
    return isFinite(least) ? Math.max(least, ends[1] * 1e-6) : 1;
  }

  // ---- Paths
  // A line, of each column of pixels its ends and extremes.
  function path(x, y, s, left, right) {
    var out = '', pen = false, column = null, from = 0, to = x.length;
    while (from < to - 1 && s.x(x[from + 1]) < left) { from++; }
    while (to > from + 1 && s.x(x[to - 2]) > right) { to--; }
    var thin = to - from > 2 * (right - left);
    function put(px, py) { out += (pen ? 'L' : 'M') + num(px) + ' ' + num(py); pen = true; }
    function flush() {
      if (!column) { return; }
      put(column.x, column.first);
      if (column.low !== column.first) { put(column.x, column.low); }
      if (column.high !== column.low) { put(column.x, column.high); }
      if (column.last !== column.high) { put(column.x, column.last); }
      column = null;
    }
    for (var i = from; i < to; i++) {
      if (y[i] === null || (s.y.log && y[i] <= 0) || (s.x.log && x[i] <= 0)) { flush(); pen = false; continue; }
      var px = s.x(x[i]), py = s.y(y[i]);
      if (!thin) { put(px, py); continue; }
      px = Math.round(px);
      if (!column || column.x !== px) { flush(); column = { x: px, first: py, low: py, high: py, last: py }; }
      column.low = Math.min(column.low, py); column.high = Math.max(column.high, py); column.last = py;
    }
    flush();
    return out;
  }
  function area(band, s) {
    var low = band[0], high = band[1], there = [], back = [];
    for (var i = 0; i < high.x.length; i++) {
      var l = low.y[i], h = high.y[i];
      if (l === null || h === null || l === undefined || (s.y.log && h <= 0)) { continue; }
      there.push(num(s.x(high.x[i])) + ' ' + num(s.y(h)));
      back.push(num(s.x(low.x[i])) + ' ' + num(s.y(s.y.log ? Math.max(l, s.y.low) : l)));
    }
    return there.length ? 'M' + there.join('L') + 'L' + back.reverse().join('L') + 'z' : '';
  }
  function mark(slot, x, y, k) {
    var shape = document.getElementById('mark' + slot % 8);
    return '<path class="mark" d="' + (shape ? shape.getAttribute('d') : 'M-3-3H3V3H-3z') + '" transform="translate(' + num(x) + ' ' + num(y) + ')' + (k ? ' scale(' + k + ')' : '') + '"/>';
  }
  // Marks on each line at its own places: lines that cover one another show theirs in turn.
  function marks(l, at, of, s, left, right) {
    var step = (right - left) / 4, out = '', i = 0, n = l.x.length;
    for (var px = left + step * (at + 0.5) / of; px < right && n; px += step) {
      var want = s.x.back(px);
      while (i < n - 1 && l.x[i] < want) { i++; }
      if (l.y[i] === null || l.x[i] < want && i === n - 1 || (s.y.log && l.y[i] <= 0)) { continue; }
      out += mark(l.slot, s.x(l.x[i]), s.y(l.y[i]));
    }
    return out;
  }
  function line(l, at, of, s, box, kind, marked) {
    var out = '', style = 'style="color:' + colour(l) + '"', band = l.band && area(l.band, s);
    if (band) { out += '<path class="trace scatter band" d="' + band + '"/>'; }
    out += '<path class="trace scatter line" stroke-dasharray="' + DASHES[l.dash] + '" d="' + path(l.x, l.y, s, box.l, box.r) + '"/>';
    var dots = '', g = '<g ' + style + ' data-name="' + esc(l.name) + '">';
    if (kind === 'points' && l.x.length <= 60) {
      l.x.forEach(function (x, i) { if (l.y[i] !== null && s.x(x) >= box.l - 1 && s.x(x) <= box.r + 1) { dots += mark(l.slot, s.x(x), s.y(l.y[i]), 1.15); } });
    } else if (of > 1 && marked) { dots = marks(l, at, of, s, box.l, box.r); }
    return { line: g + out + '</g>', marks: g + dots + '</g>' };
  }
  function bar(l, at, of, s, id) {
    var wide = (s.x(1) - s.x(0)) * 0.74, w = wide / of, out = '', zero = s.y.log ? s.y(s.y.low) : s.y(0);
    l.x.forEach(function (x, i) {
      if (l.y[i] === null || (s.y.log && l.y[i] <= 0)) { return; }
      var left = s.x(x) - wide / 2 + at * w, top = s.y(l.y[i]), thin = Math.max(w - Math.min(2, w * 0.15), 1);
      out += '<rect class="trace column" x="' + num(left) + '" y="' + num(Math.min(top, zero)) + '" width="' + num(thin) + '" height="' + num(Math.max(Math.abs(zero - top), 0.5)) + '"' +
        (l.dash ? ' style="fill:url(#' + id + 'h' + l.dash + ')"' : '') + '/>';
      if (l.t.band && l.t.band[0].y[i] !== null && l.t.band[1].y[i] > l.t.band[0].y[i]) {
        var a = s.y(s.y.log ? Math.max(l.t.band[0].y[i], s.y.low) : l.t.band[0].y[i]), b = s.y(l.t.band[1].y[i]), m = left + thin / 2, c = Math.min(3, thin / 2);
        out += '<path class="errorbar" d="M' + num(m) + ' ' + num(a) + 'V' + num(b) + 'M' + num(m - c) + ' ' + num(a) + 'h' + num(2 * c) + 'M' + num(m - c) + ' ' + num(b) + 'h' + num(2 * c) + '"/>';
      }
    });
    var hatch = l.dash ? '<pattern id="' + id + 'h' + l.dash + '" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(' + [0, 45, 0, 135][l.dash] + ')"><path d="M0 0V6" stroke="currentColor" stroke-width="5"/></pattern>' : '';
    return '<g class="trace bars" style="color:' + colour(l) + '" data-name="' + esc(l.name) + '">' + hatch + out + '</g>';
  }

  // ---- A panel: axes, levels, windows, lines
  function text(x, y, t, more) { return '<text x="' + num(x) + '" y="' + num(y) + '"' + (more || '') + '>' + esc(t) + '</text>'; }
  function panel(div, f, lines, box, part) {
    var v = chosen(div), s = layout(div, f, lines, box), out = '', id = div.dataset.uid, tiny = div.classList.contains('tiny');
    var clip = id + 'c' + (part || 0), xt, yt = s.y.log ? logTicks(s.y.low, s.y.high) : ticks(s.y.low, s.y.high, Math.max(2, Math.floor((box.b - box.t) / 44)));
    yt.forEach(function (t) {
      out += '<path class="gridline" d="M' + num(box.l) + ' ' + num(s.y(t)) + 'H' + num(box.r) + '"/>' + text(box.l - 6, s.y(t) + 4, label(t), ' class="end"');
    });
    out += '<clipPath id="' + clip + '"><rect x="' + num(box.l) + '" y="' + num(box.t - 2) + '" width="' + num(box.r - box.l) + '" height="' + num(box.b - box.t + 4) + '"/></clipPath>';
    var inside = '';
    if (v.mode !== 'cdf') {
      f.windows.forEach(function (w) {
        inside += '<rect class="window" x="' + num(s.x(w.from)) + '" y="' + box.t + '" width="' + num(Math.max(s.x(w.to) - s.x(w.from), 0)) + '" height="' + num(box.b - box.t) + '"/>';
        var at = Math.max(s.x(w.from), box.l);
        if (w.label && !tiny && at < box.r - 30) { out += text(at, box.t - 5, w.label); }
      });
    }
    out += '<path class="base" d="M' + num(box.l) + ' ' + num(box.b) + 'H' + num(box.r) + '"/>';
    if (f.categories.length) {
      var room = (box.r - box.l) / f.categories.length, longest = Math.max.apply(null, f.categories.map(function (c) { return c.length; }));
      var turn = longest * 6.4 > room;
      f.categories.forEach(function (c, i) {
        if (turn) { out += '<text class="end" transform="translate(' + num(s.x(i) + 4) + ' ' + num(box.b + 12) + ') rotate(-28)">' + esc(c.length > 24 ? c.slice(0, 23) + '…' : c) + '</text>'; } else { out += text(s.x(i), box.b + 17, c, ' class="mid"'); }
      });
    } else {
      xt = s.x.log ? logTicks(s.x.low, s.x.high) : ticks(s.x.low, s.x.high, Math.max(2, Math.floor((box.r - box.l) / 74)));
      xt.forEach(function (t) { out += '<path class="base" d="M' + num(s.x(t)) + ' ' + num(box.b) + 'v4"/>' + text(s.x(t), box.b + 17, label(t), ' class="mid"'); });
    }
    if (f.kind === 'bars') { lines.forEach(function (l, i) { inside += bar(l, i, lines.length, s, id); }); } else {
      var drawn = lines.map(function (l, i) { return line(l, i, lines.length, s, box, v.mode === 'cdf' ? 'lines' : f.kind, !tiny); });
      // Marks on top of all lines: each line shows where another covers it.
      inside += drawn.map(function (d) { return d.line; }).join('') + drawn.map(function (d) { return d.marks; }).join('');
    }
    out += '<g clip-path="url(#' + clip + ')">' + inside + '</g>';
    if (v.mode !== 'cdf') {
      f.levels.forEach(function (l) {
        var y = s.y(l.value);
        if (!(y >= box.t - 1 && y <= box.b + 1)) { return; }
        out += '<path class="level" d="M' + num(box.l) + ' ' + num(y) + 'H' + num(box.r) + '"/>' + (tiny ? '' : text(box.r - 2, y - 4 < box.t + 6 ? y + 12 : y - 4, l.label, ' class="end halo"'));
      });
    }
    if (part !== undefined) { out += text(box.l + 4, box.t + 11, lines[0] ? lines[0].name : '', ' class="halo name"'); }
    return { svg: out, s: s, box: box, lines: lines };
  }
  // A strip of heat: a row a line, in groups, shaded from 0 to 100; equal parts are one. heat.rs draws the same.
  function heat(div, f) {
    var v = chosen(div), lines = f.traces, w = v.print ? 340 : Math.max(div.clientWidth, 140), tiny = div.classList.contains('tiny');
    var row = Math.max(tiny ? 2 : 3, Math.min(13, Math.floor((tiny ? 130 : 420) / lines.length))), named = row >= 11 && w > 300;
    var left = named ? 14 + 6.6 * Math.max.apply(null, lines.map(function (t) { return t.name.length; })) : 8, right = w - 20, y = tiny ? 4 : 26, out = '', inside = '';
    var ends = lines[0] ? lines[0].data.x : [1], step = ends.length > 1 ? ends[1] - ends[0] : ends[0], xs = v.zoom || [ends[0] - step, ends[ends.length - 1]], x = scale(xs[0], xs[1], left, right, false);
    if (!tiny) { [0, 25, 50, 75, 100].forEach(function (p, i) { out += '<rect class="heat" x="' + num(left + i * 16) + '" y="4" width="15" height="10"' + shade(p) + '/>'; }); out += text(left + 86, 13, '0 to 100 ' + f.y.unit); }
    lines.forEach(function (t, i) {
      if (i === 0 || lines[i - 1].group !== t.group) {
        out += text(left, y + 13, (t.group || 'rows') + ' (' + lines.filter(function (o) { return o.group === t.group; }).length + ')', ' class="name"');
        y += 18;
      }
      if (named) { out += text(left - 6, y + row - 3, t.name, ' class="end"'); }
      out += '<rect class="window" x="' + num(left) + '" y="' + y + '" width="' + num(right - left) + '" height="' + (row - 1) + '"/>';
      for (var a = 0, b; a < t.data.y.length; a = b) {
        for (b = a + 1; b < t.data.y.length && t.data.y[b] === t.data.y[a]; b++) { }
        if (t.data.y[a] > 0) { inside += '<rect class="heat" x="' + num(x(t.data.x[a] - step)) + '" y="' + y + '" width="' + num(x(t.data.x[b - 1]) - x(t.data.x[a] - step)) + '" height="' + (row - 1) + '"' + shade(t.data.y[a]) + '/>'; }
      }
      y += row;
    });
    var clip = div.dataset.uid + 'c', h = y + 40;
    out += '<clipPath id="' + clip + '"><rect x="' + num(left) + '" y="0" width="' + num(right - left) + '" height="' + y + '"/></clipPath><g clip-path="url(#' + clip + ')">' + inside + '</g>';
    ticks(xs[0], xs[1], Math.max(2, Math.floor((right - left) / 74))).forEach(function (t) { out += '<path class="base" d="M' + num(x(t)) + ' ' + y + 'v4"/>' + text(x(t), y + 17, label(t), ' class="mid"'); });
    out += text((left + right) / 2, h - 6, axis(f.x), ' class="mid title"');
    v.panels = [{ s: { x: x }, box: { l: left, r: right, t: 20, b: y } }];
    put(div, f, out, w, h, y);
  }
  // Bars over time: a row a group, a colour a line; bars that begin together stand upon each other. spans.rs draws the same.
  function spans(div, f) {
    var v = chosen(div), off = hiddenOf(div), w = v.print ? 340 : Math.max(div.clientWidth, 140), tiny = div.classList.contains('tiny'), rows = [];
    f.traces.forEach(function (t) {
      var r = rows.find(function (o) { return o.name === t.group; });
      if (!r) { r = { name: t.group, below: {}, lines: [] }; rows.push(r); }
      r.lines.push(t);
    });
    var row = tiny ? 5 : 17, named = !tiny && w > 300, left = named ? Math.min(14 + 6.8 * Math.max.apply(null, rows.map(function (r) { return r.name.length; })), 0.55 * w) : 8, room = Math.floor((left - 14) / 6.8 + 0.01), right = w - 20;
    var whole = extent(f.traces.map(function (t) { return t.data.x; })) || [0, 1], xs = v.zoom || [0, whole[1]], x = scale(xs[0], xs[1], left, right, false);
    var y = tiny ? 4 : 20, out = '', inside = '', tall = (row - 2) / 100;
    rows.forEach(function (r) {
      if (named) { out += text(left - 7, y + row - 5, r.name.length > room ? '\u2026' + r.name.slice(1 - room) : r.name, ' class="end"'); }
      out += '<rect class="window" x="' + num(left) + '" y="' + y + '" width="' + num(right - left) + '" height="' + (row - 2) + '"/>';
      r.lines.forEach(function (t) {
        var d = t.data, bars = '';
        for (var i = 0; i + 1 < d.x.length; i++) {
          if (!(d.y[i] > 0)) { continue; }
          var foot = r.below[d.x[i]] || 0;
          r.below[d.x[i]] = foot + d.y[i];
          if (off[t.name] || d.x[i + 1] < xs[0] || d.x[i] > xs[1]) { continue; }
          bars += '<rect class="span" x="' + num(x(d.x[i])) + '" y="' + num(y + (100 - foot - d.y[i]) * tall) + '" width="' + num(Math.max(x(d.x[i + 1]) - x(d.x[i]) - (t.notes && t.notes[i] ? 1 : 0), 0.7)) + '" height="' + num(d.y[i] * tall) + '"/>';
        }
        inside += '<g style="color:' + colour(t) + '" data-name="' + esc(t.name) + '">' + bars + '</g>';
      });
      y += row;
    });
    var clip = div.dataset.uid + 'c', h = y + 40;
    out += '<clipPath id="' + clip + '"><rect x="' + num(left) + '" y="0" width="' + num(right - left) + '" height="' + y + '"/></clipPath><g clip-path="url(#' + clip + ')">' + inside + '</g>';
    ticks(xs[0], xs[1], Math.max(2, Math.floor((right - left) / 74))).forEach(function (t) { out += '<path class="base" d="M' + num(x(t)) + ' ' + y + 'v4"/>' + text(x(t), y + 17, label(t), ' class="mid"'); });
    var half = Math.min(3.3 * axis(f.x).length + 2, w / 2);
    out += text(Math.min(Math.max((left + right) / 2, half), w - half), h - 6, axis(f.x), ' class="mid title"');
    v.panels = [{ s: { x: x }, box: { l: left, r: right, t: 20, b: y } }];
    put(div, f, out, w, h, y);
  }
  // Who stands at a time, and for whom.
  function standing(f, off, at) {
    var rows = [];
    f.traces.filter(function (t) { return !off[t.name]; }).forEach(function (t) {
      var x = t.data.x, i = 0;
      while (i + 1 < x.length && x[i + 1] <= at) { i++; }
      if (i + 1 < x.length && x[i] <= at && t.data.y[i] > 0) { rows.push([{ slot: t.slot, name: t.group + (t.notes && t.notes[i] ? ': ' + t.name : ' for ' + t.name.split(':')[0]) }, t.data.y[i], at, t.notes && t.notes[i]]); }
    });
    return rows;
  }
  function shade(p) { return ' fill-opacity="' + (p > 0 ? 0.15 + 0.0085 * p : 0.06) + '"'; }
  // The drawing takes the place of the one before it.
  function put(div, f, all, w, h, bottom) {
    var v = chosen(div);
    div.querySelectorAll(':scope > svg, :scope > .readout').forEach(function (e) { e.remove(); });
    div.insertAdjacentHTML('afterbegin', '<svg class="chart" role="img" aria-label="' + esc(div.dataset.alt) + '" viewBox="0 0 ' + w + ' ' + h + '" width="' + w + '" height="' + h + '">' + all + '<path class="cursor" d=""/><rect class="choice" width="0" height="' + num(bottom - 20) + '" y="20"/></svg>');
    v.width = w; v.bottom = bottom;
    div.style.height = h + 'px';
    if (!div.dataset.drawn) { div.dataset.drawn = '1'; tools(div, f); sizes.observe(div); }
    buttons(div);
  }
  function draw(div) {
    if (figureOf(div).kind === 'heat') { heat(div, figureOf(div)); return; }
    if (figureOf(div).kind === 'spans') { spans(div, figureOf(div)); return; }
    var f = figureOf(div), v = chosen(div), lines = shown(div, f), tiny = div.classList.contains('tiny');
    var w = v.print ? 340 : Math.max(div.clientWidth, 140), apart = v.mode === 'apart' && lines.length > 1, ax = axes(div, f);
    // Names that are turned reach down by their length, above the axis' title.
    var longest = Math.min(24, f.categories.reduce(function (m, c) { return Math.max(m, c.length); }, 0)), turned = longest * 6.4 > (w - 70) / f.categories.length ? 3.1 * longest : 0;
    var h = (v.print ? 215 : apart ? 60 + 84 * lines.length : tiny ? 148 : w < 420 ? 250 : 290) + turned, foot = (tiny ? 38 : 40) + turned;
    // Room for the numbers at the left: as wide as the widest of them.
    var trial = layout(div, f, lines, { l: 50, r: w - 20, t: 20, b: h - foot });
    var widest = (trial.y.log ? logTicks(trial.y.low, trial.y.high) : ticks(trial.y.low, trial.y.high, 6)).reduce(function (m, t) { return Math.max(m, label(t).length); }, 1);
    var left = Math.min(12 + 7 * widest + (tiny ? 0 : 16), w / 3), panels = [], n = apart ? lines.length : 1, tall = (h - foot - 20) / n;
    for (var i = 0; i < n; i++) {
      var box = { l: left, r: w - 20, t: 20 + i * tall, b: 20 + (i + 1) * tall - (apart && i < n - 1 ? 24 : 0) };
      panels.push(panel(div, f, apart ? [lines[i]] : lines, box, apart ? i : undefined));
    }
    var all = panels.map(function (p) { return p.svg; }).join('');
    // A long title stays in the figure, about as wide as its letters are.
    var title = axis(ax.x), half = Math.min(3.3 * title.length + 2, w / 2);
    all += text(Math.min(Math.max((left + w - 20) / 2, half), w - half), h - 6, title, ' class="mid title"');
    if (!tiny) {
      all += '<text class="mid title" transform="translate(12 ' + num((20 + h - foot) / 2) + ') rotate(-90)">' + esc(axis(ax.y)) + '</text>';
    }
    v.panels = panels;
    put(div, f, all, w, h, h - foot);
  }

  // ---- Tools of a figure
  function tools(div, f) {
    var row = document.createElement('div');
    row.className = 'figtools';
    row.setAttribute('role', 'group');
    row.setAttribute('aria-label', 'view of ' + f.title);
    var whole = f.kind === 'lines' && f.traces.every(function (t) { return t.data.whole && t.data.y.length > 20; });
    var has = [['log', 'log', 'logarithmic axis', f.kind !== 'heat' && f.kind !== 'spans' && extent(f.traces.map(function (t) { return t.data.y; })) !== null], ['apart', 'apart', 'one panel a line', f.kind === 'lines' && f.traces.length > 1],
      ['cdf', 'CDF', 'share of time at or below a value', whole && f.x.title === 'time'], ['reset', 'whole', 'undo the zoom', true], ['svg', 'SVG', 'save as SVG', true]];
    has.filter(function (b) { return b[3]; }).forEach(function (b) {
      var button = document.createElement('button');
      button.type = 'button'; button.dataset.view = b[0]; button.textContent = b[1]; button.title = b[2];
      row.appendChild(button);
    });
    div.parentNode.insertBefore(row, div);
  }
  function buttons(div) {
    var v = chosen(div), f = figureOf(div), row = div.parentNode.querySelector('.figtools');
    if (!row) { return; }
    var on = { log: v.log === null ? f.y.log && v.mode !== 'cdf' : v.log, apart: v.mode === 'apart', cdf: v.mode === 'cdf' };
    row.querySelectorAll('button').forEach(function (b) {
      if (b.dataset.view in on) { b.setAttribute('aria-pressed', String(!!on[b.dataset.view])); }
      if (b.dataset.view === 'reset') { b.hidden = !v.zoom; }
    });
  }
  function view(button) {
    var div = button.closest('figure').querySelector('.canvas'), v = chosen(div), f = figureOf(div), what = button.dataset.view;
    if (what === 'svg') { save(div, f); return; }
    if (what === 'reset') { zoom(div, null); return; }
    if (what === 'log') { v.log = !(v.log === null ? f.y.log && v.mode !== 'cdf' : v.log); } else { v.mode = v.mode === what ? 'lines' : what; v.zoom = null; }
    draw(div);
  }
  function save(div, f) { keep(div.querySelector('svg'), routeOf(div) + ' ' + f.title); }
  // A drawing as a file of its own, with the colours of the page.
  function keep(drawing, name) {
    var svg = drawing.cloneNode(true), style = getComputedStyle(document.documentElement), rules = '';
    for (var i = 0; i < 16; i++) { rules += '--s' + i + ':' + style.getPropertyValue('--s' + i) + ';'; }
    ['--ink', '--soft', '--line', '--rule', '--shade', '--panel', '--bg', '--bad', '--hover'].forEach(function (n) { rules += n + ':' + style.getPropertyValue(n) + ';'; });
    var css = document.createElementNS('http://www.w3.org/2000/svg', 'style');
    css.textContent = 'svg{' + rules + 'background:var(--panel);font:12px sans-serif}' + document.getElementById('chartstyle').textContent;
    svg.insertBefore(css, svg.firstChild);
    svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    cnsimSave(new XMLSerializer().serializeToString(svg), 'image/svg+xml', name.replace(/[^\w.]+/g, '-') + '.svg');
  }

  // ---- Zoom: figures of one article with the same horizontal axis move together
  function zoom(div, to) {
    var f = figureOf(div), article = div.closest('article') || div.parentNode;
    article.querySelectorAll('.canvas[data-drawn]').forEach(function (other) {
      var g = figureOf(other), same = g.x.unit === f.x.unit && g.x.title === f.x.title && !g.categories.length && chosen(other).mode !== 'cdf';
      if (other === div || (same && chosen(div).mode !== 'cdf')) { chosen(other).zoom = to; draw(other); }
    });
  }
  function spot(div, e) {
    var v = chosen(div), box = div.getBoundingClientRect(), x = (e.clientX - box.left) * (v.width / box.width), y = e.clientY - box.top;
    var p = v.panels.find(function (q) { return y <= q.box.b + 12; }) || v.panels[v.panels.length - 1];
    return { x: Math.min(Math.max(x, p.box.l), p.box.r), y: y, p: p };
  }
  var drag = null;
  function canvas(e) { return e.target.closest && e.target.closest('.canvas[data-drawn]'); }
  document.addEventListener('pointerdown', function (e) {
    var div = canvas(e);
    if (div && e.button === 0 && !figureOf(div).categories.length) { drag = { div: div, from: spot(div, e).x, p: spot(div, e).p }; }
  });
  document.addEventListener('pointermove', function (e) {
    var div = canvas(e);
    if (drag) {
      var at = spot(drag.div, e).x, rect = drag.div.querySelector('.choice');
      rect.setAttribute('x', Math.min(at, drag.from)); rect.setAttribute('width', Math.abs(at - drag.from));
    }
    if (div) { var s = spot(div, e); cursor(div, s.p.s.x.back(s.x)); } else { uncursor(); }
  });
  document.addEventListener('pointerup', function (e) {
    if (!drag) { return; }
    var at = spot(drag.div, e).x, d = drag, back = d.p.s.x.back;
    drag = null;
    d.div.querySelector('.choice').setAttribute('width', 0);
    if (Math.abs(at - d.from) > 6) { zoom(d.div, [back(Math.min(at, d.from)), back(Math.max(at, d.from))]); }
  });
  document.addEventListener('pointercancel', function () { if (drag) { drag.div.querySelector('.choice').setAttribute('width', 0); drag = null; } });
  document.addEventListener('dblclick', function (e) { var div = canvas(e); if (div && chosen(div).zoom) { zoom(div, null); } });
  document.addEventListener('keydown', function (e) {
    var div = e.target.classList && e.target.classList.contains('canvas') && e.target.dataset.drawn && e.target;
    if (!div) { return; }
    var v = chosen(div), s = v.panels[0].s.x, at = v.cursor === null ? (s.low + s.high) / 2 : v.cursor, move = { ArrowLeft: -1, ArrowRight: 1 }[e.key], categories = figureOf(div).categories.length;
    if (move) {
      var step = categories ? 1 : (s.high - s.low) / 60;
      at = Math.min(Math.max(categories && v.cursor === null ? 0 : at + move * step, categories ? 0 : s.low), categories ? categories - 1 : s.high);
      cursor(div, at);
    } else if ((e.key === '+' || e.key === '=' || e.key === '-') && !categories && !s.log) {
      var half = (s.high - s.low) * (e.key === '-' ? 1 : 0.25), whole = extent(figureOf(div).traces.map(function (t) { return t.data.x; }));
      var to = [Math.max(at - half, Math.min(whole[0], 0)), Math.min(at + half, whole[1])];
      zoom(div, e.key === '-' && to[1] - to[0] > 0.98 * (whole[1] - whole[0]) ? null : to);
    } else if (e.key === '0') { zoom(div, null); } else { return; }
    e.preventDefault();
  });

  // ---- Values at a place
  function nearest(x, at) {
    var a = 0, b = x.length - 1;
    while (b - a > 1) { var m = (a + b) >> 1; if (x[m] < at) { a = m; } else { b = m; } }
    return Math.abs(x[a] - at) <= Math.abs(x[b] - at) ? a : b;
  }
  var read = null;
  function uncursor() {
    if (!read) { return; }
    var div = read; read = null;
    if (state.has(div)) { chosen(div).cursor = null; }
    div.querySelectorAll('.cursor').forEach(function (c) { c.setAttribute('d', ''); });
    div.querySelectorAll('.readout').forEach(function (r) { r.remove(); });
  }
  function cursor(div, at) {
    if (read && read !== div) { uncursor(); }
    read = div;
    var f = figureOf(div), v = chosen(div), ax = axes(div, f), rows = [], s = v.panels[0].s;
    if (f.categories.length) { at = Math.min(Math.max(Math.round(at), 0), f.categories.length - 1); }
    v.cursor = at;
    shown(div, f).forEach(function (l) {
      if (!l.x.length) { return; }
      var i = f.categories.length ? l.x.indexOf(at) : nearest(l.x, at);
      if (i >= 0 && l.y[i] !== null) { rows.push([l, l.y[i], l.x[i], l.t.notes && l.t.notes[i]]); }
    });
    rows.sort(function (a, b) { return b[1] - a[1]; });
    if (f.kind === 'spans') { rows = standing(f, hiddenOf(div), at); }
    if (f.kind === 'heat') { rows = rows.filter(function (r) { return r[1] > 0; }); }
    var place = f.categories.length ? f.categories[at] : ax.x.title + ' ' + value(rows.length ? rows[0][2] : at) + (ax.x.unit ? ' ' + ax.x.unit : '');
    var box = div.querySelector('.readout') || div.appendChild(Object.assign(document.createElement('div'), { className: 'readout' }));
    box.setAttribute('aria-live', 'polite');
    box.innerHTML = '<b>' + esc(place) + '</b>' + rows.slice(0, 12).map(function (r) {
      return '<span><i style="background:' + colour(r[0]) + '"></i>' + esc(r[0].name) + ' <em>' + (f.kind === 'spans' && r[3] ? esc(r[3]) : value(r[1]) + (ax.y.unit ? ' ' + esc(ax.y.unit) : '') + (r[3] ? ', ' + esc(r[3]) : '')) + '</em></span>';
    }).join('');
    var px = s.x(at), left = px > v.width / 2;
    box.style.left = left ? '' : num(px + 14) + 'px';
    box.style.right = left ? num(v.width - px + 14) + 'px' : '';
    cross(div, at);
  }
  // The line at a place.
  function cross(div, at) {
    var v = chosen(div), px = num(v.panels[0].s.x(at));
    div.querySelector('.cursor').setAttribute('d', 'M' + px + ' 20V' + num(v.bottom));
  }

  // ---- When to draw
  var sizes = new ResizeObserver(function (list) {
    list.forEach(function (e) {
      var div = e.target, width = Math.round(e.contentRect.width);
      if (div.dataset.drawn && width > 0 && !chosen(div).print && Math.abs(chosen(div).width - width) > 1) { draw(div); }
    });
  });
  var queue = [], busy = false;
  var seen = new IntersectionObserver(function (list) {
    list.forEach(function (e) { if (e.isIntersecting && !e.target.dataset.drawn && queue.indexOf(e.target) < 0) { queue.push(e.target); } });
    if (!busy) { next(); }
  }, { rootMargin: '500px 0px' });
  // One figure a frame: scrolling stays smooth.
  function next() {
    var div = queue.shift();
    busy = !!div;
    if (!div) { return; }
    requestAnimationFrame(function () { if (div.offsetParent !== null && !div.dataset.drawn) { draw(div); } next(); });
  }
  // A page is shown: what is in view at once, the rest when it comes.
  function show(section) {
    queue = [];
    uncursor();
    section.querySelectorAll('.canvas').forEach(function (div, i) {
      div.dataset.uid = div.dataset.uid || 'f' + Math.random().toString(36).slice(2, 9) + i;
      if (!div.dataset.drawn && div.offsetParent !== null && div.getBoundingClientRect().top < innerHeight + 100) { draw(div); }
      seen.observe(div);
    });
  }

  // ---- Legends: each switches the lines of its own figures
  var hidden = new WeakMap();
  function block(element) { return element.closest('.block') || element.parentNode; }
  function hiddenOf(div) { return hidden.get(block(div)) || {}; }
  function redraw(scope) { (scope || document).querySelectorAll('.canvas[data-drawn]').forEach(draw); }
  function toggle(chip, only) {
    var scope = block(chip), off = hidden.get(scope) || {}, name = chip.dataset.name, chips = Array.from(scope.querySelectorAll('.chip'));
    hidden.set(scope, off);
    if (only) {
      var names = chips.map(function (c) { return c.dataset.name; }), alone = names.every(function (n) { return n === name ? !off[n] : off[n]; });
      names.forEach(function (n) { off[n] = !alone && n !== name; });
    } else { off[name] = !off[name]; }
    chips.forEach(function (c) { c.setAttribute('aria-pressed', String(!off[c.dataset.name])); });
    redraw(scope);
  }
  function highlight(chip, on) {
    block(chip).querySelectorAll('.canvas g[data-name]').forEach(function (g) { g.style.opacity = on && g.dataset.name !== chip.dataset.name ? 0.15 : ''; });
  }
  function print(on) {
    document.querySelectorAll('section.page:not([hidden]) .canvas').forEach(function (div, i) {
      div.dataset.uid = div.dataset.uid || 'p' + i + Math.random().toString(36).slice(2, 9);
      if (!on && !div.dataset.drawn) { return; }
      chosen(div).print = on;
      draw(div);
    });
  }
  return { show: show, redraw: redraw, toggle: toggle, highlight: highlight, print: print, page: page, decode: decode, view: view, draw: draw, cross: cross, keep: keep };
})();
