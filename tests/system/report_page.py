"""The HTML report in Chromium: opened at phone and desktop width, light and dark. As a program: keeps the pictures.

usage: tests/system/report_page.py REPORT.html FOLDER
"""

import pathlib
import sys
import tempfile

from browser import Browser

SIZES = {"phone": (390, 1400), "desktop": (1100, 1400)}
SCHEMES = ("light", "dark")


class Page:
    def __init__(self, folder: pathlib.Path, html: pathlib.Path):
        self.browser = Browser(folder)
        self.url = html.resolve().as_uri()
        for domain in ("Network", "Log", "Runtime", "Page"):
            self.browser.call(f"{domain}.enable")

    def close(self) -> None:
        self.browser.close()

    def open(self, size: str, scheme: str) -> None:
        width, height = SIZES[size]
        self.browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=size == "phone")
        self.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.browser.show(self.url, "document.readyState == 'complete' && document.querySelectorAll('section').length > 3")

    def run(self, script: str):
        return self.browser.run(script)

    def complaints(self) -> list[dict]:
        """What the console said, errors and warnings alike."""
        said = [e["params"] for e in self.browser.events if e["method"] == "Log.entryAdded"]
        return said + [e["params"] for e in self.browser.events if e["method"] in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown")]

    def requests(self) -> list[str]:
        urls = [e["params"]["request"]["url"] for e in self.browser.events if e["method"] == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith("data:")]

    def pictures(self, folder: pathlib.Path) -> list[pathlib.Path]:
        made = []
        for size in SIZES:
            for scheme in SCHEMES:
                self.open(size, scheme)
                made.append(folder / f"report-{size}-{scheme}.png")
                self.browser.screenshot(made[-1])
        return made


def main() -> None:
    html, folder = map(pathlib.Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as profile:
        page = Page(pathlib.Path(profile), html)
        try:
            for picture in page.pictures(folder):
                print(picture)
        finally:
            page.close()


if __name__ == "__main__":
    main()
