// Routes, theme, figures (drawn when they come into view), tables as CSV. Everything is in this file; nothing is fetched.
(function () {
  'use strict';
  var figures = JSON.parse(document.getElementById('figures').textContent);
  var colours = { 'none': '#7f7f7f', 'qcn-2pt': '#0072b2', 'qcn-3pt': '#009e73', 'ecm': '#d55e00', 'bcn': '#cc79a7' };
  var spare = ['#e69f00', '#56b4e9', '#cc79a7', '#f0e442', '#0072b2', '#009e73', '#d55e00'];
  var dashes = { 'none': 'dot', 'qcn-3pt': 'dash', 'ecm': 'dashdot' };
  var hidden = {};
  function colour(name) { if (!colours[name]) { colours[name] = spare[Object.keys(colours).length % spare.length]; } return colours[name]; }
  function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
  var asked = new URLSearchParams(location.search).get('theme');
  var dark = asked ? asked === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  function theme() { document.documentElement.dataset.theme = dark ? 'dark' : 'light'; }
  function layout(f) {
    var line = css('--line'), ink = css('--ink'), shapes = [], notes = [];
    if (f.shade) {
      shapes.push({ type: 'rect', xref: 'x', yref: 'paper', x0: f.shade[0], x1: f.shade[1], y0: 0, y1: 1, fillcolor: css('--dim'), opacity: 0.1, line: { width: 0 }, layer: 'below' });
      notes.push({ x: f.shade[0], y: 1, xref: 'x', yref: 'paper', text: ' hotspot', showarrow: false, xanchor: 'left', yanchor: 'top', font: { size: 11, color: css('--dim') } });
    }
    if (f.level) {
      shapes.push({ type: 'line', xref: 'paper', x0: 0, x1: 1, y0: f.level[0], y1: f.level[0], line: { color: css('--dim'), width: 1, dash: 'dot' } });
      notes.push({ x: 1, y: f.level[0], xref: 'paper', yref: 'y', text: f.level[1], showarrow: false, xanchor: 'right', yanchor: 'bottom', font: { size: 11, color: css('--dim') } });
    }
    return { margin: { l: 56, r: 36, t: 8, b: 44 }, paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)', font: { color: ink, family: 'system-ui, DejaVu Sans, sans-serif', size: 12 },
      xaxis: { title: { text: 'time [ms]' }, gridcolor: line, zerolinecolor: line }, yaxis: { title: { text: f.y }, gridcolor: line, zerolinecolor: line, rangemode: 'tozero' },
      legend: { orientation: 'h', y: 1.14, x: 0 }, modebar: { orientation: 'v', bgcolor: 'rgba(0,0,0,0)', color: css('--dim'), activecolor: ink }, hovermode: 'x unified', hoverlabel: { bgcolor: css('--card'), font: { color: ink } }, shapes: shapes, annotations: notes };
  }
  function draw(div) {
    var f = figures[+div.dataset.figure];
    var traces = f.traces.map(function (t) {
      return { x: t.x, y: t.y, name: t.name, mode: 'lines', line: { color: colour(t.name), width: 1.6, dash: dashes[t.name] || 'solid' }, visible: hidden[t.name] ? 'legendonly' : true };
    });
    Plotly.react(div, traces, layout(f), { responsive: true, displaylogo: false, displayModeBar: 'hover', modeBarButtonsToRemove: ['lasso2d', 'select2d'] });
    if (!div.dataset.drawn) {
      div.dataset.drawn = '1';
      div.on('plotly_legendclick', function (e) {
        var name = e.data[e.curveNumber].name;
        hidden[name] = !hidden[name];
        document.querySelectorAll('.canvas[data-drawn]').forEach(draw);
        return false;
      });
    }
  }
  var seen = new IntersectionObserver(function (list) {
    list.forEach(function (e) { if (e.isIntersecting && !e.target.dataset.drawn) { draw(e.target); } });
  }, { rootMargin: '400px' });
  document.querySelectorAll('.canvas').forEach(function (d) { seen.observe(d); });
  document.querySelectorAll('.key').forEach(function (k) { k.style.background = colour(k.dataset.scheme); });
  function route() {
    var want = decodeURIComponent(location.hash.slice(1)), pages = Array.from(document.querySelectorAll('section.page'));
    if (want === 'main') { return; }
    var page = pages.find(function (p) { return p.dataset.route === want; }) || pages[0];
    pages.forEach(function (p) { p.hidden = p !== page; });
    document.querySelectorAll('nav a').forEach(function (a) { a.classList.toggle('here', a.getAttribute('href').slice(1) === page.dataset.route); });
    scrollTo(0, 0);
  }
  addEventListener('hashchange', route);
  addEventListener('beforeprint', function () { document.querySelectorAll('.canvas').forEach(draw); });
  document.getElementById('theme').addEventListener('click', function () { dark = !dark; theme(); document.querySelectorAll('.canvas[data-drawn]').forEach(draw); });
  document.querySelectorAll('button.csv').forEach(function (b) {
    b.addEventListener('click', function () {
      var rows = Array.from(document.getElementById(b.dataset.table).rows).map(function (r) {
        return Array.from(r.cells).map(function (c) {
          var v = c.querySelector('.value'), text = (v || c).textContent.trim();
          var cells = ['"' + text.replace(/"/g, '""') + '"'];
          for (var i = 1; i < c.colSpan; i++) { cells.push('""'); }
          return cells.join(',');
        }).join(',');
      });
      var a = document.createElement('a');
      a.href = URL.createObjectURL(new Blob([rows.join('\r\n')], { type: 'text/csv' }));
      a.download = b.dataset.table + '.csv';
      a.click();
    });
  });
  theme();
  route();
})();
