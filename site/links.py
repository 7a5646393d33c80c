"""Checks a built site: every link, anchor and asset is there, every page is reached, and nothing is asked for outside."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself, as against what a reader follows.
FETCHED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src", "video": "src", "object": "data"}
# `rel` of a `link` that is a statement rather than a file.
STATED = {"canonical", "alternate", "next", "prev", "author", "license"}


@dataclass
class Found:
    """What was counted, and what is wrong."""

    pages: int = 0
    links: int = 0
    assets: int = 0
    complaints: list[str] = field(default_factory=list)


class Page(HTMLParser):
    """Links, fetched files and anchors of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        self.anchors.update(given[name] for name in ("id", "name") if given.get(name))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        stated = tag == "link" and given.get("rel", "") in STATED
        if FETCHED.get(tag) in given and not stated:
            self.fetched.append(given[FETCHED[tag]])
        self.fetched += [part.split()[0] for part in given.get("srcset", "").split(",") if part.strip()]
        self.fetched += in_style(given.get("style", ""))


def in_style(text: str) -> list[str]:
    """What a style sheet fetches."""
    found = re.findall(r"url\(\s*['\"]?([^'\")]+)", text) + re.findall(r"@import\s+['\"]([^'\"]+)", text)
    return [address for address in found if not address.startswith(("data:", "#"))]


def check(site: Path) -> Found:
    """Reads every page and style sheet under `site`."""
    site = site.resolve()
    found = Found()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found.pages = len(pages)
    reached = {site / "index.html"}

    def follow(origin: Path, address: str, fetched: bool) -> None:
        kind, host, path, _, anchor = urlsplit(address)
        where = f"{origin.relative_to(site)}: {address}"
        if kind == "data" or (kind in {"http", "https", "mailto"} and not fetched):
            return
        if kind or host:
            found.complaints.append(f"{where}: asks for something outside the site")
            return
        target = site / path.lstrip("/") if path.startswith("/") else origin.parent / unquote(path)
        target = (target if path else origin).resolve()
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file():
            found.complaints.append(f"{where}: leads nowhere")
        elif target in pages:
            if origin != target:
                reached.add(target)
            if anchor and unquote(anchor) not in pages[target].anchors:
                found.complaints.append(f"{where}: no such anchor")

    for path, page in pages.items():
        # The page for addresses that do not exist may be shown at any of them.
        missing = path.name == "404.html"
        reached.update({path} if missing else {})
        for address in page.links:
            found.links += 1
            follow(path, address, fetched=False)
        for address in page.fetched:
            found.assets += 1
            follow(path, address, fetched=True)
    for path in sorted(site.rglob("*.css")):
        for address in in_style(path.read_text(encoding="utf-8")):
            found.assets += 1
            follow(path, address, fetched=True)
    unreached = sorted(path.relative_to(site) for path in pages if path not in reached)
    found.complaints += [f"{path}: no page leads here" for path in unreached]
    if not pages:
        found.complaints.append(f"{site.name}: no page was built")
    return found
