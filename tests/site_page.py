"""A page in a browser, looked at as a reader would: errors, things too wide, text too pale, links and pictures that lead nowhere."""

from typing import Any

# Every text with a colour of its own, against the colour behind it; what the browser does not show is left out.
PALE = """() => {
  const parse = text => {
    const c = text.match(/[\\d.]+/g).map(Number);
    return text.startsWith("color(srgb") ? [...c.slice(0, 3).map(v => 255 * v), c[3]] : c;
  };
  const linear = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const over = (top, below) => { const a = top[3] ?? 1; return [0, 1, 2].map(i => a * top[i] + (1 - a) * below[i]); };
  const known = new Map(); // a listing has thousands of words with the same ancestors
  const found = node => {
    const c = parse(getComputedStyle(node).backgroundColor);
    return (c[3] ?? 1) >= 1 ? c : over(c, behind(node.parentElement));
  };
  const behind = node => {
    if (!node) return [255, 255, 255];
    if (!known.has(node)) known.set(node, found(node));
    return known.get(node);
  };
  const seen = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement, words = walker.currentNode.textContent.trim();
    if (!words || !node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (node.closest("svg, script, style, noscript, [disabled], [aria-hidden=true], .off")) continue;
    const box = node.getBoundingClientRect(), style = getComputedStyle(node);
    if (box.width < 2 || box.height < 2) continue;
    const back = behind(node), [a, b] = [light(over(parse(style.color), back)), light(back)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5) - 0.005) seen.set(`${node.tagName}.${node.className}`, `${words.slice(0, 40)} ${ratio.toFixed(2)}`);
  }
  return [...seen].map(([where, what]) => `${where}: ${what}`);
}"""

# What sticks out of the window though nothing around it scrolls.
WIDE = """() => {
  const room = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= room + 1) return [];
  const scrolls = node => node && node !== document.body && (getComputedStyle(node).overflowX !== "visible" || scrolls(node.parentElement));
  const outside = n => n.checkVisibility() && n.getBoundingClientRect().right > room + 1 && !scrolls(n.parentElement);
  const found = [...document.body.querySelectorAll("*")].filter(outside).slice(0, 4);
  const told = found.map(n => `${n.tagName}.${n.className} ${n.textContent.trim().slice(0, 40)}`);
  return [`${document.documentElement.scrollWidth} of ${room}`, ...told];
}"""

BROKEN_PICTURES = (
    "() => [...document.images].filter(i => i.complete && !i.naturalWidth && i.checkVisibility()).map(i => i.src)"
)


def listen(page: Any) -> list[str]:
    """A list that grows by every error and warning of the page, and by every request that leaves the machine."""
    problems: list[str] = []
    page.on("console", lambda said: problems.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    local = ("file:", "data:", "blob:", "http://127.0.0.1", "http://localhost")
    page.on("request", lambda request: None if request.url.startswith(local) else problems.append(request.url))
    return problems


def faults(page: Any) -> list[str]:
    """What a reader would trip over on the page as it is."""
    return misplaced(page) + pale(page)


def misplaced(page: Any) -> list[str]:
    """What is wider than the window, and pictures that are not there: both may depend on the width, not on the colours."""
    wide, lost = page.evaluate(f"() => [({WIDE})(), ({BROKEN_PICTURES})()]")
    return [f"too wide: {one}" for one in wide] + [f"no picture: {one}" for one in lost]


def pale(page: Any) -> list[str]:
    """Text with too little contrast."""
    return [f"too pale: {one}" for one in page.evaluate(PALE)]
