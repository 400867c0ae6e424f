"""Uses the monitor's page in headless Chromium: page.py ADDRESS PID PICTURE. PID is a process named sleep."""

import os
import signal
import sys

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

address, pid, picture = sys.argv[1:]
options = webdriver.ChromeOptions()
for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,1300"):
    options.add_argument(argument)
options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def text(identifier):
    return driver.find_element(By.ID, identifier).get_attribute("textContent")


def rows():
    # In one step: the page replaces its rows at each sample.
    return driver.execute_script("return [...document.querySelectorAll('#rows tr')].map(r => r.cells[0].textContent)")


def wait(what, condition):
    try:
        WebDriverWait(driver, 20).until(lambda _: condition())
    except Exception:
        driver.save_screenshot(picture)
        raise SystemExit(f"page.py: {what}: not within 20 s; the page is in {picture}")


def click_row(number):
    driver.execute_script(
        "[...document.querySelectorAll('#rows tr')].find(r => r.cells[0].textContent === arguments[0]).click()", number)


try:
    driver.get(address)
    wait("the page is connected", lambda: text("live") == "live")
    wait("all processes are shown", lambda: len(rows()) > 3 and text("title").endswith("processes"))
    wait("the history grows", lambda: driver.find_element(By.ID, "cpu-line").get_attribute("d").count("L") >= 5)
    wait("the axes have their times", lambda: driver.find_element(By.CLASS_NAME, "since").text.endswith(" s ago"))
    wait("a process is selected from the start", lambda: text("d-command") or text("d-state"))

    field = driver.find_element(By.ID, "filter")
    field.send_keys(pid)
    wait("the filter has reached the model, and the rows the page", lambda: rows() and all(r.startswith(pid) for r in rows()))
    click_row(pid)
    wait("the detail follows the selection", lambda: text("d-command").startswith("sleep 7532"))
    field.send_keys(Keys.BACKSPACE * len(pid))
    wait("all processes are shown again", lambda: len(rows()) > 3)
    driver.find_element(By.CSS_SELECTOR, "th[data-column=pid] button").click()
    wait("the order follows", lambda: rows() == sorted(rows(), key=int))

    wait("a sample is recorded", lambda: "calls of observers" in text("cost") and "set Machine.samples" in text("steps"))
    wait("the observations are listed", lambda: "ServerEvents.swift" in text("observed"))
    driver.save_screenshot(picture)

    os.kill(int(pid), signal.SIGTERM)
    wait("a process that has ended leaves the page", lambda: pid not in rows() and "sleep 7532" not in text("d-command"))
    errors = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    if errors:
        raise SystemExit(f"page.py: the browser reports: {errors}")
finally:
    driver.quit()
print("The page follows the machine and the user")
