"""Uses a page of `kvo view` in headless Chromium: page.py FOLDER, which has avalanche.html, shop.html, hostile.html, graph.html and large.html.

Leaves pictures in FOLDER. Each step is a sentence that has to be true.
"""

import pathlib
import re
import sys

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

folder = pathlib.Path(sys.argv[1]).resolve()
options = webdriver.ChromeOptions()
for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1280,860"):
    options.add_argument(argument)
options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def run(script, *arguments):
    return driver.execute_script(script, *arguments)


def must(sentence, holds):
    try:
        WebDriverWait(driver, 20).until(lambda _: holds())
    except Exception:
        driver.save_screenshot(str(folder / "failed.png"))
        raise SystemExit(f"page.py: {sentence}: not within 20 s; the page is in {folder / 'failed.png'}")


def open_page(name):
    driver.get(f"file://{folder / name}")
    must(f"the graph of {name} is drawn", lambda: run("return document.body.dataset.drawn") == "true")
    must(f"{name} loads nothing", lambda: run("return performance.getEntriesByType('resource').length") == 0)
    errors = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    if errors:
        raise SystemExit(f"page.py: {name}: the browser reports: {errors}")


def picture(name, dark=False):
    theme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": theme})
    run("return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    driver.save_screenshot(str(folder / name))


def text(selector):
    return driver.find_element(By.CSS_SELECTOR, selector).get_attribute("textContent")


def selected_nodes():
    return set(run("return [...document.querySelectorAll('svg .node.selected')].map(node => node.id)"))


def slice_named(name):
    return run("""const { data } = kvoView, { slices, strings } = data;
                  return slices.text.findIndex((text, i) => strings[text] === arguments[0] && slices.length[i] > 0)""", name)


def node_named(name):
    return run("return kvoView.data.nodes.findIndex(node => node.name === arguments[0])", name)


def click_slice(number):
    left, top, width, height = run("return kvoView.rectangle(arguments[0])", number)
    canvas = driver.find_element(By.ID, "slices")
    size = canvas.size
    x, y = left + width / 2 - size["width"] / 2, top + height / 2 - size["height"] / 2
    ActionChains(driver).move_to_element_with_offset(canvas, round(x), round(y)).click().perform()


# The labels that the line of an arrow from a node to itself goes through.
CROSSED = """
    const { edges } = kvoView.data, labels = [...document.querySelectorAll("svg .edge text")];
    return edges.flatMap((edge, i) => {
      const path = edge.from === edge.to && document.querySelector("#edge-" + i + " path");
      if (!path) return [];
      const points = Array.from({ length: 101 }, (_, k) => path.getPointAtLength(path.getTotalLength() * k / 100));
      return labels.filter((label) => {
        const box = label.getBBox();
        return points.some(({ x, y }) => x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height);
      }).map((label) => label.textContent);
    });"""

try:
    open_page("avalanche.html")
    must("the avalanche is the first finding", lambda: "set Shop.taxRate → 1\u202f325 notifications" in text("#findings .card.hot .big"))
    must("it names the line that made the set", lambda: "raiseTaxes" in text("#findings .card.hot .muted") and "Avalanche.swift:" in text("#findings .card.hot .muted"))
    must("its cause names what multiplies", lambda: "each “set Invoice.total” notifies 26 observers" in text("#findings .cause"))
    must("what is set again and again is named", lambda: "Invoice.total of one object" in text("#findings"))
    picture("page.png")
    picture("page-dark.png", dark=True)
    picture("page.png")

    item, invoice, window = (f"node-{node_named(name)}" for name in ("Item", "Invoice", "Window"))
    must("nothing is selected at first", lambda: selected_nodes() == set())
    click_slice(run("""const { slices, strings } = kvoView.data; let best = -1;
                       slices.text.forEach((text, i) => { if (strings[text] === "set Invoice.total" && (best < 0 || slices.length[i] > slices.length[best])) best = i });
                       return best"""))
    must("a click on a slice selects its object in the graph", lambda: selected_nodes() == {invoice})
    must("and what it is because of is listed", lambda: "Because of" in text("#details") and "set Shop.taxRate" in text("#details"))
    must("and what it notifies", lambda: "Notifies" in text("#details"))
    picture("slice.png")

    steps = driver.find_elements(By.CSS_SELECTOR, "#findings .card.hot ol.steps:not(.branches) li")
    must("the avalanche has a step for each kind of slice on the way", lambda: len(steps) == 8)
    must("and marks those that multiply", lambda: len(driver.find_elements(By.CSS_SELECTOR, "#findings .card.hot li.multiplies")) == 2)
    steps[5].click()
    must("a click on a step selects the observer and its object, and the arrow between them", lambda: selected_nodes() == {item, invoice}
         and len(driver.find_elements(By.CSS_SELECTOR, "svg .edge.selected.observes")) == 1)
    must("and describes the slice", lambda: "Avalanche.swift:22" in text("#details"))
    picture("step.png")

    run("document.getElementById(arguments[0]).dispatchEvent(new MouseEvent('click', { bubbles: true }))", window)
    must("a click on a node selects it and lists its slices", lambda: selected_nodes() == {window} and "650 slices" in text("#details"))
    must("those of one name in one row", lambda: [row.text for row in driver.find_elements(By.CSS_SELECTOR, "#details summary .n")] == ["625 ×", "25 ×"])
    driver.find_element(By.CSS_SELECTOR, "#details summary").click()
    must("which opens", lambda: len(driver.find_elements(By.CSS_SELECTOR, "#details details[open] > div.row")) == 40 and "585 shorter ones" in text("#details"))
    driver.find_element(By.CSS_SELECTOR, "#details div.row").click()
    must("a click on one of these selects it", lambda: window in selected_nodes() and run("return kvoView.selection.slice") >= 0)
    edge = driver.find_element(By.CSS_SELECTOR, "svg .edge.sets")
    run("arguments[0].dispatchEvent(new MouseEvent('click', { bubbles: true }))", edge)
    must("a click on an arrow lists the sets it stands for", lambda: " sets " in text("#details h2") and "slices" in text("#details"))

    field = driver.find_element(By.ID, "search")
    field.send_keys("invoice")
    must("a search selects the nodes and counts the slices that match", lambda: selected_nodes() == {invoice} and text("#matches") == "50 slices")
    field.send_keys(Keys.BACKSPACE * 7)
    driver.find_element(By.TAG_NAME, "body").send_keys(Keys.ESCAPE)
    must("escape clears the selection", lambda: selected_nodes() == set() and "Nothing is selected" in text("#details"))
    before = run("return kvoView.rectangle(0)[2]")
    canvas = driver.find_element(By.ID, "slices")
    run("arguments[0].dispatchEvent(new WheelEvent('wheel', { deltaY: -400, bubbles: true, cancelable: true }))", canvas)
    must("the wheel zooms the timeline", lambda: run("return kvoView.rectangle(0)[2]") > before * 1.5)

    open_page("shop.html")
    must("the first text is the finding", lambda: text("#findings").startswith("Avalanchesset Settings.rate → 1\u202f400 notifications"))
    must("steps and branches have all notifications", lambda: "400 more notifications on other branches:" in text("#findings .card.hot")
         and sum(int(row.text.split(" ×")[0]) for row in driver.find_elements(By.CSS_SELECTOR, "#findings .card.hot ol.steps li") if "notified" in row.text) == 1400)
    must("each set that notifies several observers is marked", lambda: [row.text.split("\n")[1:] for row in driver.find_elements(By.CSS_SELECTOR, "li.multiplies")]
         == [["set Settings.rate", "notifies 200 observers"], ["set Order.total", "each notifies 2 observers"], ["set Report.revenue", "each notifies 2 observers"]])
    repeated = [row.text.split("\n") for row in driver.find_elements(By.CSS_SELECTOR, "#findings .card.hot ol.repeated li")]
    must("what is set again and again is on the card, with what it costs", lambda: [
        "It sets Report.revenue of one object 200 times: 400 notifications; once would be 2", "by: Report (App.swift:40) is notified of total"] in
        [[" ".join(row[:-1]), row[-1]] for row in repeated])
    must("one is not many", lambda: not re.search(r"\b1 (notification|slice|observer|set)s\b", text("body main")) and "1 notification" in text("svg"))
    driver.find_element(By.CSS_SELECTOR, "#findings .card.hot ol.steps li").click()
    must("the first step marks the code that made the set, and its arrow", lambda: selected_nodes() == {f"node-{node_named('raise_rate')}", f"node-{node_named('Settings')}"}
         and [edge.text.strip() for edge in driver.find_elements(By.CSS_SELECTOR, "svg .edge.selected")] == ["sets rate"])

    field = driver.find_element(By.ID, "search")
    field.send_keys("revenue")
    must("a search lists the slices by name, and marks arrows", lambda: text("#matches") == "600 slices" and "Found: revenue" in text("#details")
         and len(driver.find_elements(By.CSS_SELECTOR, "#details summary")) == 2 and len(driver.find_elements(By.CSS_SELECTOR, "svg .edge.selected")) == 2)
    first = slice_named("set Report.revenue")
    field.send_keys(Keys.ENTER)
    must("Enter selects the first", lambda: run("return kvoView.selection.slice") == first and text("#matches") == "1 of 600 slices")
    field.send_keys(Keys.ENTER)
    must("and then the next", lambda: run("return kvoView.selection.slice") == first + 1 and text("#matches") == "2 of 600 slices")
    field.send_keys(Keys.SHIFT, Keys.ENTER)
    must("with Shift the one before", lambda: run("return kvoView.selection.slice") == first)
    field.send_keys(Keys.ESCAPE)
    must("escape ends the search", lambda: text("#matches") == "" and "Nothing is selected" in text("#details"))
    picture("shop.png")
    for width, height in ((1280, 860), (1900, 640)):
        driver.set_window_size(width, height)
        open_page("shop.html")
        must("no arrow from a node to itself crosses a label", lambda: run(CROSSED) == [])
        picture(f"shop-{width}.png")
    driver.set_window_size(1280, 860)

    open_page("hostile.html")
    must("text of the program is shown as text", lambda: "<script>hit = 1</script>" in text("#findings") and run("return typeof hit") == "undefined")
    must("also in the graph", lambda: "<script>" in text("svg"))
    must("a fault is shown first", lambda: text("#findings .card.hot") == "KVO0002 error: <b>no such</b>")
    picture("hostile.png")

    open_page("graph.html")
    must("a graph alone is drawn without a timeline", lambda: len(driver.find_elements(By.CSS_SELECTOR, "svg .node")) == 4)

    open_page("large.html")
    must("of a large trace the page says what it leaves out", lambda: "slices are not drawn" in text("#findings"))
    must("each class is one node", lambda: "Row ×10\u202f000" in text("svg").replace("\u00a0", " "))
    picture("large.png")
finally:
    driver.quit()
print("The page leads from a slice to the graph and back")
