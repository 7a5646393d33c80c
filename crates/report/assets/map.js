// The map: ports of the network coloured step by step, the series of one port, and the way of a flow with its waits.
// The drawing is topology.rs's, and charts are drawn by chart.js.
var cnsimMap = (function () {
  'use strict';
  var esc = cnsimChart.esc, value = cnsimChart.value, decode = cnsimChart.row;
  var CLASSES = ['w u0', 'w u1', 'w u2', 'w u3', 'w u4', 'w u5', 'w u6', 'w u7', 'w u8', 'w none'];
  function level(v, most, all) {
    return v === 0 ? 0 : all ? Math.min(Math.ceil(v * 8 / all), 8) : Math.max(8 - Math.floor(Math.log2(most / v)), 1);
  }

  var maps = new WeakMap();
  function of(element) { return maps.get(element.closest('article.play')); }
  function control(m, name) { return m.root.querySelector('[data-map="' + name + '"]'); }
  function shownAs(m) { var o = control(m, 'what').selectedOptions[0]; return o && { row: o.value, words: o.textContent, of: o.dataset.of, unit: o.dataset.unit, worth: +o.dataset.worth, all: +(o.dataset.all || 0) }; }
  function options(select, list) { select.innerHTML = list.map(function (o) { return '<option value="' + esc(o[0]) + '">' + esc(o[1]) + '</option>'; }).join(''); select.parentNode.hidden = list.length < 1; }
  function port(m, name) { var map = m.play.map; return map && map.ports[m.numbers[name]]; }
  function ms(m, step) { return step * m.play.map.bin / 1e9; }
  function rowOf(m, p, row) { return row === 'xoff' && m.play.map.xoff_until === null || p[row] === undefined || p[row] === null ? null : decode(p[row], m.play.map.steps); }

  function setup(root) {
    var page = cnsimFigures.page(root.closest('section.page').dataset.page);
    var m = { root: root, plays: page.plays, figures: page.figures, base: page.figures.length, paths: {}, ends: [], going: 0, step: 0 };
    maps.set(root, m);
    m.svg = root.querySelector('svg');
    m.when = m.svg.querySelector('.when');
    m.svg.querySelectorAll('path.w').forEach(function (e) {
      m.paths[e.dataset.port] = e;
      m.ends.push({ port: e.dataset.port, at: e.getAttribute('d').match(/-?[\d.]+/g).map(Number) });
    });
    m.rows = Array.from(control(m, 'what').options);
    choose(m, 0);
  }
  // A run is shown.
  function choose(m, i) {
    stop(m);
    m.play = m.plays[i];
    m.numbers = {};
    var map = m.play.map, what = control(m, 'what');
    (map ? map.ports : []).forEach(function (p, n) { m.numbers[p.port] = n; });
    what.innerHTML = '';
    m.rows.forEach(function (o) { if (map && map.ports.some(function (p) { return p[o.value] !== undefined && p[o.value] !== null; }) && !(o.value === 'xoff' && map.xoff_until === null)) { what.appendChild(o); } });
    what.parentNode.hidden = !map;
    control(m, 'run').parentNode.hidden = m.plays.length < 2;
    m.root.querySelector('.time').hidden = !map;
    control(m, 'at').max = map ? map.steps - 1 : 0;
    options(control(m, 'port'), map ? [['', 'none chosen']].concat(map.ports.map(function (p) { return [p.port, p.port]; })) : []);
    options(control(m, 'flow'), m.play.flows.length ? [['', 'none chosen']].concat(m.play.flows.map(function (f, n) { return [n, name(f) + ', ' + value(f.bytes / 1e3) + ' KB, ' + value(f.time / Math.max(f.alone, 1)) + ' x alone']; })) : []);
    m.root.querySelector('.notes').innerHTML = m.play.notes.map(function (n) { return '<li>' + esc(n) + '</li>'; }).join('');
    colour(m);
    chart(m);
    way(m);
  }
  function name(f) { return f.nth ? f.flow + '#' + (f.nth + 1) : f.flow; }

  // A quantity is shown: the level of each port at each step, a step after the other.
  function colour(m) {
    var map = m.play.map, w = shownAs(m), scale = m.root.querySelector('.scale');
    m.elements = (map ? map.ports : []).map(function (p) { return m.paths[p.port]; });
    m.now = new Uint8Array(m.elements.length).fill(255);
    scale.hidden = !map;
    if (!map) { m.svg.querySelectorAll('path.w').forEach(function (e) { e.setAttribute('class', CLASSES[9]); }); return; }
    var rows = map.ports.map(function (p) { return rowOf(m, p, w.row); }), n = rows.length, most = 0, i, t;
    rows.forEach(function (r) { if (r) { for (var k = 0; k < r.length; k++) { if (r[k] > most) { most = r[k]; } } } });
    m.levels = new Uint8Array(n * map.steps);
    for (i = 0; i < n; i++) { for (t = 0; t < map.steps; t++) { m.levels[t * n + i] = rows[i] ? level(rows[i][t], most, w.all) : 9; } }
    m.dark = w.all ? '87.5 %' : value(most * w.worth / 2) + ' ' + w.unit;
    var edges = [1, 2, 3, 4, 5, 6, 7, 8].map(function (k) { return w.all ? value(12.5 * k) : String(+(most * w.worth / Math.pow(2, 8 - k)).toPrecision(3)); });
    scale.innerHTML = '<b>' + esc(w.words) + '</b> ' + esc(w.of) + ', in ' + esc(w.unit) + ': ' + [0].concat(edges).map(function (e, k) { return '<span><svg class="topology" width="26" height="10" aria-hidden="true"><path class="' + CLASSES[k] + '" d="M2 5H24"/></svg>' + (k ? 'to ' + e : '0') + '</span>'; }).join(' ') +
      (rows.some(function (r) { return !r; }) ? ' <span><svg class="topology" width="26" height="10" aria-hidden="true"><path class="w none" d="M2 5H24"/></svg>not kept</span>' : '');
    step(m, Math.min(m.step, map.steps - 1));
  }
  // A step is shown: only ports whose level differs are touched.
  function step(m, t) {
    var n = m.elements.length, base = t * n, levels = m.levels, now = m.now, w = shownAs(m);
    m.step = t;
    for (var i = 0; i < n; i++) {
      var l = levels[base + i];
      if (l !== now[i]) { now[i] = l; if (m.elements[i]) { m.elements[i].setAttribute('class', CLASSES[l]); } }
    }
    var span = value(ms(m, t)) + ' to ' + value(ms(m, t + 1)) + ' ms', slider = control(m, 'at');
    slider.value = t;
    slider.setAttribute('aria-valuetext', span);
    m.root.querySelector('output').textContent = span;
    m.when.textContent = w.words + ': ' + w.of + ', ' + span + '; darkest: above ' + m.dark;
    m.root.querySelectorAll('.series .canvas[data-drawn]').forEach(function (div) { cnsimFigures.cross(div, ms(m, t + 1)); });
    if (!m.going) { say(m, m.over || control(m, 'port').value); }
  }
  // The port under the pointer, or the chosen one, in words.
  function say(m, name) {
    var p = name && port(m, name), said = m.root.querySelector('.said');
    said.textContent = !p ? '' : p.port + ', step ' + (m.step + 1) + ': ' + m.rows.map(function (o) {
      var row = rowOf(m, p, o.value);
      return row && o.textContent + ' ' + value(row[m.step] * +o.dataset.worth) + ' ' + o.dataset.unit;
    }).filter(Boolean).join(', ');
  }
  function stop(m) { cancelAnimationFrame(m.going); m.going = 0; control(m, 'go').textContent = 'Play'; }
  function go(m) {
    if (m.going) { stop(m); step(m, m.step); return; }
    var map = m.play.map, by = Math.ceil(map.steps / 600), from = m.step >= map.steps - 1 ? 0 : m.step;
    control(m, 'go').textContent = 'Stop';
    function next() {
      step(m, Math.min(from, map.steps - 1));
      if (from >= map.steps - 1 || !m.root.isConnected) { stop(m); return; }
      from += by;
      m.going = requestAnimationFrame(next);
    }
    m.going = requestAnimationFrame(next);
  }

  // ---- Charts of a port and of a flow, drawn by chart.js: figures of the page behind its own.
  function figure(m, box, at, f, class_) {
    Object.assign(f, { categories: [], windows: [], levels: [] });
    m.figures[at] = f;
    box.insertAdjacentHTML('beforeend', '<figure class="plot' + (class_ ? '' : ' large') + '"><figcaption><b>' + esc(f.title) + '</b> <span>' + esc(f.words) + '</span></figcaption><div class="canvas' + class_ + '" data-figure="' + at + '" tabindex="0" role="group" aria-label="' + esc(f.title) + '; arrow keys read values" data-alt="' + esc(f.title) + '"></div></figure>');
  }
  function chart(m) {
    var box = m.root.querySelector('.series'), name = control(m, 'port').value, p = name && port(m, name);
    box.innerHTML = '';
    light(m);
    if (!p) { return; }
    var zero = [], x = Array.from({ length: m.play.map.steps }, function (_, t) { return ms(m, t + 1); });
    m.rows.forEach(function (o, k) {
      var row = rowOf(m, p, o.value);
      if (!row) { return; }
      if (row.every(function (v) { return !v; })) { zero.push(o.textContent); return; }
      var y = Array.from(row, function (v) { return v * +o.dataset.worth; });
      figure(m, box, m.base + k, { title: p.port + ', ' + o.textContent, words: o.dataset.unit + ' ' + o.dataset.of, kind: 'lines', x: { title: 'time', unit: 'ms', log: false }, y: { title: o.textContent, unit: o.dataset.unit, log: false },
        traces: [{ name: p.port, slot: 8, dash: 0, group: '', notes: [], data: { x: x, y: y, whole: true } }] }, ' tiny');
    });
    if (zero.length) { box.insertAdjacentHTML('beforeend', '<p class="small">' + esc(p.port + ', zero at all times: ' + zero.join(', ')) + '.</p>'); }
    cnsimFigures.show(m.root.closest('section.page'));
  }
  // Where a flow's time went: a row for its source, each port on its way, and the last acknowledgement, one after the other in time.
  function way(m) {
    var box = m.root.querySelector('.course'), legend = box.parentNode.querySelector('.legend'), f = m.play.flows[control(m, 'flow').value];
    box.innerHTML = legend.innerHTML = '';
    light(m);
    if (!f) { return; }
    var parts = m.root.dataset.parts.split('|').map(function (p) { return p.split(':'); }), at = 0, traces = [];
    function part(row, n, time) {
      if (time > 0) {
        traces.push({ name: parts[n][1], slot: +parts[n][0], dash: 0, group: row, notes: [value(time / 1e6) + ' us, ' + value(+(100 * time / f.time).toFixed(1)) + ' % of the flow', ''], data: { x: [at / 1e6, (at + time) / 1e6], y: [100, 0], whole: true } });
      }
      at += time;
    }
    f.source.forEach(function (time, n) { part('at the source', n, time); });
    f.ports.forEach(function (p) { [1, 2, 3, 4].forEach(function (k) { part(m.play.ports[p[0]], 6 + k, p[k]); }); });
    part('to the source', 11, f.answer);
    var seen = {};
    legend.innerHTML = traces.filter(function (t) { var is = !seen[t.name]; seen[t.name] = 1; return is; }).map(function (t) { return '<button class="chip" type="button" aria-pressed="true" data-name="' + esc(t.name) + '"><i style="background:var(--s' + t.slot + ')"></i>' + esc(t.name) + '</button>'; }).join('');
    figure(m, box, m.base + m.rows.length, { title: 'Where the time of ' + name(f) + ' went', words: value(f.time / 1e6) + ' us from ' + value(f.start / 1e9) + ' ms on, alone ' + value(f.alone / 1e6) + ' us', kind: 'spans', x: { title: 'time since its start, along the last byte', unit: 'us', log: false }, y: { title: '', unit: '', log: false }, traces: traces }, '');
    cnsimFigures.show(m.root.closest('section.page'));
  }
  // The chosen port and the way of the chosen flow are broad below their colours.
  function light(m) {
    var f = m.play.flows[control(m, 'flow').value], chosen = f ? f.ports.map(function (p) { return m.play.ports[p[0]]; }) : [], first = m.svg.querySelector('path.w');
    m.svg.querySelectorAll('.way').forEach(function (e) { e.remove(); });
    chosen.concat(control(m, 'port').value || []).forEach(function (name) {
      var e = m.paths[name];
      if (!e) { return; }
      var way = e.cloneNode(false);
      way.setAttribute('class', 'way');
      m.svg.insertBefore(way, first);
    });
  }

  // ---- Pointer and controls
  // The port whose half of a link is nearest to the pointer, within 14 pixels.
  function nearest(m, e) {
    var p = m.svg.createSVGPoint(), best = null, within = 14;
    p.x = e.clientX; p.y = e.clientY;
    var ctm = m.svg.getScreenCTM(), q = p.matrixTransform(ctm.inverse());
    m.ends.forEach(function (o) {
      var a = o.at, dx = a[4] - a[0], dy = a[5] - a[1], t = Math.max(0, Math.min(1, ((q.x - a[0]) * dx + (q.y - a[1]) * dy) / (dx * dx + dy * dy || 1)));
      // At the middle, a bent line lies half way from its chord to its control.
      var b = 2 * t * (1 - t), x = a[0] + t * dx + b * (a[2] - (a[0] + a[4]) / 2), y = a[1] + t * dy + b * (a[3] - (a[1] + a[5]) / 2);
      var far = Math.hypot(q.x - x, q.y - y) * ctm.a;
      if (far < within) { within = far; best = o.port; }
    });
    return best;
  }
  document.addEventListener('pointermove', function (e) {
    var svg = e.target.closest && e.target.closest('article.play svg.topology'), m = svg && of(svg);
    if (m && m.svg === svg) { m.over = nearest(m, e); if (m.play.map) { say(m, m.over || control(m, 'port').value); } }
  });
  document.addEventListener('click', function (e) {
    var svg = e.target.closest('article.play svg.topology'), button = e.target.closest('article.play button[data-map]'), m = of(svg || button || document.body);
    if (svg && m && m.svg === svg && m.play.map) { var hit = nearest(m, e); if (hit) { control(m, 'port').value = hit; chart(m); step(m, m.step); } }
    if (button && button.dataset.map === 'go') { go(m); }
    if (button && button.dataset.map === 'svg') { cnsimFigures.keep(m.svg, 'map ' + m.root.querySelector('output').textContent); }
  });
  document.addEventListener('input', function (e) {
    if (e.target.dataset.map === 'at') { var m = of(e.target); stop(m); step(m, +e.target.value); }
  });
  document.addEventListener('change', function (e) {
    var what = e.target.dataset.map, m = what && of(e.target);
    if (what === 'run') { choose(m, +e.target.value); }
    if (what === 'what') { colour(m); }
    if (what === 'port') { chart(m); step(m, m.step); }
    if (what === 'flow') { way(m); }
  });
  function show(section) { section.querySelectorAll('article.play').forEach(function (root) { if (!maps.has(root)) { setup(root); } }); }
  return { show: show, step: function (root, t) { step(maps.get(root), t); } };
})();
