// Search over the cells, figures, claims and pages of the report. The index is made when the first letter is typed.
var cnsimSearch = (function () {
  'use strict';
  var MOST = 60, index = null;
  function six(v) { return v === null || v === undefined ? '–' : String(+(+v).toPrecision(5)); }
  // The same rule as `anchor` in html.rs.
  function anchor(page, part) { return page + '/' + Array.from(part).map(function (c) { return /[\p{L}\p{N}]/u.test(c) ? c : '-'; }).join(''); }
  function add(to, words, title, note) { index.push({ to: to, text: words.join(' ').toLowerCase(), title: title, note: note || '' }); }
  function build() {
    index = [];
    document.querySelectorAll('section.page').forEach(function (p) {
      var name = document.querySelector('#side a[href="#' + CSS.escape(p.dataset.route) + '"]'), route = p.dataset.route;
      if (route) { add(route, [route, name ? name.textContent : ''], route, 'page'); }
    });
    document.querySelectorAll('section[data-route="claims"] tbody tr[id]').forEach(function (r) {
      add(r.id, [r.textContent, 'claim'], r.cells[0].querySelector('a').textContent + ' ' + r.cells[1].textContent, r.cells[2].textContent);
    });
    document.querySelectorAll('script[data-for]').forEach(function (s) {
      var page = s.dataset.for, data = cnsimFigures.page(page);
      data.tables.forEach(function (t) {
        t.rows.forEach(function (row) {
          row.cells.forEach(function (c, i) {
            if (!c) { return; }
            var column = t.columns[i], where = [page, row.condition || t.condition, t.pause && 'PAUSE ' + t.pause].filter(Boolean).join(', ');
            add(anchor(page, t.id), [where, row.scheme, column.title, column.metric, c.verdict, c.note], row.scheme + ' · ' + column.title + ': ' + six(c.measured) + (column.unit ? ' ' + column.unit : '') +
              (c.published === null ? '' : ' (published ' + c.published + ', ' + c.verdict + ')'), where);
          });
        });
      });
      data.figures.forEach(function (f) {
        var group = data.tables.some(function (t) { return t.id === f.group; }) ? f.group : 'figures';
        add(anchor(page, group), [page, 'figure', f.title, f.scheme, f.condition, f.y.title, f.traces.map(function (t) { return t.name; }).join(' ')], 'Figure: ' + f.title, page);
      });
    });
  }
  function find(text) {
    if (!index) { build(); }
    var words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return index.filter(function (e) { return words.every(function (w) { return e.text.indexOf(w) >= 0; }); });
  }
  // A section that lists what was found, or that says that there is no such page.
  function section(title, lead, found) {
    var page = document.getElementById('found') || document.getElementById('main').appendChild(Object.assign(document.createElement('section'), { id: 'found', className: 'page' }));
    page.dataset.route = 'found';
    page.textContent = '';
    var h = page.appendChild(document.createElement('h1'));
    h.tabIndex = -1; h.textContent = title;
    page.appendChild(Object.assign(document.createElement('p'), { className: 'lead', textContent: lead }));
    var list = page.appendChild(Object.assign(document.createElement('ul'), { className: 'results' }));
    found.slice(0, MOST).forEach(function (e) {
      var li = list.appendChild(document.createElement('li')), a = li.appendChild(document.createElement('a'));
      a.href = '#' + encodeURI(e.to); a.textContent = e.title;
      li.appendChild(Object.assign(document.createElement('small'), { textContent: e.note }));
    });
    return page;
  }
  function results(text) {
    var found = find(text), n = found.length;
    return section('Search: ' + text, n === 0 ? 'Nothing has all these words. Try a scheme (ecm), a metric (throughput), a condition or a verdict (differs).' : n + (n === 1 ? ' place has' : ' places have') + ' all these words' + (n > MOST ? '; the first ' + MOST + ' are listed.' : '.'), found);
  }
  function missing(route) {
    var words = route.split(/[\/\s]+/).filter(Boolean), near = words.length ? find(words[words.length - 1]).concat(find(words[0])) : [];
    return section('No such page', 'This report has no page “' + route + '”. ' + (near.length ? 'Near to it:' : 'The list of pages stands at the side.'), near.filter(function (e) { return e.note === 'page'; }));
  }
  return { results: results, missing: missing };
})();
