"use strict";
// Tables that sort, filter and download. Without JavaScript they are static, and as readable.
(() => {
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

  const value = (cell) => {
    if (!("value" in cell.dataset)) return cell.textContent;
    return cell.dataset.value === "" ? null : Number(cell.dataset.value);
  };

  // Rows without a value come last in either order.
  const compare = (a, b, way) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return way * (typeof a === "number" ? a - b : collator.compare(a, b));
  };

  const setUpSorting = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    heads.forEach((head, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      const first = head.classList.contains("number") ? "descending" : "ascending";
      button.addEventListener("click", () => {
        const other = { ascending: "descending", descending: "ascending" };
        const order = other[head.getAttribute("aria-sort")] ?? first;
        heads.forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", order);
        const way = order === "ascending" ? 1 : -1;
        const rows = [...body.rows].map((row) => [value(row.cells[place]), row]);
        rows.sort((one, two) => compare(one[0], two[0], way));
        body.append(...rows.map(([, row]) => row));
      });
    });
  };

  const setUpFilter = (input, output, table) => {
    const rows = [...table.tBodies[0].rows];
    const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
    const show = () => {
      const words = (input?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        row.hidden = !words.every((word) => texts.get(row).includes(word));
        shown += !row.hidden;
      }
      const all = `${rows.length} row${rows.length === 1 ? "" : "s"}`;
      output.textContent = shown === rows.length ? all : `${shown} of ${all}`;
    };
    input?.addEventListener("input", show);
    show();
  };

  // An apostrophe keeps a spreadsheet from running a name as a formula; so does _outputs.py.
  const number = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
  const safe = (text) => (/^'*[=+\-@\t\r]/.test(text) && !number.test(text) ? `'${text}` : text);
  const quote = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

  const asCsv = (table) => {
    const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
    const lines = [...table.tHead.rows, ...rows].map((row) =>
      [...row.cells].map((cell) => quote(safe(cell.dataset.value ?? cell.textContent.trim()))).join(",")
    );
    return lines.join("\r\n") + "\r\n";
  };

  const download = (text, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };

  for (const data of document.querySelectorAll(".data[data-file]")) {
    const table = data.querySelector("table");
    const tools = data.querySelector(".tools");
    setUpSorting(table);
    setUpFilter(tools.querySelector("input"), tools.querySelector("output"), table);
    tools
      .querySelector(".download")
      .addEventListener("click", () => download(asCsv(table), data.dataset.file));
    tools.hidden = false;
  }
})();
