"""Chromium without a window, driven through Selenium; where it is not installed, tests say so and are skipped."""

from __future__ import annotations

import importlib.util
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-default-apps --disable-dev-shm-usage "
    "--force-prefers-reduced-motion"
).split()
_PATIENCE = 120


def missing() -> str | None:
    """What is not there to drive a browser with, if so."""
    if not any(map(shutil.which, _BROWSERS)) or shutil.which("chromedriver") is None:
        return "Chromium and its driver are not installed (Debian's packages chromium and chromium-driver)"
    if importlib.util.find_spec("selenium") is None:
        return "selenium is not installed (extra dev)"
    return None


@contextmanager
def browser() -> Iterator[Chrome]:
    """A browser that keeps a record of its console and of all requests."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = next(filter(None, map(shutil.which, _BROWSERS)))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for flag in (*_FLAGS, f"--user-data-dir={folder}", "--window-size=1280,900"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        try:
            driver.set_page_load_timeout(_PATIENCE)
            driver.set_script_timeout(_PATIENCE)
            yield driver
        finally:
            driver.quit()


def opened(driver: Chrome, path: Path) -> None:
    """Open a file and wait until its program is done."""
    driver.get_log("performance")
    driver.get_log("browser")
    driver.get(path.absolute().as_uri())
    assert driver.execute_script("return document.documentElement.dataset.ready") == "yes"


def requests(driver: Chrome) -> list[str]:
    """The addresses that were asked for since the last time, but for those that the page's own policy stopped."""
    told = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    stopped = {
        each["params"]["requestId"]
        for each in told
        if each["method"] == "Network.loadingFailed" and each["params"].get("blockedReason") == "csp"
    }
    asked = (each["params"] for each in told if each["method"] == "Network.requestWillBeSent")
    urls = (each["request"]["url"] for each in asked if each["requestId"] not in stopped)
    # The empty page that the browser began with, and its pictures; what is in the address itself is asked of nobody.
    return [url for url in urls if not url.startswith(("chrome", "data:"))]


def complaints(driver: Chrome) -> list[Any]:
    """What the console says."""
    return list(driver.get_log("browser"))
