// The findings of the page of `kvo view`, on the left: faults, avalanches, lists, and what the page leaves out.
"use strict";
/** Adds the findings to an element. `clickable(element, slice)` makes an element select a slice. */
function showFindings({ findings, slices, remarks }, place, clickable, { make, number, some, time }) {
  const heading = (title, note) => {
    place.append(make("h2", "", title));
    if (note) place.append(make("p", "note", note));
  };
  const list = (title, note, all, amount) => {
    if (all.length === 0) return;
    heading(title, note);
    for (const each of all) {
      const row = make("div", "row");
      row.append(make("span", "n", amount(each)));
      const what = make("span", "", each.text);
      if (each.detail) what.append(make("small", "", each.detail));
      row.append(what);
      clickable(row, each.slice);
      place.append(row);
    }
  };
  if (findings.faults.length > 0) {
    heading("Faults");
    for (const fault of findings.faults) {
      const card = make("div", "card hot");
      card.append(make("div", "fault", fault.detail || fault.text));
      clickable(card, fault.slice);
      place.append(card);
    }
  }
  if (findings.avalanches.length > 0) {
    heading("Avalanches");
    findings.avalanches.forEach((each, index) => {
      const card = make("div", index === 0 ? "card hot" : "card");
      card.append(make("div", "big", each.title + " → " + some(each.most, "notification")));
      const facts = [each.by ? "made by " + each.by : "", each.sets > 1 ? number(each.sets) + " such sets, " + some(each.notifications, "notification") : "", time(each.time)];
      card.append(make("div", "muted", facts.filter((fact) => fact).join(" · ")));
      if (each.cause) card.append(make("p", "cause", each.cause));
      if (each.repeated.length > 0) {
        const all = make("ol", "repeated");
        each.repeated.slice(0, 3).forEach((row) => {
          const one = row.objects === 1, item = make("li");
          item.append(make("span", "", "It sets " + row.property + " of " + (one ? "one object " : some(row.objects, "object") + " ") + number(row.sets) + " times: "
            + some(row.notifications, "notification") + "; once" + (one ? "" : " each") + " would be " + (row.isExact ? "" : "at most ") + number(row.once)), make("small", "", row.by ? "by: " + row.by : ""));
          clickable(item, row.slice);
          all.append(item);
        });
        card.append(all);
        if (each.repeated.length > 3) card.append(make("p", "note", "and " + number(each.repeated.length - 3) + " more properties again and again"));
      }
      const steps = make("ol", "steps"), branches = make("ol", "steps branches");
      const step = (list, count, what, slice, fan) => {
        const item = make("li", fan ? "multiplies" : ""), words = make("span", "", what);
        if (fan) words.append(make("small", "", (count > 1 ? "each " : "") + fan));
        item.append(make("span", "n", number(count) + " ×"), words);
        clickable(item, slice);
        list.append(item);
      };
      each.steps.forEach((e) => step(steps, e.count, e.text, e.slice, e.multiplies && e.fan));
      card.append(steps);
      const sum = (all) => all.reduce((n, e) => n + e.count, 0), most = 6;
      if (each.others.length > 0) {
        card.append(make("div", "muted", some(sum(each.others), "more notification") + " " + (each.isCut ? "after these steps and " : "") + "on other branches:"), branches);
        each.others.slice(0, most).forEach((e) => step(branches, e.count, e.text, e.slice));
        if (each.others.length > most) card.append(make("p", "note", "and " + number(sum(each.others.slice(most))) + " of " + some(each.others.length - most, "other kind")));
      }
      place.append(card);
    });
    place.append(make("p", "note", "Outermost sets that cause the most notifications. The steps lead from the set to most of them; a red step multiplies. Click a step."));
  } else if (slices.text.length > 0) {
    heading("Avalanches", "None: no outermost set causes 20 notifications or more.");
  }
  list("Set again and again", "Within one outermost set, only the last of these values remains. Most sets of one object first.", findings.repeated, (e) => number(e.count) + " ×");
  if (findings.circles.length > 0) {
    heading("Circles", "An observer sets what it is notified of, itself or through others. Red in the graph.");
    findings.circles.forEach((steps, index) => place.append(make("div", "card", index + 1 + ": " + steps)));
  }
  list("Busiest observers", "Most calls first. The time is that of their own code.", findings.observers.map((e) => ({ ...e, detail: [time(e.time), e.detail].filter((t) => t).join(" · ") })), (e) => number(e.count) + " ×");
  list("Widest sets", "The most observers that one set calls directly.", findings.widest, (e) => number(e.count));
  if (remarks.length > 0) heading("About this page");
  for (const remark of remarks) place.append(make("p", "note", remark));
}
