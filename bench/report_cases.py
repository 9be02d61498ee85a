"""Cases of the report: how long a page of 50,000 laws takes to make, to open and to filter, in Chromium."""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.harness import Case, Measurement, Missing, Settings

_LAWS, _COLUMNS = 50_000, 40
_FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --window-size=1280,900"
).split()
_FILTERS = ("c", "column_07", "column_07 column_31", "nothing", "")
_FILTERING = """
const [words, key] = arguments;
const begin = performance.now();
if (key) document.querySelector(`.grid-head .cell-${key} .sort`).click();
else {
  const search = document.getElementById("search");
  search.value = words;
  search.dispatchEvent(new Event("input"));
}
document.body.offsetHeight;  // the layout counts too
return (performance.now() - begin) / 1000;
"""


def report_50k(settings: Settings) -> Iterator[Measurement]:
    """A page of 50,000 laws made, opened, searched and sorted in Chromium."""
    import lawful

    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        raise Missing("selenium is not installed: pip install selenium") from None
    program, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if program is None or driver is None:
        raise Missing("Chromium or its driver is not installed: Debian's packages chromium and chromium-driver")
    document = _document()
    case = "a page of 50,000 laws"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "page.html"
        begin, worked = time.perf_counter(), time.process_time()
        lawful.report(document, out=path)
        made, worked = time.perf_counter() - begin, time.process_time() - worked
        answers: dict[str, Any] = {"MB": round(path.stat().st_size / 1e6, 1), "processor_seconds": round(worked, 2)}
        yield Measurement(case, "made", (made,), answers=answers)
        options = webdriver.ChromeOptions()
        options.binary_location = program
        for flag in (*_FLAGS, f"--user-data-dir={folder}/profile"):
            options.add_argument(flag)
        browser = webdriver.Chrome(options=options, service=Service(driver))
        try:
            opened = [_opened(browser, path) for _ in range(settings.repetitions)]
            yield Measurement(case, "opened (limit 2 s)", tuple(opened))
            filtered = {words: browser.execute_script(_FILTERING, words, "") for words in _FILTERS}
            told = {f"{words!r}": f"{1000 * taken:.0f}ms" for words, taken in filtered.items()}
            yield Measurement(case, "filtered (limit 100 ms)", tuple(filtered.values()), answers=told)
            keys = ("text", "strength", "tested")
            sorted_ = tuple(browser.execute_script(_FILTERING, "", key) for key in keys)
            yield Measurement(case, "sorted for the first time", sorted_)
        finally:
            browser.quit()


def _opened(browser: Any, path: Path) -> float:
    """Seconds from the start of the navigation until the page is there and can be used."""
    browser.get("about:blank")
    browser.get(path.as_uri())
    return float(browser.execute_script("return performance.getEntriesByType('navigation')[0].loadEventEnd")) / 1000


def _document() -> dict[str, Any]:
    """Keys and FDs of a table that is nowhere; three of ten almost hold."""
    rnd = random.Random(5)
    names = [f"column_{place:02}" for place in range(_COLUMNS)]
    entries: list[dict[str, Any]] = []
    for _ in range(_LAWS):
        right, *left = rnd.sample(names, rnd.randint(2, 6))
        strength = rnd.random()
        numbers = {"strength": 1.0, "error": 0.0, "violating": 0}
        if strength < 0.3:
            numbers = {"strength": strength, "error": 0.01 * strength, "violating": rnd.randrange(1, 999)}
        law = {"kind": "key", "columns": left} if rnd.random() < 0.1 else {"kind": "fd", "lhs": left, "rhs": right}
        entries.append(law | numbers | {"interest": rnd.random(), "tested": rnd.randrange(10**6)})
    columns = [{"name": name, "type": "integer", "distinct": 9, "nulls": 0, "min": "1", "max": "9"} for name in names]
    table = {"name": "generated", "rows": 100_000, "columns": columns}
    return {"format": "lawful/1", "complete": True, "table": table, "settings": {}, "dependencies": entries}


CASES: dict[str, Case] = {"report-50k": report_50k}
