// Figures: data decoded, drawn when they come into view, restyled with the theme, switched and zoomed together.
// The library is text until the first figure is needed, so that opening the report costs nothing.
var cnsimFigures = (function () {
  'use strict';
  var DASHES = ['solid', 'dash', 'dot', 'dashdot'];
  var pages = {};   // route -> data
  var hidden = {};  // route -> {name: true}
  var queue = [], busy = false, syncing = false, printing = false;

  function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

  function library() {
    if (!window.Plotly) {
      var script = document.createElement('script');
      script.textContent = document.getElementById('library').textContent;
      document.head.appendChild(script);
    }
    return window.Plotly;
  }

  function bytes(text) {
    var raw = atob(text), out = new Uint8Array(raw.length);
    for (var i = 0; i < raw.length; i++) { out[i] = raw.charCodeAt(i); }
    return new DataView(out.buffer);
  }

  // See encode.rs: what is written there is read here.
  function decode(series) {
    var y, x, i, view;
    if (series.y.plain) { y = series.y.plain; } else {
      var low = series.y.coded[0], high = series.y.coded[1];
      view = bytes(series.y.coded[2]);
      y = new Array(view.byteLength / 2);
      for (i = 0; i < y.length; i++) {
        var code = view.getUint16(2 * i, true);
        y[i] = code === 65535 ? null : code === 65534 ? high : low + (high - low) * code / 65534;
      }
      if (high === low) { y = y.map(function (v) { return v === null ? null : low; }); }
    }
    if (series.x.plain) { x = series.x.plain; } else if (series.x.even) {
      x = y.map(function (_, k) { return series.x.even[0] + series.x.even[1] * k; });
    } else {
      view = bytes(series.x.at[2]);
      x = y.map(function (_, k) { return series.x.at[0] + series.x.at[1] * view.getUint32(4 * k, true); });
    }
    // Seven digits: what multiplying adds behind them is no information.
    return { x: x.map(function (v) { return +v.toPrecision(7); }), y: y };
  }

  function page(route) {
    if (!pages[route]) {
      var data = Array.from(document.querySelectorAll('script[data-for]')).find(function (s) { return s.dataset.for === route; });
      pages[route] = data ? JSON.parse(data.textContent) : { tables: [], looks: [], figures: [] };
    }
    return pages[route];
  }

  function routeOf(element) { return element.closest('section.page').dataset.page; }

  function axis(a) { return a.unit ? a.title + ' [' + a.unit + ']' : a.title; }

  function tint(colour, alpha) {
    var n = parseInt(colour.slice(1), 16);
    return 'rgba(' + (n >> 16) + ',' + (n >> 8 & 255) + ',' + (n & 255) + ',' + alpha + ')';
  }

  // The interval of the mean on top of a bar.
  function whiskers(t) {
    if (!t.low || !t.high) { return undefined; }
    var low = decode(t.low).y, high = decode(t.high).y, y = t.data.y;
    return { type: 'data', symmetric: false, array: high.map(function (v, i) { return v - y[i]; }), arrayminus: low.map(function (v, i) { return y[i] - v; }),
      color: css('--ink'), thickness: 1.1, width: 3 };
  }

  function traces(f, off) {
    var out = [];
    f.traces.forEach(function (t) {
      var colour = css('--s' + t.slot), visible = !off[t.name];
      t.data = t.data || decode(t.line);
      if (t.low && t.high && f.kind !== 'bars') {
        t.band = t.band || [decode(t.low), decode(t.high)];
        t.band.forEach(function (b, i) {
          out.push({ type: 'scatter', mode: 'lines', x: b.x, y: b.y, name: t.name, visible: visible, hoverinfo: 'skip', showlegend: false,
            line: { width: 0 }, fill: i ? 'tonexty' : 'none', fillcolor: tint(colour, 0.16) });
        });
      }
      var unit = f.y.unit ? ' ' + f.y.unit : '';
      if (f.kind === 'bars') {
        out.push({ type: 'bar', x: t.data.x, y: t.data.y, name: t.name, visible: visible, marker: { color: colour, pattern: { shape: ['', '/', '.', 'x'][t.dash], bgcolor: 'rgba(0,0,0,0)' } }, hovertemplate: t.name + ': %{y:.4~g}' + unit + '<extra></extra>',
          error_y: whiskers(t) });
      } else {
        out.push({ type: 'scatter', mode: f.kind === 'points' ? 'lines+markers' : 'lines', x: t.data.x, y: t.data.y, name: t.name, visible: visible,
          line: { color: colour, width: t.slot === 0 ? 1.3 : 1.6, dash: DASHES[t.dash] }, marker: { color: colour, size: 7 }, hovertemplate: '%{y:.4~g}' + unit, connectgaps: false });
      }
    });
    return out;
  }

  function layout(f) {
    var ink = css('--ink'), soft = css('--soft'), line = css('--line'), shapes = [], notes = [];
    f.windows.forEach(function (w) {
      shapes.push({ type: 'rect', xref: 'x', yref: 'paper', x0: w.from, x1: w.to, y0: 0, y1: 1, fillcolor: css('--shade'), line: { width: 0 }, layer: 'below' });
      notes.push({ x: f.x.log ? Math.log10(w.from) : w.from, y: 1, xref: 'x', yref: 'paper', text: w.label, showarrow: false, xanchor: 'left', yanchor: 'bottom', xshift: -1, font: { size: 11, color: soft } });
    });
    f.levels.forEach(function (l) {
      shapes.push({ type: 'line', xref: 'paper', x0: 0, x1: 1, y0: l.value, y1: l.value, line: { color: soft, width: 1, dash: '5px,4px' } });
      notes.push({ x: 1, y: f.y.log ? Math.log10(l.value) : l.value, xref: 'paper', yref: 'y', text: l.label, showarrow: false, xanchor: 'right', yanchor: 'bottom', font: { size: 11, color: soft }, bgcolor: tint(hex(css('--panel')), 0.72), borderpad: 1 });
    });
    var common = { gridcolor: line, zeroline: false, linecolor: css('--rule'), tickcolor: css('--rule'), ticks: 'outside', ticklen: 4, tickfont: { size: 11.5, color: soft }, automargin: true };
    var x = Object.assign({}, common, { showgrid: false, showline: true, title: { text: axis(f.x), font: { size: 12, color: soft }, standoff: 6 }, type: f.x.log ? 'log' : 'linear', hoverformat: '.6~g' });
    if (f.x.unit) { x.unifiedhovertitle = { text: f.x.title + ' %{x} ' + f.x.unit }; }
    var y = Object.assign({}, common, { ticklen: 0, title: { text: axis(f.y), font: { size: 12, color: soft }, standoff: 8 }, type: f.y.log ? 'log' : 'linear', rangemode: 'tozero', nticks: 6, exponentformat: 'none', separatethousands: true });
    if (f.categories.length) {
      Object.assign(x, { type: 'linear', tickmode: 'array', tickvals: f.categories.map(function (_, i) { return i; }), ticktext: f.categories });
      delete x.hoverformat;
    }
    return { margin: { l: 52, r: 12, t: 24, b: 40 }, paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)', showlegend: false, barmode: 'group', bargap: 0.3,
      font: { color: ink, family: getComputedStyle(document.body).fontFamily, size: 12 }, xaxis: x, yaxis: y, shapes: shapes, annotations: notes, separators: '.\u202f',
      hovermode: f.kind === 'bars' ? 'closest' : 'x unified', hoverlabel: { bgcolor: css('--panel'), bordercolor: css('--rule'), font: { color: ink, size: 12 } },
      modebar: { bgcolor: 'rgba(0,0,0,0)', color: css('--faint'), activecolor: ink } };
  }

  function hex(colour) { return /^#[0-9a-f]{6}$/i.test(colour) ? colour : '#ffffff'; }

  function draw(div) {
    var route = routeOf(div), f = page(route).figures[+div.dataset.figure], P = library();
    if (!P) { div.classList.add('failed'); div.textContent = 'This browser cannot draw the figure.'; return; }
    var look = layout(f);
    if (div.dataset.drawn && div._fullLayout) {
      ['xaxis', 'yaxis'].forEach(function (a) {
        var now = div._fullLayout[a];
        if (!now.autorange) { look[a].range = now.range.slice(); look[a].autorange = false; }
      });
    }
    P.react(div, traces(f, hidden[route] || {}), look, {
      displaylogo: false, responsive: false, displayModeBar: !printing, staticPlot: false,
      modeBarButtonsToRemove: ['lasso2d', 'select2d', 'autoScale2d'],
      toImageButtonOptions: { format: 'svg', filename: (route + ' ' + f.title).replace(/[^\w.-]+/g, '-') }
    });
    if (div.dataset.drawn) { return; }
    div.dataset.drawn = '1';
    div.on('plotly_relayout', function (change) { zoom(div, f, change); });
    sizes.observe(div);
  }

  // Zooming one figure in time zooms those beside it.
  function zoom(div, f, change) {
    if (syncing) { return; }
    var to = null;
    if (change['xaxis.autorange']) { to = { 'xaxis.autorange': true }; }
    if (change['xaxis.range[0]'] !== undefined) { to = { 'xaxis.range': [change['xaxis.range[0]'], change['xaxis.range[1]']] }; }
    var article = div.closest('article');
    if (!to || !article || f.categories.length) { return; }
    syncing = true;
    var all = page(routeOf(div)).figures;
    article.querySelectorAll('.canvas[data-drawn]').forEach(function (other) {
      var g = all[+other.dataset.figure];
      if (other !== div && g.x.unit === f.x.unit && g.x.title === f.x.title && !g.categories.length) { Plotly.relayout(other, to); }
    });
    syncing = false;
  }

  // Width changed: draw anew at the new size.
  var sizes = new ResizeObserver(function (list) {
    list.forEach(function (e) {
      var div = e.target, width = Math.round(e.contentRect.width);
      if (div.dataset.drawn && width > 0 && div._fullLayout && Math.abs(div._fullLayout.width - width) > 1) { Plotly.Plots.resize(div); }
    });
  });

  var seen = new IntersectionObserver(function (list) {
    list.forEach(function (e) {
      if (e.isIntersecting && !e.target.dataset.drawn && queue.indexOf(e.target) < 0) { queue.push(e.target); }
    });
    if (!busy) { next(); }
  }, { rootMargin: '500px 0px' });

  // One figure a frame: scrolling stays smooth.
  function next() {
    var div = queue.shift();
    busy = !!div;
    if (!div) { return; }
    requestAnimationFrame(function () {
      if (div.offsetParent !== null && !div.dataset.drawn) { draw(div); }
      next();
    });
  }

  function drop(div) {
    sizes.unobserve(div);
    seen.unobserve(div);
    if (div.dataset.drawn) { Plotly.purge(div); div.textContent = ''; delete div.dataset.drawn; }
  }

  // A page is shown: draw what is in view at once, the rest when it comes.
  function show(section) {
    queue = [];
    document.querySelectorAll('section.page[hidden] .canvas').forEach(drop);
    if (!section.dataset.page) { return; }
    section.querySelectorAll('.canvas').forEach(function (div) {
      if (!div.dataset.drawn && div.getBoundingClientRect().top < innerHeight + 100) { draw(div); }
      seen.observe(div);
    });
    marks(section);
  }

  function marks(section) {
    var looks = {};
    page(section.dataset.page).looks.forEach(function (l) { looks[l[0]] = l[1]; });
    section.querySelectorAll('.key').forEach(function (k) {
      var slot = looks[k.dataset.name];
      if (slot !== undefined) { k.style.background = 'var(--s' + slot + ')'; }
    });
    chips(section);
  }

  function chips(section) {
    var off = hidden[section.dataset.page] || {};
    section.querySelectorAll('.chip').forEach(function (c) { c.setAttribute('aria-pressed', String(!off[c.dataset.name])); });
  }

  function redraw() { document.querySelectorAll('.canvas[data-drawn]').forEach(draw); }

  // Shows or hides a line in all figures of the page; `only` hides all others, or brings all back.
  function toggle(chip, only) {
    var section = chip.closest('section.page'), route = section.dataset.page, name = chip.dataset.name;
    var off = hidden[route] = hidden[route] || {};
    if (only) {
      var names = Array.from(new Set(Array.from(section.querySelectorAll('.chip')).map(function (c) { return c.dataset.name; })));
      var alone = names.every(function (n) { return n === name ? !off[n] : off[n]; });
      names.forEach(function (n) { off[n] = !alone && n !== name; });
    } else { off[name] = !off[name]; }
    chips(section);
    redraw();
  }

  // The line under the pointer stands out.
  function highlight(chip, on) {
    var section = chip.closest('section.page');
    section.querySelectorAll('.canvas[data-drawn]').forEach(function (div) {
      Plotly.restyle(div, { opacity: div.data.map(function (t) { return on && t.name !== chip.dataset.name ? 0.18 : 1; }) });
    });
  }

  function print(on) {
    printing = on;
    var section = document.querySelector('section.page:not([hidden])');
    section.querySelectorAll('.canvas').forEach(function (div) {
      draw(div);
      Plotly.relayout(div, on ? { width: 340, height: 225, autosize: false } : { width: null, height: null, autosize: true });
    });
  }

  return { show: show, redraw: redraw, toggle: toggle, highlight: highlight, print: print, page: page, decode: decode };
})();
