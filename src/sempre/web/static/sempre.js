/* The script of the dashboard: live topics, shortcuts, selection. Every page works without it. */
"use strict";
(function () {
  const body = document.body;
  const find = (selector) => document.querySelector(selector);
  const all = (selector) => Array.from(document.querySelectorAll(selector));

  /* Live: a message names topics; live parts of the page fetch themselves again. */
  const button = find("[data-live-button]");
  const word = find("[data-live-word]");
  const TOPICS = ["runs", "schedules", "workers", "switches", "log"];
  let stream = null;
  let timer = null;
  let paused = false;

  function announce(topics) {
    topics.forEach((topic) => body.dispatchEvent(new Event("sempre:" + topic)));
  }
  function show(state, text) {
    if (!button) return;
    button.dataset.state = state;
    word.textContent = text;
    button.setAttribute("aria-pressed", String(!paused));
    button.setAttribute("aria-label", "Live updates: " + text);
  }
  function connect() {
    if (stream || timer || paused || document.hidden) return;
    if (body.dataset.live === "poll") {
      timer = setInterval(() => announce(TOPICS), 5000);
      show("on", "Live");
      return;
    }
    stream = new EventSource(body.dataset.stream);
    stream.onopen = () => show("on", "Live");
    stream.onerror = () => show("lost", "Reconnecting");
    stream.addEventListener("changed", (event) => announce(event.data.split(" ")));
  }
  function disconnect() {
    if (stream) stream.close();
    if (timer) clearInterval(timer);
    stream = timer = null;
  }
  function toggle() {
    paused = !paused;
    if (paused) {
      disconnect();
      show("off", "Paused");
    } else {
      connect();
      announce(TOPICS);
    }
  }
  if (button && find("[hx-trigger]")) {
    button.hidden = false;
    button.addEventListener("click", toggle);
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) {
        disconnect();
      } else if (!paused) {
        connect();
        announce(TOPICS);
      }
    });
    window.addEventListener("pagehide", disconnect);
    window.addEventListener("pageshow", connect);
    connect();
  }
  /* A part in which a person selects, types or reads is left alone. */
  body.addEventListener("htmx:beforeRequest", (event) => {
    const part = event.target;
    const chosen = part.querySelector("input:checked");
    const focused = part.contains(document.activeElement) && document.activeElement.matches("input, select, textarea");
    const text = String(window.getSelection());
    if (chosen || focused || text) event.preventDefault();
  });
  let opened = [];
  let focused = null;
  let at = -1;
  /* A control is the same one after an update if its words and its targets are the same. */
  function nameOf(control) {
    const form = control.closest("form");
    const target = form && form.querySelector("input[name=target]");
    return [control.tagName, control.getAttribute("href"), control.textContent, form && form.action, target && target.value].join(" ");
  }
  body.addEventListener("htmx:beforeSwap", (event) => {
    opened = all("details").map((each) => each.open);
    const active = document.activeElement;
    focused = event.target.contains(active) && active.matches("a, button, summary") ? nameOf(active) : null;
  });
  body.addEventListener("htmx:afterSettle", () => {
    const parts = all("details");
    if (parts.length === opened.length) parts.forEach((each, place) => { each.open = opened[place]; });
    mark(false);
    prepare();
    const again = focused && all("main a, main button, main summary").find((each) => nameOf(each) === focused);
    if (again) again.focus({ preventScroll: true });
    say();
  });
  /* What a page has to say, such as a new state, is read aloud once it changes. */
  const said = find("[data-said]");
  const news = () => all("[data-say]").map((each) => each.dataset.say).join(", ");
  let last = news();
  function say() {
    if (said && news() !== last) said.textContent = last = news();
  }
  ["htmx:responseError", "htmx:sendError"].forEach((name) =>
    body.addEventListener(name, () => show("lost", "No answer")));
  body.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.successful && !paused) show("on", "Live");
  });

  /* Rows: j and k move, Enter opens, x selects. */
  function mark(scroll) {
    const rows = all("[data-row]");
    rows.forEach((row, place) => row.classList.toggle("at", place === at));
    if (!scroll || !rows[at]) return;
    rows[at].scrollIntoView({ block: "nearest" });
    const link = rows[at].querySelector("[data-open]");
    if (link) link.focus({ preventScroll: true });
  }
  function move(by) {
    const count = all("[data-row]").length;
    if (!count) return;
    at = Math.max(0, Math.min(count - 1, at + by));
    mark(true);
  }
  function row() {
    return all("[data-row]")[at];
  }
  body.addEventListener("click", (event) => {
    const clicked = event.target.closest("[data-row]");
    if (!clicked || !clicked.dataset.href || event.target.closest("a, button, input, form, summary")) return;
    if (String(window.getSelection())) return;
    window.location.assign(clicked.dataset.href);
  });

  /* Selection of rows for acts on many. */
  function count() {
    const form = find("[data-bulk]");
    if (!form) return;
    const chosen = form.querySelectorAll("input[name=target]:checked").length;
    form.classList.toggle("has-chosen", chosen > 0);
    form.querySelectorAll(".bulk button").forEach((each) => { each.disabled = chosen === 0; });
    form.querySelector("[data-count]").textContent = chosen ? chosen + " selected:" : "Select rows to act on many at once.";
  }
  function prepare() {
    all("[data-all]").forEach((each) => { each.hidden = false; });
    all(".scroll, pre").forEach((each) => {
      /* A part that scrolls sideways is reached by the keyboard. */
      if (each.scrollWidth > each.clientWidth || each.scrollHeight > each.clientHeight) each.tabIndex = 0;
      else each.removeAttribute("tabindex");
    });
    count();
  }
  window.addEventListener("resize", prepare);
  body.addEventListener("change", (event) => {
    if (event.target.matches("[data-all]")) {
      all("[data-bulk] input[name=target]").forEach((each) => { each.checked = event.target.checked; });
    }
    if (event.target.matches("[data-zone]")) event.target.form.requestSubmit();
    count();
  });

  /* The zone of the browser is offered besides those of the server. */
  const zone = find("[data-zone]");
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone && own && !Array.from(zone.options).some((each) => each.value === own)) zone.add(new Option(own, own));

  /* Shortcuts. */
  const help = find("#shortcuts");
  const shortcuts = find("[data-shortcuts]");
  if (shortcuts) {
    shortcuts.hidden = false;
    shortcuts.addEventListener("click", () => help.showModal());
  }
  let leading = false;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input, select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (help && help.open) return;
    if (leading) {
      leading = false;
      const link = find('.pages [data-key="' + CSS.escape(event.key) + '"]');
      if (link) link.click();
      return;
    }
    const keys = {
      "/": () => find("[data-search]").focus(),
      "?": () => help.showModal(),
      g: () => { leading = true; },
      j: () => move(1),
      k: () => move(-1),
      l: () => button && !button.hidden && toggle(),
      x: () => {
        const box = row() && row().querySelector("input[type=checkbox]");
        if (box) { box.checked = !box.checked; count(); }
      },
      Enter: () => {
        const link = row() && !event.target.matches("a, button, summary") && row().querySelector("[data-open]");
        if (link) link.click();
      },
    };
    if (keys[event.key]) {
      if (event.key !== "Enter") event.preventDefault();
      keys[event.key]();
    }
  });
  document.documentElement.classList.add("with-script");
  const current = find(".pages [aria-current]");
  if (current) current.parentElement.scrollLeft = current.offsetLeft - current.parentElement.clientWidth / 2 + current.offsetWidth / 2;
  prepare();
})();
