// Figures below one another under one heading and one legend, as an SVG text of its own: for documents. Its value is the text.
const cnsimSheet = (title, figures, style) => {
  const { draw, text, rect, path, mark, esc, colour, DASHES } = cnsimChart, WIDTH = 760, LETTER = 6.6, ROW = 22;
  // Rows of heat have their names beside them.
  const names = new Map(figures.filter((f) => f.kind !== 'heat').flatMap((f) => f.traces).map((t) => [t.name, t]));
  let x = 16, y = 44, out = '';
  for (const t of names.size > 1 ? names.values() : []) {
    const wide = 46 + LETTER * t.name.length;
    if (x + wide > WIDTH - 16 && x > 16) { x = 16; y += ROW; }
    const line = path('line', `M${x} ${y}h24`, ` stroke-dasharray="${DASHES[t.dash]}"`);
    out += `<g style="color:${colour(t)}">${line}${mark(t.slot, x + 12, y)}</g>${text(x + 30, y + 4, t.name)}\n`;
    x += wide;
  }
  y += names.size > 1 ? ROW : 0;
  figures.forEach((f, i) => {
    const d = draw(f, { width: WIDTH, id: `f${i}`, alt: f.title });
    if (figures.length > 1) { out += text(16, y + 4, f.title, 'name'); y += 4; }
    out += `<svg y="${y}" width="${WIDTH}" height="${d.height}">${d.inside.replaceAll('><', '>\n<')}</svg>\n`;
    y += d.height + 16;
  });
  const head = `<title>${esc(title)}</title><style>${style}</style>\n${rect('bg', 0, 0, WIDTH, y)}${text(16, 22, title, 'heading')}\n`;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 ${WIDTH} ${y}" width="${WIDTH}" height="${y}" role="img">${head}${out}</svg>\n`;
};
