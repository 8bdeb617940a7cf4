// Faults that a glance at this page shows; `longest` is the most letters of a word that must stay whole.
(longest) => {
  const faults = [];
  const name = (element) => {
    const at = element.closest("[id]");
    return `${at ? `#${at.id} ` : ""}${element.tagName.toLowerCase()}${element.className ? `.${String(element.className).split(" ")[0]}` : ""}`;
  };
  const shown = (element) => element.checkVisibility({ checkVisibilityCSS: true, contentVisibilityAuto: true })
    && !element.closest(".unseen, .skip, svg, [aria-hidden=true], select, textarea");
  const clips = new Map();
  const clip = (element) => {  // the part of the page in which an element can be seen
    if (!element || element === document.body) return { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
    if (!clips.has(element)) {
      const around = clip(element.parentElement);
      const own = element.getBoundingClientRect();
      const cut = getComputedStyle(element).overflow !== "visible" && getComputedStyle(element).display !== "inline";
      clips.set(element, cut ? { left: Math.max(own.left, around.left), top: Math.max(own.top, around.top),
        right: Math.min(own.right, around.right), bottom: Math.min(own.bottom, around.bottom) } : around);
    }
    return clips.get(element);
  };
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const element = text.parentElement;
    if (!text.data.trim() || !shown(element)) continue;
    const range = document.createRange();
    for (const { 0: word, index } of text.data.matchAll(/[\p{L}\p{N}_]+/gu)) {
      if (word.length > longest) continue;
      range.setStart(text, index); range.setEnd(text, index + word.length);
      const rows = new Set([...range.getClientRects()].filter((box) => box.width > 0).map((box) => Math.round(box.top)));
      if (rows.size > 1) faults.push(`${name(element)}: '${word}' is broken over ${rows.size} lines`);
    }
    range.selectNodeContents(text);
    const part = clip(element);
    for (const whole of range.getClientRects()) {
      const box = { left: Math.max(whole.left, part.left), top: Math.max(whole.top, part.top),
        right: Math.min(whole.right, part.right), bottom: Math.min(whole.bottom, part.bottom), height: whole.height };
      if (box.right - box.left > 1 && box.bottom - box.top > 1) boxes.push({ node: text, element, box, text: text.data.trim().slice(0, 30) });
    }
  }
  boxes.sort((a, b) => a.box.top - b.box.top);
  boxes.forEach((one, i) => {
    for (let j = i + 1; j < boxes.length && boxes[j].box.top < one.box.bottom - 3; j++) {
      const other = boxes[j];
      if (other.node === one.node) continue;
      const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      const down = one.box.bottom - other.box.top;
      const floats = (element) => element.closest(".top, #status, dialog");
      if (across > 2 && down > Math.min(one.box.height, other.box.height) / 2 && floats(one.element) === floats(other.element))
        faults.push(`${name(one.element)}: '${one.text}' lies over ${name(other.element)} '${other.text}'`);
    }
  });
  for (const chart of document.querySelectorAll(".chart")) {
    const edge = chart.getBoundingClientRect();
    const texts = [...chart.querySelectorAll("svg text")].filter((one) => one.textContent.trim()).map((one) => ({ text: one.textContent, box: one.getBoundingClientRect() }));
    texts.forEach(({ text, box }, i) => {
      if (box.left < edge.left - 1 || box.right > edge.right + 1) faults.push(`chart ${chart.dataset.chart}: '${text}' is cut off`);
      for (const other of texts.slice(i + 1)) {
        const across = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
        const down = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
        if (across > 2 && down > 4) faults.push(`chart ${chart.dataset.chart}: '${text}' lies over '${other.text}'`);
      }
    });
  }
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 2) {  // a chart rounds its width up to whole pixels
    const past = [...document.body.querySelectorAll("*")].filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest("svg"));
    faults.push(`the page is ${wide} px wider than its window: ${past.slice(0, 3).map(name).join(", ")}`);
  }
  return [...new Set(faults)].slice(0, 20);
}
