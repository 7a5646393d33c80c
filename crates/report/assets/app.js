// Routes, theme, tooltips, keys, pickers, tables as CSV. Everything is in this file; nothing is fetched.
(function () {
  'use strict';
  var root = document.documentElement, tip = document.getElementById('tip');
  var $ = function (selector, in_) { return Array.from((in_ || document).querySelectorAll(selector)); };

  // Theme: the address (?theme=dark), else the reader's last choice, else the system's.
  var asked = new URLSearchParams(location.search).get('theme');
  var system = matchMedia('(prefers-color-scheme: dark)');
  function remembered() { try { return localStorage.getItem('cnsim-theme'); } catch (e) { return null; } }
  function theme(name) {
    root.dataset.theme = name;
    var button = document.getElementById('theme');
    button.textContent = name === 'dark' ? 'Light' : 'Dark';
    button.setAttribute('aria-label', 'Switch to ' + (name === 'dark' ? 'light' : 'dark') + ' colours');
  }
  function preferred() { return asked || remembered() || (system.matches ? 'dark' : 'light'); }
  theme(preferred() === 'dark' ? 'dark' : 'light');
  document.getElementById('theme').addEventListener('click', function () {
    asked = root.dataset.theme === 'dark' ? 'light' : 'dark';
    try { localStorage.setItem('cnsim-theme', asked); } catch (e) { /* a page from disk may not be allowed to remember */ }
    theme(asked);
  });
  system.addEventListener('change', function () { theme(preferred()); });

  // Routes: '', a study, STUDY/SCENARIO, STUDY/SCENARIO/table, claims, claims/ID, method, find/WORDS; others are said to be none.
  function materialise(page) {
    var late = page.querySelector(':scope > script[type="text/html"]');
    if (late) { page.innerHTML = late.textContent; }
    $('.family, .figures.many', page).forEach(fold);
  }
  function route(event) {
    var want = '';
    try { want = decodeURIComponent(location.hash.slice(1)); } catch (e) { want = location.hash.slice(1); }
    var pages = $('section.page:not(#found)'), words = want.indexOf('find/') === 0 ? want.slice(5) : null;
    var page = words === null && pages.filter(function (p) { var r = p.dataset.route; return r && (want === r || want.indexOf(r + '/') === 0); })
      .sort(function (a, b) { return b.dataset.route.length - a.dataset.route.length; })[0];
    if (page) { materialise(page); }
    if (words !== null) { page = cnsimSearch.results(words); } else if (want && want !== 'main' && (!page || (want !== page.dataset.route && !document.getElementById(want)))) { page = cnsimSearch.missing(want); }
    page = page || pages[0];
    if (words && document.activeElement !== document.getElementById('query')) { document.getElementById('query').value = words; }
    pages = $('section.page');
    var moved = page.hidden;
    materialise(page);
    pages.forEach(function (p) { p.hidden = p !== page; });
    $('#side a').forEach(function (a) {
      if (decodeURIComponent(a.getAttribute('href').slice(1)) === page.dataset.route) { a.setAttribute('aria-current', 'page'); a.scrollIntoView({ block: 'nearest' }); } else { a.removeAttribute('aria-current'); }
    });
    menu(false);
    hideTip();
    document.title = page.querySelector('h1').textContent + ' · cnsim';
    var part = want !== page.dataset.route && document.getElementById(want);
    $('tr.lit').forEach(function (r) { r.classList.remove('lit'); });
    if (part) { part.scrollIntoView(); if (part.tagName === 'TR') { part.classList.add('lit'); } } else if (moved || event) { scrollTo(0, 0); }
    if (event && words === null) { (part && part.querySelector('h2') || page.querySelector('h1')).focus({ preventScroll: true }); }
    cnsimFigures.show(page);
    cnsimMap.show(page);
    cues();
    if (part) { part.scrollIntoView(); }
  }
  // Boxes that scroll say what lies beyond their right edge.
  function cue(box) {
    var more = box.scrollWidth - box.clientWidth, words = box.previousElementSibling, hidden = 0;
    box.classList.toggle('right', more - box.scrollLeft > 2);
    box.classList.toggle('left', box.scrollLeft > 2);
    if (!words || !words.classList.contains('cue')) { words = document.createElement('p'); words.className = 'cue'; words.hidden = true; box.before(words); }
    var head = box.querySelector('thead tr'), edge = box.getBoundingClientRect().right;
    if (head) { hidden = Array.from(head.cells).filter(function (c) { return c.getBoundingClientRect().right > edge + 2; }).length; }
    words.hidden = box.hidden || !(more - box.scrollLeft > 2);
    words.textContent = hidden ? hidden + (hidden === 1 ? ' more column' : ' more columns') + ': scroll' : 'more: scroll';
  }
  function cues() { $('section.page:not([hidden]) .scroll').forEach(cue); }
  document.addEventListener('scroll', function (e) { if (e.target.classList && e.target.classList.contains('scroll')) { cue(e.target); } }, true);
  addEventListener('resize', cues);

  // Many figures: the first few of each family, those picked, or all.
  var FEW = innerWidth < 640 ? 4 : 8;
  function fold(family) {
    if (!family.classList.contains('family')) { family = family.closest('.family') || family.closest('article') || family.parentNode; }
    var article = family.closest('article'), picker = article && article.querySelector('.picker'), picks = {}, shown = 0, left = 0, all = family.dataset.all === 'yes';
    if (!family.querySelector('.many')) { return; }
    if (picker) { $('select', picker).forEach(function (s) { picks[s.dataset.pick] = s.value; }); }
    $('.plot', family).forEach(function (f) {
      var fits = Object.keys(picks).every(function (k) { return !picks[k] || !f.dataset[k] || f.dataset[k] === picks[k]; });
      f.hidden = !fits || (!all && shown >= FEW);
      if (fits && f.hidden) { left++; }
      if (!f.hidden) { shown++; }
    });
    $('.block', family).forEach(function (b) { b.hidden = $('.plot', b).length > 0 && $('.plot', b).every(function (f) { return f.hidden; }); });
    var button = family.querySelector(':scope > button.more');
    if (!button) { button = element('button', '', 'more'); button.type = 'button'; family.appendChild(button); }
    button.hidden = !left && !all;
    button.textContent = all ? 'Show fewer' : 'Show ' + left + ' more';
    button.setAttribute('aria-expanded', String(all));
    if (family.classList.contains('family')) { family.hidden = shown === 0; }
  }
  function enlarge(figure, large) {
    var div = figure.querySelector('.canvas');
    figure.classList.toggle('large', large);
    div.classList.toggle('tiny', !large);
    if (div.dataset.drawn) { cnsimFigures.draw(div); }
  }
  document.addEventListener('change', function (e) {
    var what = e.target.dataset.pick, article = e.target.closest('article');
    if (!what) { return; }
    if (what === 'large') { $('.many .plot', article).forEach(function (f) { enlarge(f, e.target.checked); }); $('.figures.many', article).forEach(function (m) { m.classList.toggle('wide', e.target.checked); }); }
    $('.family', article).forEach(fold);
    var n = $('.plot', article).filter(function (f) { return !f.hidden; }).length;
    article.querySelector('.picker [role="status"]').textContent = n + (n === 1 ? ' figure shown' : ' figures shown');
    cnsimFigures.show(article.closest('section.page'));
  });
  document.addEventListener('click', function (e) {
    var go = e.target.closest('[data-go]'), tiny = e.target.closest('.many .plot');
    if (go) { location.hash = go.dataset.go; }
    if (tiny && !e.target.closest('button') && !tiny.classList.contains('large')) { enlarge(tiny, true); }
  });
  document.addEventListener('keydown', function (e) {
    var figure = e.key === 'Enter' && e.target.classList.contains('canvas') && e.target.closest('.many .plot');
    if (figure) { enlarge(figure, !figure.classList.contains('large')); e.preventDefault(); }
  });

  // Search: an address of its own, so that one can go back to it.
  document.getElementById('find').addEventListener('submit', function (e) { e.preventDefault(); search(); });
  var typing = 0;
  document.getElementById('query').addEventListener('input', function () { clearTimeout(typing); typing = setTimeout(search, 250); });
  function search() {
    var text = document.getElementById('query').value.trim();
    if (text.length > 1) { history.replaceState(null, '', '#find/' + encodeURIComponent(text)); route(); if (innerWidth <= 980) { menu(true); menu(false); } }
  }
  addEventListener('hashchange', route);

  var menuButton = document.getElementById('menu'), side = document.getElementById('side');
  function menu(open) { side.classList.toggle('open', open); menuButton.setAttribute('aria-expanded', String(open)); }
  menuButton.addEventListener('click', function () { menu(!side.classList.contains('open')); });
  document.querySelector('.skip').addEventListener('click', function (e) { e.preventDefault(); document.getElementById('main').focus(); });

  // Tables
  function tableOf(element) {
    var table = element.closest('article').querySelector('table.cells');
    var data = cnsimFigures.page(table.closest('section.page').dataset.page).tables;
    return data.find(function (t) { return t.id === table.dataset.table; });
  }
  function six(v) { return v === null || v === undefined ? '' : String(+(+v).toPrecision(6)); }
  function verdict(c) { return c.structural && c.verdict !== 'differs' ? 'zero by construction' : c.verdict; }
  // Is anything published in this table?
  function judged(t) { return t.rows.some(function (row) { return row.cells.some(function (c) { return c && c.published !== null; }); }); }
  function range(r) { return r ? six(r[0]) + ' to ' + six(r[1]) : '–'; }

  function element(name, text, class_) {
    var e = document.createElement(name);
    e.textContent = text;
    if (class_) { e.className = class_; }
    return e;
  }
  function showTip(td) {
    var at = td.dataset.at.split(','), t = tableOf(td), row = t.rows[+at[0]], c = row.cells[+at[1]], column = t.columns[+at[1]];
    tip.textContent = '';
    tip.appendChild(element('b', (row.condition ? row.condition + ' · ' : '') + row.scheme + ' · ' + column.title + (column.unit ? ' [' + column.unit + ']' : ''), 'title'));
    var dl = tip.appendChild(document.createElement('dl'));
    var said = judged(t), lines = said ? [['published', c.published === null ? '–' : c.published]] : [];
    lines.push([said ? 'measured, mean' : 'mean', six(c.measured) || '–']);
    if (c.range) { lines.push(['least and greatest', range(c.range)]); } else { lines.push(['95 % interval of the mean', range(c.ci95)], ['95 % prediction interval', range(c.pi95)]); }
    if (c.accept) { lines.push(['agrees within', range(c.accept)]); }
    if (c.seeds) { lines.push(['seeds', String(c.seeds)]); }
    if (c.values.length) { lines.push(['each', c.values.map(six).join('  ')]); }
    if (said) { lines.push(['verdict', verdict(c)]); }
    lines.forEach(function (l) { dl.appendChild(element('dt', l[0])); dl.appendChild(element('dd', l[1])); });
    if (c.note) { tip.appendChild(element('p', c.note)); }
    tip.hidden = false;
    var box = td.getBoundingClientRect(), w = tip.offsetWidth, h = tip.offsetHeight;
    tip.style.left = Math.max(8, Math.min(innerWidth - w - 8, box.right - w)) + 'px';
    tip.style.top = (box.bottom + h + 12 > innerHeight && box.top > h + 12 ? box.top - h - 6 : box.bottom + 6) + 'px';
    td.setAttribute('aria-describedby', 'tip');
  }
  function hideTip() { tip.hidden = true; $('[aria-describedby="tip"]').forEach(function (e) { e.removeAttribute('aria-describedby'); }); }
  function cellAt(e) { return e.target.closest && e.target.closest('td.m'); }
  document.addEventListener('pointerover', function (e) { var td = cellAt(e); if (td) { showTip(td); } else if (!(document.activeElement && document.activeElement.matches('td.m'))) { hideTip(); } });
  document.addEventListener('focusin', function (e) { var td = cellAt(e); if (td) { showTip(td); } else { hideTip(); } });
  addEventListener('scroll', hideTip, { passive: true });

  // Arrow keys move among the cells of a table; one of them takes part in tabbing.
  document.addEventListener('keydown', function (e) {
    if (e.key === 'Escape') { hideTip(); menu(false); }
    var td = cellAt(e), step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[e.key];
    if (!td || !step) { return; }
    e.preventDefault();
    var at = td.dataset.at.split(',').map(Number), table = td.closest('table');
    for (var i = 1; i < 400; i++) {
      var to = table.querySelector('td.m[data-at="' + (at[0] + i * step[0]) + ',' + (at[1] + i * step[1]) + '"]');
      if (to) { td.tabIndex = -1; to.tabIndex = 0; to.focus(); return; }
    }
  });

  // All numbers of a table, one line a cell: as CSV, and below the table.
  var COLUMNS = ['study', 'scenario', 'condition', 'pause', 'scheme', 'metric', 'unit', 'published', 'measured', 'ci95_low', 'ci95_high', 'pi95_low', 'pi95_high', 'seeds', 'verdict', 'note'];
  var NUMBER = /published|measured|95|seeds/;
  function lines(t, route) {
    var id = route.split('/'), out = [];
    t.rows.forEach(function (row) {
      row.cells.forEach(function (c, i) {
        if (!c) { return; }
        var column = t.columns[i], ci = c.ci95 || [], pi = c.pi95 || [];
        out.push([id[0], id.slice(1).join('/'), row.condition || t.condition, t.pause, row.scheme, column.metric || column.title, column.unit, c.published === null ? '' : c.published, six(c.measured),
          six(ci[0]), six(ci[1]), six(pi[0]), six(pi[1]), c.seeds ? String(c.seeds) : '', c.verdict, c.note]);
      });
    });
    return out;
  }
  function routeOf(e) { return e.closest('section.page').dataset.page; }
  window.cnsimSave = function (text, type, name) {
    var a = document.createElement('a');
    a.href = URL.createObjectURL(new Blob([text], { type: type + ';charset=utf-8' }));
    a.download = name;
    a.click();
    setTimeout(function () { URL.revokeObjectURL(a.href); }, 1000);
  };
  function save(button) {
    var t = tableOf(button), route = routeOf(button);
    var quote = function (v) { return /[",\r\n]/.test(v) ? '"' + v.replace(/"/g, '""') + '"' : v; };
    var text = [COLUMNS].concat(lines(t, route)).map(function (l) { return l.map(quote).join(','); }).join('\r\n') + '\r\n';
    window.cnsimSave(text, 'text/csv', [route, t.condition, t.pause && 'pause ' + t.pause].filter(Boolean).join(' ').replace(/[^\w.]+/g, '-') + '.csv');
  }
  function intervals(button) {
    var box = button.closest('article').querySelector('.long'), open = box.hidden;
    if (!box.firstChild) {
      var table = box.appendChild(document.createElement('table')), head = table.appendChild(document.createElement('thead')).insertRow();
      var t = tableOf(button), some = COLUMNS.map(function (c, i) { return i; }).slice(2);
      if (!judged(t)) { some = some.filter(function (i) { return ['published', 'verdict', 'note'].indexOf(COLUMNS[i]) < 0; }); }
      some.forEach(function (i) { head.appendChild(element('th', COLUMNS[i].replace(/_/g, ' '), NUMBER.test(COLUMNS[i]) ? 'n' : '')); });
      var body = table.appendChild(document.createElement('tbody'));
      lines(t, routeOf(button)).forEach(function (l) {
        var r = body.insertRow();
        some.forEach(function (i) { var td = r.insertCell(); td.textContent = l[i]; td.className = NUMBER.test(COLUMNS[i]) ? 'n' : ''; });
      });
    }
    var file = tableOf(button).file;
    if (file && !box.querySelector('p')) { box.appendChild(element('p', file + ', beside this file, has all metrics.', 'small')); }
    box.hidden = !open;
    button.setAttribute('aria-expanded', String(open));
    cue(box);
  }

  // A click waits a moment, for it may become a double click.
  var waiting = 0;
  document.addEventListener('click', function (e) {
    var button = e.target.closest('button');
    if (!button) { return; }
    if (button.dataset.view) { cnsimFigures.press(button); }
    if (button.id === 'printall') { printAll(); }
    if (button.classList.contains('more')) {
      var family = button.parentNode;
      family.dataset.all = family.dataset.all === 'yes' ? 'no' : 'yes';
      fold(family);
      cnsimFigures.show(family.closest('section.page'));
    }
    if (button.classList.contains('csv')) { save(button); }
    if (button.classList.contains('intervals')) { intervals(button); }
    if (button.classList.contains('chip')) {
      clearTimeout(waiting);
      if (e.detail === 0) { cnsimFigures.toggle(button, e.shiftKey); } else if (e.detail === 1) { waiting = setTimeout(function () { cnsimFigures.toggle(button, e.shiftKey); }, 220); } else if (e.detail === 2) { cnsimFigures.toggle(button, true); }
    }
    if (button.dataset.outcome) {
      var on = button.getAttribute('aria-pressed') !== 'true';
      button.setAttribute('aria-pressed', String(on));
      $('section[data-route="claims"] tr.' + button.dataset.outcome).forEach(function (r) { r.hidden = !on; });
    }
  });
  ['pointerenter', 'pointerleave'].forEach(function (kind) {
    document.addEventListener(kind, function (e) {
      if (e.target.classList && e.target.classList.contains('chip')) { cnsimFigures.highlight(e.target, kind === 'pointerenter'); }
    }, true);
  });

  // Printing: light, figures at the paper's size, all of them, and what is folded opened.
  var before = null;
  addEventListener('beforeprint', function () {
    before = { theme: root.dataset.theme, folded: $('section.page:not([hidden]) details:not([open])') };
    theme('light');
    before.folded.forEach(function (d) { d.open = true; });
    $('section.page:not([hidden]) :is(.plot, .block, .family)[hidden]').forEach(function (f) { f.hidden = false; f.dataset.unfold = '1'; });
    cnsimFigures.print(true);
  });
  addEventListener('afterprint', function () {
    theme(before.theme);
    before.folded.forEach(function (d) { d.open = false; });
    $('[data-unfold]').forEach(function (f) { f.hidden = true; delete f.dataset.unfold; });
    cnsimFigures.print(false);
  });
  function printAll() {
    var pages = $('section.page'), shown = pages.filter(function (p) { return !p.hidden; });
    pages.forEach(function (p) { materialise(p); p.hidden = p.id === 'found'; });
    print();
    pages.forEach(function (p) { p.hidden = shown.indexOf(p) < 0; });
  }

  route();
})();
