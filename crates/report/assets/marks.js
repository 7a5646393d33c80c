// The marks of lines, by slot modulo 8, around the origin: the drawer, legends and tables draw them.
const cnsimMarks = [
  "M-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0z",
  "M-3-3H3V3H-3z",
  "M0-3.8L3.6 2.8H-3.6z",
  "M0-4.2L4.2 0L0 4.2L-4.2 0z",
  "M0 3.8L3.6-2.8H-3.6z",
  "M-1.3-4H1.3V-1.3H4V1.3H1.3V4H-1.3V1.3H-4V-1.3H-1.3z",
  "M-3.8-1.6L0-4.2L3.8-1.6L2.4 3.4H-2.4z",
  "M-4-1.8H4V1.8H-4z",
];
