// What HTML and htmx cannot do by themselves: ages that grow, and words of a lost connection.
(() => {
  "use strict";

  /** Return how long ago a moment was, as `labctl status` says it. */
  function age(moment) {
    const seconds = Math.max(0, Math.floor((Date.now() - moment) / 1000));
    if (seconds < 120) return `${seconds} s ago`;
    if (seconds < 7200) return `${Math.floor(seconds / 60)} min ago`;
    return `${Math.floor(seconds / 3600)} h ago`;
  }

  function showAges() {
    for (const element of document.querySelectorAll("time[datetime]")) {
      const moment = Date.parse(element.dateTime);
      element.title = new Date(moment).toISOString();
      const text = age(moment);
      if (element.textContent !== text) element.textContent = text;
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    showAges();
    setInterval(showAges, 1000);
  });
  document.addEventListener("htmx:after:swap", showAges);

  // A slider counts a table's commits; its last place is the present.
  document.addEventListener("input", (event) => {
    const form = event.target.closest("form.moment");
    if (!form || event.target.type !== "range") return;
    const instants = form.dataset.instants.split(" ").filter(Boolean);
    const instant = instants[event.target.valueAsNumber] ?? "";
    form.elements.at.value = instant;
    const shown = instant ? words(instant) : "now";
    form.querySelector("output").value = shown;
    event.target.setAttribute("aria-valuetext", shown);
  });

  /** Return an instant of Hudi as people read it: 20261129063709656 is 2026-11-29 06:37:09.656. */
  function words(instant) {
    const part = (from, to) => instant.slice(from, to);
    return `${part(0, 4)}-${part(4, 6)}-${part(6, 8)} ` +
      `${part(8, 10)}:${part(10, 12)}:${part(12, 14)}.${part(14, 17)}`;
  }

  function say(words) {
    let bar = document.getElementById("lost");
    if (words && !bar) {
      bar = document.createElement("p");
      bar.id = "lost";
      bar.className = "error bad";
      bar.setAttribute("role", "alert");
      document.querySelector("main").prepend(bar);
    }
    if (bar) bar.remove();
    if (words) {
      bar.textContent = words;
      document.querySelector("main").prepend(bar);
    }
  }
  const lost = "The page's server does not answer: what is below is as it was. `labctl ui` starts it.";
  for (const name of ["htmx:sse:error", "htmx:error"]) {
    document.addEventListener(name, (event) => {
      // A request that a newer one has replaced is no error.
      if (event.detail?.error?.name !== "AbortError") say(lost);
    });
  }
  for (const name of ["htmx:sse:after:connection", "htmx:after:request"]) {
    document.addEventListener(name, () => say(""));
  }

  // The end of a log is what happened last. Who reads further up stays there.
  let isRead = false;
  document.addEventListener("htmx:before:swap", () => {
    const log = document.querySelector("pre.log");
    isRead = log !== null && log.scrollTop + log.clientHeight < log.scrollHeight - 8;
  });
  document.addEventListener("htmx:after:swap", () => {
    const log = document.querySelector("pre.log");
    if (log && !isRead) log.scrollTop = log.scrollHeight;
  });
})();
