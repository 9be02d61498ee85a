"""The page in a real browser: what readers click, type and press, and what must not happen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import lawful
from lawful.demo.tax_table import make_tax_table
from lawful.dependencies import FD
from reports import browsers
from reports.documents import hostile_table, many_laws

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(browsers.missing() is not None, reason=browsers.missing() or ""),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of what drives the browser
]
CHECKS = (Path(__file__).parent / "accessibility.js").read_text()


@pytest.fixture(scope="module")
def driver() -> Iterator[Chrome]:
    with browsers.browser() as driver:
        yield driver


@pytest.fixture(scope="module")
def tax_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "tax.html"
    lawful.report(lawful.strongest(make_tax_table(2_000, 6).table), out=path)
    return path


@pytest.fixture
def page(driver: Chrome, tax_page: Path) -> Iterator[Chrome]:
    browsers.opened(driver, tax_page)
    yield driver
    assert browsers.complaints(driver) == []
    assert browsers.requests(driver) == [tax_page.absolute().as_uri()]


def run(driver: Chrome, program: str) -> Any:
    return driver.execute_script(f"return {program}")


def eventually(driver: Chrome, program: str) -> bool:
    """Wait until something is true: a browser tells of keys and of closed dialogs a little later."""
    from selenium.webdriver.support.ui import WebDriverWait

    return bool(WebDriverWait(driver, 30, 0.02).until(lambda _: run(driver, program)))


def press(driver: Chrome, *keys: str) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(driver).send_keys(*keys).perform()


def shown_laws(driver: Chrome) -> list[str]:
    """The laws in sight, from above."""
    rows = "[...document.querySelectorAll('.grid-body .grid-row')].sort((a, b) => a.dataset.number - b.dataset.number)"
    return list(run(driver, f"{rows}.map((row) => row.querySelector('.law').textContent)"))


def test_search_sort_and_filters_choose_laws(page: Chrome) -> None:
    everything = run(page, "document.querySelector('.told').textContent")
    search = page.find_element("id", "search")
    search.send_keys("zip city")
    found = shown_laws(page)
    assert found
    assert all("zip" in law and "city" in law for law in found)
    search.clear()
    search.send_keys("x")  # clearing alone tells nobody
    press(page, "\ue003")
    assert run(page, "document.querySelector('.told').textContent") == everything
    page.find_element("css selector", ".cell-text .sort").click()
    assert shown_laws(page) == sorted(shown_laws(page))
    page.find_element("css selector", ".cell-text .sort").click()
    assert shown_laws(page) == sorted(shown_laws(page), reverse=True)
    assert run(page, "document.querySelector('.grid-head .cell-text').ariaSort") == "descending"
    page.find_element("xpath", "//button[@class='chip' and text()='keys']").click()
    assert all(law.startswith("key(") for law in shown_laws(page))
    page.find_element("xpath", "//button[@class='chip' and text()='keys']").click()
    fewer = len(shown_laws(page))
    page.find_element("id", "following").click()
    assert run(page, "Number(document.querySelector('.grid').ariaRowCount)") - 1 > fewer
    assert len(run(page, "document.querySelector('.told').textContent").split()) == 2  # all laws


def test_keys_lead_everywhere(page: Chrome) -> None:
    press(page, "/")
    assert run(page, "document.activeElement.id") == "search"
    run(page, "document.querySelector('.grid').focus()")
    press(page, "\ue015", "\ue015", "\ue013")  # down, down, up
    assert run(page, "document.querySelector('.grid').getAttribute('aria-activedescendant')") == "law-row-1"
    law = run(page, "document.querySelector('#law-row-1 .law').textContent")
    press(page, "\ue007")
    assert run(page, "document.querySelector('dialog[open] h2').textContent") == law
    press(page, "\ue00c")
    assert eventually(page, "document.querySelectorAll('dialog').length === 0")
    assert eventually(page, "document.activeElement.className === 'grid'")
    press(page, "\ue010")
    last = run(page, "document.querySelector('.grid').getAttribute('aria-activedescendant')")
    assert last == f"law-row-{run(page, 'Number(document.querySelector(`.grid`).ariaRowCount)') - 2}"
    run(page, "document.querySelector('.matrix td[tabindex=\"0\"]').focus()")
    press(page, "\ue014", "\ue015")
    assert run(page, "document.activeElement.getAttribute('role')") == "gridcell"


def test_every_number_tells_what_it_is(page: Chrome) -> None:
    for term in ("strength", "violating rows", "interest", "error", "tested"):
        button = page.find_element("css selector", f".grid-head [aria-label='What is meant by {term}?']")
        button.click()
        assert term in run(page, "document.querySelector('dialog[open]').textContent")
        press(page, "\ue00c")
        assert eventually(page, "document.querySelectorAll('dialog').length === 0")
    page.find_element("css selector", "#orders .term").click()
    page.find_element("css selector", "dialog[open] a").click()
    assert run(page, "location.hash") == "#definitions"
    assert eventually(page, "document.querySelectorAll('dialog').length === 0")


def test_broken_laws_show_rows_and_lead_to_their_details(page: Chrome) -> None:
    card = page.find_element("css selector", "#broken .card")
    law = card.find_element("css selector", "h3").text
    assert card.find_elements("css selector", "tbody tr")
    card.find_element("xpath", ".//button[text()='Details']").click()
    dialog = page.find_element("css selector", "dialog[open]")
    assert law in dialog.text
    assert "Rows" in dialog.text
    dialog.find_element("xpath", ".//button[text()='Close']").click()
    assert eventually(page, "document.querySelectorAll('dialog').length === 0")
    cell = page.find_element("css selector", ".matrix td[data-law]")
    run(page, "document.querySelector('.matrix').scrollIntoView()")
    cell.click()
    assert run(page, "document.querySelectorAll('dialog[open]').length") == 1
    assert run(page, "document.querySelectorAll('#orders .cross').length") > 0
    assert run(page, "document.querySelectorAll('.graph .box').length") > 1


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_stands_in_the_way_of_any_reader(page: Chrome, width: int, theme: str) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = {"name": "prefers-color-scheme", "value": theme}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    try:
        assert page.execute_script(CHECKS) == []
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_paper_has_laws_and_no_controls(page: Chrome) -> None:
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    run(page, "window.dispatchEvent(new Event('beforeprint'))")
    assert run(page, "getComputedStyle(document.querySelector('.controls')).display") == "none"
    assert run(page, "document.querySelectorAll('.only-print tbody tr').length") > 0
    assert run(page, "getComputedStyle(document.querySelector('.only-print')).display") == "block"
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_hostile_texts_are_shown_and_do_nothing(driver: Chrome, tmp_path: Path) -> None:
    table = hostile_table(tmp_path)
    names = tuple(lawful.profile(table).names)
    laws = [lawful.NamedLaw(FD((left,), right), names) for left, right in ((0, 1), (1, 0), (2, 0))]
    lawful.report(laws, table, out=tmp_path / "page.html")
    browsers.opened(driver, tmp_path / "page.html")
    assert driver.title == "hostile.csv: laws"
    assert run(driver, "document.querySelectorAll('img, b, script').length") == 2  # the data and the program
    text = run(driver, "document.body.innerText")
    assert "<img src=x onerror=" in text
    assert "\\u202eabc" in text
    assert "\u202e" not in text
    driver.find_element("css selector", "#broken .link").click()
    assert run(driver, "document.querySelectorAll('dialog img, dialog b').length") == 0
    assert browsers.complaints(driver) == []
    assert browsers.requests(driver) == [(tmp_path / "page.html").as_uri()]


def test_the_policy_stops_what_would_get_in(driver: Chrome, tax_page: Path) -> None:
    """A script that somebody put into the file has no hash, and an image has no place to come from."""
    browsers.opened(driver, tax_page)
    program = (
        "const s = document.createElement('script'); s.textContent = 'document.title = 1'; document.body.append(s)"
    )
    run(driver, f"(() => {{ {program} }})()")
    run(driver, "(() => { const i = new Image(); i.src = 'https://example.invalid/x.png'; })()")
    assert driver.title != "1"
    said = [entry["message"] for entry in browsers.complaints(driver)]
    assert sum("Content Security Policy" in message for message in said) == 2
    assert browsers.requests(driver) == [tax_page.absolute().as_uri()]


def test_long_lists_have_only_what_is_in_sight(driver: Chrome, tmp_path: Path) -> None:
    lawful.report(many_laws(20_000), out=tmp_path / "page.html")
    browsers.opened(driver, tmp_path / "page.html")
    assert run(driver, "document.querySelector('.told').textContent") == "20,000 laws"
    assert run(driver, "document.querySelectorAll('.grid-body .grid-row').length") < 100
    run(driver, "document.querySelector('.grid').focus()")
    press(driver, "\ue010")
    assert run(driver, "document.querySelector('.grid-row.active').dataset.number") == "19999"
    driver.find_element("id", "search").send_keys("column_07 column_31")
    found = shown_laws(driver)
    assert found
    assert all("column_07" in law and "column_31" in law for law in found)
    assert browsers.complaints(driver) == []


def test_a_state_shows_its_batches(driver: Chrome, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("id,zip,city\n1,10001,New York\n2,10001,New York\n")
    with lawful.make_state(tmp_path / "a.state", rows, pins="zip -> city") as state:
        for number in range(3, 6):
            rows.write_text(f"id,zip,city\n{number},{10000 + number % 3},{'Newark' if number == 4 else 'New York'}\n")
            state.apply(rows)
    lawful.report(tmp_path / "a.state", out=tmp_path / "page.html")
    browsers.opened(driver, tmp_path / "page.html")
    life = driver.find_element("id", "life")
    assert len(life.find_elements("css selector", "[aria-label=Batches] tbody tr")) == 3
    assert len(life.find_elements("css selector", ".curve")) == 3
    lives = life.find_elements("css selector", "[aria-label='Laws that came and went'] tbody tr")
    assert lives[0].text.startswith("zip -> city broken, pinned")
    assert "Newark" in driver.find_element("id", "broken").text
    assert driver.execute_script(CHECKS) == []
    assert browsers.complaints(driver) == []
