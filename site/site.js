// What scrolls can be reached by keyboard, on a touch screen too, where the theme takes that away; and bars of buttons have
// names of their own. The theme changes the page after it was loaded, so this looks again whenever it did.
function reachable() {
  for (const part of document.querySelectorAll(".md-typeset pre > code, .md-typeset__scrollwrap, .md-typeset .output, .md-typeset p:has(> img[src$='.svg'])")) {
    if (!part.hasAttribute("tabindex")) part.tabIndex = 0;
  }
  for (const [n, bar] of document.querySelectorAll(".md-code__nav:not([aria-label])").entries()) {
    bar.setAttribute("aria-label", `Code ${n + 1}`);
  }
}
reachable();
new MutationObserver(reachable).observe(document.body, { childList: true, subtree: true, attributeFilter: ["tabindex"] });
