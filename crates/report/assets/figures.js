// Figures of a page: drawn by chart.js when they come into view, switched, zoomed, and read by pointer or keyboard.
const cnsimFigures = (() => {
  'use strict';
  const { esc, num, axes, extent, value, colour } = cnsimChart;
  const pages = {};            // route -> data
  const state = new WeakMap(); // canvas -> the view that the reader chose, and what is drawn of it
  const hidden = new WeakMap(); // block -> names of lines that are switched off
  let ids = 0;

  // ---- Data and views
  function page(route) {
    const data = () => Array.from(document.querySelectorAll('script[data-for]')).find((s) => s.dataset.for === route);
    pages[route] = pages[route] || JSON.parse(data()?.textContent || '{"tables":[],"plays":[],"figures":[]}');
    return pages[route];
  }
  const routeOf = (e) => e.closest('[data-of]')?.dataset.of || e.closest('section.page').dataset.page;
  const figureOf = (div) => cnsimChart.decode(page(routeOf(div)).figures[+div.dataset.figure]);
  function chosen(div) {
    if (!state.has(div)) { state.set(div, { id: `f${ids++}`, zoom: null, log: null, mode: 'lines', cursor: null, print: false, drawn: null }); }
    return state.get(div);
  }
  const block = (e) => e.closest('.block') || e.parentNode;
  const view = (div) => Object.assign(chosen(div), { off: hidden.get(block(div)) || {} });
  const overTime = (f) => f.kind === 'heat' || f.kind === 'spans';

  // The drawing takes the place of the one before it.
  function draw(div) {
    const f = figureOf(div), v = view(div), tiny = div.classList.contains('tiny'), width = v.print ? 340 : Math.max(div.clientWidth, 140);
    v.drawn = cnsimChart.draw(f, { ...v, tiny, width, alt: div.dataset.alt });
    div.querySelectorAll(':scope > svg, :scope > .readout').forEach((e) => e.remove());
    div.insertAdjacentHTML('afterbegin', v.drawn.svg);
    div.style.height = `${num(v.drawn.height)}px`;
    if (!div.dataset.drawn) { div.dataset.drawn = '1'; tools(div, f); sizes.observe(div); }
    buttons(div);
  }

  // ---- Tools of a figure
  function tools(div, f) {
    const whole = f.kind === 'lines' && f.traces.every((t) => t.data.whole && t.data.y.length > 20), rows = overTime(f);
    const has = [['log', 'log', 'logarithmic axis', !rows && extent(f.traces.map((t) => t.data.y)) !== null], ['apart', 'apart', 'one panel a line', f.kind === 'lines' && f.traces.length > 1],
      ['cdf', 'CDF', 'share of time at or below a value', whole && f.x.title === 'time'], ['reset', 'whole', 'undo the zoom', true], ['svg', 'SVG', 'save as SVG', true]];
    const all = has.filter((b) => b[3]).map(([what, words, title]) => `<button type="button" data-view="${what}" title="${title}">${words}</button>`).join('');
    div.insertAdjacentHTML('beforebegin', `<div class="figtools" role="group" aria-label="view of ${esc(f.title)}">${all}</div>`);
  }
  const logged = (f, v) => (v.log === null ? f.y.log && v.mode !== 'cdf' : v.log);
  function buttons(div) {
    const v = chosen(div), on = { log: logged(figureOf(div), v), apart: v.mode === 'apart', cdf: v.mode === 'cdf' };
    div.parentNode.querySelectorAll('.figtools button').forEach((b) => {
      if (b.dataset.view in on) { b.setAttribute('aria-pressed', String(!!on[b.dataset.view])); }
      if (b.dataset.view === 'reset') { b.hidden = !v.zoom; }
    });
  }
  function press(button) {
    const div = button.closest('figure').querySelector('.canvas'), v = chosen(div), f = figureOf(div), what = button.dataset.view;
    if (what === 'svg') { keep(div.querySelector('svg'), `${routeOf(div)} ${f.title}`); return; }
    if (what === 'reset') { zoom(div, null); return; }
    if (what === 'log') { v.log = !logged(f, v); } else { v.mode = v.mode === what ? 'lines' : what; v.zoom = null; }
    draw(div);
  }
  // A drawing as a file of its own, with the colours of the page.
  function keep(drawing, name) {
    const svg = drawing.cloneNode(true), style = getComputedStyle(document.documentElement), css = document.createElementNS('http://www.w3.org/2000/svg', 'style');
    const names = ['ink', 'soft', 'line', 'rule', 'shade', 'panel', 'bg', 'bad', 'hover', ...Array.from({ length: 16 }, (_, i) => `s${i}`)];
    const rules = names.map((n) => `--${n}:${style.getPropertyValue(`--${n}`)};`).join('');
    css.textContent = `svg{${rules}background:var(--panel);font:12px sans-serif}${document.getElementById('chartstyle').textContent}`;
    svg.insertBefore(css, svg.firstChild);
    svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    cnsimSave(new XMLSerializer().serializeToString(svg), 'image/svg+xml', `${name.replace(/[^\w.]+/g, '-')}.svg`);
  }

  // ---- Zoom: figures of one article with the same horizontal axis move together
  function zoom(div, to) {
    const f = figureOf(div), alone = chosen(div).mode === 'cdf';
    (div.closest('article') || div.parentNode).querySelectorAll('.canvas[data-drawn]').forEach((other) => {
      const g = figureOf(other), same = g.x.unit === f.x.unit && g.x.title === f.x.title && !g.categories.length && chosen(other).mode !== 'cdf';
      if (other === div || (same && !alone)) { chosen(other).zoom = to; draw(other); }
    });
  }
  function spot(div, e) {
    const { drawn } = chosen(div), box = div.getBoundingClientRect(), y = e.clientY - box.top;
    const p = drawn.panels.find((q) => y <= q.b + 12) || drawn.panels.at(-1);
    return { x: Math.min(Math.max((e.clientX - box.left) * (drawn.width / box.width), p.l), p.r), p };
  }
  const canvas = (e) => e.target.closest && e.target.closest('.canvas[data-drawn]');
  const choice = (div) => div.querySelector('.choice');
  let drag = null;
  document.addEventListener('pointerdown', (e) => {
    const div = canvas(e);
    if (div && e.button === 0 && !figureOf(div).categories.length) { drag = { div, ...spot(div, e) }; }
  });
  document.addEventListener('pointermove', (e) => {
    const div = canvas(e);
    if (drag) {
      const at = spot(drag.div, e).x;
      choice(drag.div).setAttribute('x', Math.min(at, drag.x));
      choice(drag.div).setAttribute('width', Math.abs(at - drag.x));
    }
    if (div) { const s = spot(div, e); cursor(div, s.p.x.back(s.x)); } else { uncursor(); }
  });
  ['pointerup', 'pointercancel'].forEach((kind) => document.addEventListener(kind, (e) => {
    if (!drag) { return; }
    const { div, x, p } = drag, ends = [x, spot(div, e).x].sort((a, b) => a - b);
    drag = null;
    choice(div).setAttribute('width', 0);
    if (kind === 'pointerup' && ends[1] - ends[0] > 6) { zoom(div, ends.map(p.x.back)); }
  }));
  document.addEventListener('dblclick', (e) => { const div = canvas(e); if (div && chosen(div).zoom) { zoom(div, null); } });
  document.addEventListener('keydown', (e) => {
    const div = e.target.matches && e.target.matches('.canvas[data-drawn]') && e.target;
    if (!div) { return; }
    const v = chosen(div), f = figureOf(div), s = v.drawn.panels[0].x, last = f.categories.length - 1, named = last >= 0;
    const at = v.cursor ?? (s.low + s.high) / 2, move = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (move) {
      // The first key goes to the first bars, or from the middle of the axis on.
      const [low, high, step] = named ? [0, last, 1] : [s.low, s.high, (s.high - s.low) / 60];
      cursor(div, named && v.cursor === null ? 0 : Math.min(Math.max(at + move * step, low), high));
    } else if (/^[-+=]$/.test(e.key) && !named && !s.log) {
      const half = (s.high - s.low) * (e.key === '-' ? 1 : 0.25), whole = extent(f.traces.map((t) => t.data.x));
      const to = [Math.max(at - half, Math.min(whole[0], 0)), Math.min(at + half, whole[1])];
      zoom(div, e.key === '-' && to[1] - to[0] > 0.98 * (whole[1] - whole[0]) ? null : to);
    } else if (e.key === '0') { zoom(div, null); } else { return; }
    e.preventDefault();
  });

  // ---- Values at a place
  function nearest(x, at) {
    let a = 0, b = x.length - 1;
    while (b - a > 1) { const m = (a + b) >> 1; if (x[m] < at) { a = m; } else { b = m; } }
    return Math.abs(x[a] - at) <= Math.abs(x[b] - at) ? a : b;
  }
  // The rows at a place: line, its name, value with unit, and the place of the value.
  function values(f, v, at) {
    const unit = axes(f, v).y.unit, words = (y) => value(y) + (unit ? ` ${unit}` : ''), rows = [];
    for (const l of cnsimChart.shown(f, v).filter((l) => l.x.length)) {
      const i = f.categories.length ? l.x.indexOf(at) : nearest(l.x, at);
      if (i < 0 || l.y[i] === null || (f.kind === 'heat' && !(l.y[i] > 0))) { continue; }
      rows.push({ slot: l.slot, name: l.name, y: l.y[i], x: l.x[i], words: words(l.y[i]) + (l.notes[i] ? `, ${l.notes[i]}` : '') });
    }
    return rows.sort((a, b) => b.y - a.y);
  }
  // Who stands at a time, and for whom.
  function standing(f, v, at) {
    return f.traces.filter((t) => !v.off[t.name]).flatMap((t) => {
      const { x, y } = t.data, i = x.findLastIndex((from) => from <= at), note = t.notes?.[i];
      if (i < 0 || i + 1 >= x.length || !(y[i] > 0)) { return []; }
      return { slot: t.slot, name: t.group + (note ? `: ${t.name}` : ` for ${t.name.split(':')[0]}`), x: at, words: note || `${value(y[i])} ${f.y.unit}` };
    });
  }
  let read = null;
  function uncursor() {
    if (!read) { return; }
    chosen(read).cursor = null;
    read.querySelectorAll('.cursor').forEach((c) => c.setAttribute('d', ''));
    read.querySelectorAll('.readout').forEach((r) => r.remove());
    read = null;
  }
  function cursor(div, to) {
    if (read && read !== div) { uncursor(); }
    read = div;
    const f = figureOf(div), v = view(div), { x } = axes(f, v), names = f.categories;
    const at = names.length ? Math.min(Math.max(Math.round(to), 0), names.length - 1) : to;
    const rows = f.kind === 'spans' ? standing(f, v, at) : values(f, v, at);
    const place = names.length ? names[at] : `${x.title} ${value(rows.length ? rows[0].x : at)}${x.unit ? ` ${x.unit}` : ''}`;
    const box = div.querySelector('.readout') || div.appendChild(Object.assign(document.createElement('div'), { className: 'readout' }));
    v.cursor = at;
    box.setAttribute('aria-live', 'polite');
    box.innerHTML = `<b>${esc(place)}</b>${rows.slice(0, 12).map((r) => `<span><i style="background:${colour(r)}"></i>${esc(r.name)} <em>${esc(r.words)}</em></span>`).join('')}`;
    const px = v.drawn.panels[0].x(at), left = px > v.drawn.width / 2;
    box.style.left = left ? '' : `${num(px + 14)}px`;
    box.style.right = left ? `${num(v.drawn.width - px + 14)}px` : '';
    cross(div, at);
  }
  // The line at a place.
  function cross(div, at) {
    const { drawn } = chosen(div);
    div.querySelector('.cursor').setAttribute('d', `M${num(drawn.panels[0].x(at))} 20V${num(drawn.bottom)}`);
  }

  // ---- When to draw
  const sizes = new ResizeObserver((list) => list.forEach(({ target: div, contentRect }) => {
    const width = Math.round(contentRect.width), v = chosen(div);
    if (div.dataset.drawn && width > 0 && !v.print && Math.abs(v.drawn.width - width) > 1) { draw(div); }
  }));
  let queue = [], busy = false;
  const seen = new IntersectionObserver((list) => {
    for (const { target: div, isIntersecting } of list) { if (isIntersecting && !div.dataset.drawn && !queue.includes(div)) { queue.push(div); } }
    if (!busy) { next(); }
  }, { rootMargin: '500px 0px' });
  // One figure a frame: scrolling stays smooth.
  function next() {
    const div = queue.shift();
    busy = !!div;
    if (div) { requestAnimationFrame(() => { if (div.offsetParent !== null && !div.dataset.drawn) { draw(div); } next(); }); }
  }
  // A page is shown: what is in view at once, the rest when it comes.
  function show(section) {
    queue = [];
    uncursor();
    section.querySelectorAll('.canvas').forEach((div) => {
      if (!div.dataset.drawn && div.offsetParent !== null && div.getBoundingClientRect().top < innerHeight + 100) { draw(div); }
      seen.observe(div);
    });
  }

  // ---- Legends: each switches the lines of its own figures
  function toggle(chip, only) {
    const scope = block(chip), off = hidden.get(scope) || {}, name = chip.dataset.name, chips = Array.from(scope.querySelectorAll('.chip'));
    hidden.set(scope, off);
    if (only) {
      const names = chips.map((c) => c.dataset.name), alone = names.every((n) => !off[n] === (n === name));
      names.forEach((n) => { off[n] = !alone && n !== name; });
    } else { off[name] = !off[name]; }
    chips.forEach((c) => c.setAttribute('aria-pressed', String(!off[c.dataset.name])));
    scope.querySelectorAll('.canvas[data-drawn]').forEach(draw);
  }
  function highlight(chip, on) {
    block(chip).querySelectorAll('.canvas g[data-name]').forEach((g) => { g.style.opacity = on && g.dataset.name !== chip.dataset.name ? 0.15 : ''; });
  }
  function print(on) {
    document.querySelectorAll('section.page:not([hidden]) .canvas').forEach((div) => {
      if (on || div.dataset.drawn) { chosen(div).print = on; draw(div); }
    });
  }
  return { show, toggle, highlight, print, page, press, draw, cross, keep };
})();
