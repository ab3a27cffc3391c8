#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# reportpage.py check PAGE: the page is text and structure alone: no script, no image, no link out, nothing loaded, and
# what a screen reader goes by is there. reportpage.py measure PAGE: the same page to standard output, with a
# script of the test's own that puts what it measures into the title.
import html.parser, sys

MEASURE = """<script>
const d = document.documentElement, s = getComputedStyle(document.body);
const reach = [...document.querySelectorAll('a,summary,[tabindex="0"]')];
reach.forEach(e => e.focus());
document.title = JSON.stringify({wide: d.scrollWidth > d.clientWidth + 1, width: d.clientWidth, background: s.backgroundColor,
    color: s.color, focus: document.activeElement === reach[reach.length - 1], reach: reach.length});
</script>"""


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.ids, self.labels, self.attrs = [], set(), [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            self.attrs.append((tag, name, value))
            if name == "id":
                self.ids.add(value)
            if name == "aria-labelledby":
                self.labels.append(value)


text = open(sys.argv[2], encoding="utf-8").read()
if sys.argv[1] == "measure":
    head, rest = text.split('<meta http-equiv="Content-Security-Policy"', 1)
    text = head + rest.split(">", 1)[1]
    print(text.replace("</body>", MEASURE + "</body>"))
    sys.exit()
page = Page()
page.feed(text)
known = {"html", "head", "meta", "title", "style", "body", "a", "header", "main", "footer", "h1", "h2", "p", "br", "code", "dl", "dt",
         "dd", "div", "section", "ul", "ol", "li", "strong", "span", "table", "caption", "thead", "tbody", "tr", "th", "td", "details",
         "summary", "pre", "time"}
assert set(page.tags) <= known, set(page.tags) - known
assert page.tags.count("h1") == 1 and page.tags.count("main") == 1
assert not [a for a in page.attrs if a[1].startswith("on") or a[1] in ("src", "style")]
assert [a[2] for a in page.attrs if a[1] == "href"] == ["#main"]
assert set(page.labels) <= page.ids and len(page.ids) == len([a for a in page.attrs if a[1] == "id"])
assert page.tags.count("th") == len([a for a in page.attrs if a[0] == "th" and a[1] == "scope"])
assert ("html", "lang", "en") in page.attrs and "default-src 'none'" in text
assert not [c for c in text if ord(c) < 32 and c not in "\n\t" or ord(c) in range(0x202a, 0x202f)]
