"""axe-core, which finds violations of WCAG and of good practice in the page of a browser.

    assert violations(browser) == []

It is one of the npm packages of the example's clients.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from selenium.webdriver import Chrome

from tests.clients import npm

# Every rule except experimental ones, and the size of buttons (WCAG 2.2), which is off by default.
# Colours change gradually after a change of the colour scheme.
_RUN = """
const [known, done] = arguments;
const rules = {"target-size": {enabled: true}};
const isNew = (rule, node) =>
    !known[rule.id] || !document.querySelector(node.target[0]).matches(known[rule.id]);
Promise.allSettled(document.getAnimations().map(animation => animation.finished))
    .then(() => axe.run({rules, resultTypes: ["violations"]}))
    .then(result => done(result.violations.flatMap(rule => rule.nodes
        .filter(node => isNew(rule, node))
        .map(node => `${rule.id}: ${node.target} ${node.html} ${node.failureSummary}`))))
    .catch(wrong => done([String(wrong)]));
"""


@cache
def _source() -> str:
    return (npm.packages() / "axe-core" / "axe.min.js").read_text()


def violations(browser: Chrome, *, known: Mapping[str, str] | None = None) -> list[str]:
    """Each with its rule, the selector of the element and what is wrong with it. `known` has rules
    that do not hold, each with a selector of the elements."""
    browser.execute_script(_source())
    found: list[str] = browser.execute_async_script(_RUN, dict(known or {}))
    return found
