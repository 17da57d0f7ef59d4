"""Record a short walk through the lab as an animated WebP: `python tools/lab_walk.py docs/images/lab.webp`.

It serves the lab itself, drives it in a headless Chromium as a visitor would, and takes a picture after every step.
"""

import io
import pathlib
import sys
import time
from typing import Any

from PIL import Image, ImageDraw
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests"))
from lab_server import served

CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
SIZE = (1360, 1010)
SHOWN = 1000  # pixels wide, in the file
LARGEST = 3_000_000  # bytes


class Walk:
    """Pictures, each with the time it stays."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.pictures: list[Image.Image] = []
        self.times: list[int] = []

    def wait(self) -> None:
        """Until the newest question is answered and drawn."""
        done = "lab.timing.done === lab.timing.asked && lab.timing.sequence === lab.timing.asked && !lab.asking.waiting"
        while not self.page.evaluate(f"!!window.lab && lab.timing.asked > 0 && {done}"):
            time.sleep(0.02)

    def take(self, milliseconds: int, hand: tuple[float, float] | None = None) -> None:
        """A picture of the page as it is."""
        shot = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        if hand is not None:
            pen = ImageDraw.Draw(shot, "RGBA")
            x, y = hand
            pen.ellipse((x - 11, y - 11, x + 11, y + 11), fill=(59, 91, 219, 70), outline=(59, 91, 219, 230), width=2)
        self.pictures.append(shot.resize((SHOWN, SHOWN * SIZE[1] // SIZE[0]), Image.Resampling.LANCZOS))
        self.times.append(milliseconds)

    def slide(self, name: str, values: range, milliseconds: int = 130) -> None:
        """A slider, moved value by value."""
        for value in values:
            self.page.evaluate(
                f"(() => {{ const s = document.getElementById('{name}'); s.value = {value}; s.dispatchEvent(new Event('input')); }})()"
            )
            self.wait()
            box = self.page.locator(f"#{name}").bounding_box()
            most = float(self.page.locator(f"#{name}").get_attribute("max"))
            self.take(milliseconds, (box["x"] + 8 + (box["width"] - 16) * value / most, box["y"] + box["height"] / 2))
        self.times[-1] += 700

    def tell(self, words: str, milliseconds: int = 700) -> None:
        """A click on a world of the story, and what follows."""
        target = self.page.locator("#story button", has_text=words)
        box = target.bounding_box()
        target.click()
        self.wait()
        self.take(milliseconds, (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))

    def play(self, frames: range, milliseconds: int = 70) -> None:
        """Time goes by in the trial that is looked into."""
        for frame in frames:
            self.page.evaluate(
                "(() => { const s = [...document.querySelectorAll('.scrub')].find(s => s.offsetParent);"
                f" s.value = {frame}; s.dispatchEvent(new Event('input')); }})()"
            )
            time.sleep(0.05)
            self.take(milliseconds)
        self.times[-1] += 500

    def save(self, path: pathlib.Path) -> int:
        """Write the file, with as much quality as fits."""
        for quality in (80, 65, 50, 35):
            first, *rest = self.pictures
            first.save(path, save_all=True, append_images=rest, duration=self.times, loop=0, quality=quality, method=6)
            if path.stat().st_size < LARGEST:
                break
        return path.stat().st_size


def main(path: pathlib.Path) -> None:
    """Walk and save."""
    with served() as lab, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(
            viewport={"width": SIZE[0], "height": SIZE[1]}, reduced_motion="reduce", color_scheme="light"
        )
        page.add_init_script("localStorage.setItem('toured', 'yes')")  # the tour would cover the picture
        page.goto(lab.address)
        walk = Walk(page)
        walk.wait()
        page.evaluate("document.getElementById('status').style.visibility = 'hidden'")  # times of the recording machine
        walk.take(1600)
        walk.tell("Nothing changes", 1600)
        walk.tell("Slow drift", 1200)
        walk.slide("speed", range(320, 620, 75))
        walk.slide("gamma", range(400, 760, 120))
        walk.tell("A jump", 1000)
        walk.play(range(60, 200, 10))
        walk.tell("Seasons", 1800)
        browser.close()
        print(f"{path}: {len(walk.pictures)} pictures, {walk.save(path)} bytes")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
