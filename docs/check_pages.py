"""Look at the built manual as a reader would: ``python docs/check_pages.py [docs/_build/html]``.

Every link between pages leads somewhere. If there is a Chromium: the search finds an op, and no page is wider than a
telephone's screen of 390 pixels. Exit status 1 with what is wrong.
"""

from __future__ import annotations

import functools
import html.parser
import http.server
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from urllib.parse import unquote, urldefrag

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTH = 390
QUERIES = {"tanh": "reference/elementwise", "GradScaler": "api/amp", "opencl:pocl": "devices"}

# Opens each page in a frame as wide as a telephone, and notes what sticks out.
FRAMES = """<!doctype html><meta charset=utf-8><pre id=out></pre><iframe id=f width=%d height=844></iframe><script>
const pages = %s, wide = [];
const frame = document.getElementById("f");
async function look(page) {
  await new Promise(done => { frame.onload = done; frame.src = page; });
  await new Promise(done => setTimeout(done, 50));
  const d = frame.contentDocument, size = d.documentElement.scrollWidth;
  if (size <= %d && d.body.innerText.length > 50) return;
  const out = [...d.querySelectorAll("main *, article *")].filter(e => e.getBoundingClientRect().right > %d + 1);
  wide.push([page, size, out.slice(0, 3).map(e => e.tagName + "." + e.className + ": " + e.textContent.slice(0, 60))]);
}
(async () => {
  for (const page of pages) await look(page);
  document.getElementById("out").textContent = "RESULT" + JSON.stringify([pages.length, wide]) + "END";
})();
</script>"""


class Page(html.parser.HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the element points to and is called."""
        for name, value in attrs:
            if value and name in ("href", "src"):
                self.links.append(value)
            if value and name in ("id", "name"):
                self.anchors.add(value)


def broken_links(root: Path) -> list[str]:
    """Links to files that are not there, or to places that a page does not have."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in root.rglob("*.html")}
    wrong = []
    for path, page in pages.items():
        for link in page.links:
            target, anchor = urldefrag(link)
            if re.match(r"[a-z]+:|//", target) or link == "#":
                continue
            file = (path.parent / unquote(target.partition("?")[0])).resolve() if target else path
            if not file.is_file():
                wrong.append(f"{path.relative_to(root)}: no file for {link}")
            elif anchor and file in pages and unquote(anchor) not in pages[file].anchors:
                wrong.append(f"{path.relative_to(root)}: no place {link}")
    return wrong


class Handler(http.server.SimpleHTTPRequestHandler):
    """The built pages, and one more that looks at them."""

    frames = ""

    def do_GET(self) -> None:
        """Answer."""
        if self.path != "/__frames__.html":
            super().do_GET()
            return
        body = self.frames.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


def dump(browser: str, url: str, budget: int) -> str:
    """The page at ``url`` after its scripts ran for ``budget`` milliseconds of their own time."""
    with tempfile.TemporaryDirectory(prefix="tensorx-docs-") as profile:
        command = [
            *(browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
            *(f"--user-data-dir={profile}", f"--virtual-time-budget={budget}", "--window-size=1200,1000"),
            *("--dump-dom", url),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return done.stdout


def looks(root: Path, browser: str) -> list[str]:
    """What a browser finds wrong."""
    pages = sorted(str(p.relative_to(root)) for p in root.rglob("*.html") if p.name not in ("search.html",))
    frames = FRAMES % (WIDTH, json.dumps(["/" + p for p in pages]), WIDTH, WIDTH)
    handler = type("Pages", (Handler,), {"frames": frames})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(root)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = f"http://127.0.0.1:{server.server_port}"
    wrong = []
    try:
        for query, page in QUERIES.items():
            found = dump(browser, f"{home}/search.html?q={query}", 10000)
            if not re.search(rf'<li[^>]*>\s*<a href="{page}', found):
                wrong.append(f"search for {query!r} does not find {page}")
        seen = dump(browser, f"{home}/__frames__.html", 1000 * len(pages) + 10000)
        result = re.search(r"<pre id=\"out\">RESULT(.*?)END</pre>", seen, re.S)
        if result is None:
            return [*wrong, "the page that looks at all others did not finish"]
        count, wide = json.loads(html.unescape(result.group(1)))
        print(f"{count} pages seen at {WIDTH} pixels")
        wrong += [f"{page}: {size} pixels wide, or empty; {out}" for page, size, out in wide]
    finally:
        server.shutdown()
    return wrong


def main(argv: list[str]) -> int:
    """The command."""
    root = Path(argv[0] if argv else Path(__file__).with_name("_build") / "html").resolve()
    if not (root / "index.html").is_file():
        print(f"no built manual in {root}. Hint: sphinx-build -W docs docs/_build/html", file=sys.stderr)
        return 1
    wrong = broken_links(root)
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if browser is None:
        print("no Chromium: links are checked, search and narrow screens are not")
    else:
        wrong += looks(root, browser)
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
