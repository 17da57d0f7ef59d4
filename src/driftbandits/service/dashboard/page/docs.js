// Every call of /openapi.json, with a form to try it. Swagger UI would come from another server: not offline, and with the reader's key.

const root = document.documentElement;
root.dataset.theme = localStorage.getItem("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

function element(name, text = "", attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

let api = {};
const resolved = schema => (schema?.$ref ? resolved(schema.$ref.slice(2).split("/").reduce((at, step) => at[step], api)) : schema ?? {});
const choices = schema => schema.anyOf ?? schema.oneOf ?? schema.allOf;

function kind(given) {
  const schema = resolved(given);
  if (choices(schema)) return choices(schema).map(kind).join(" or ");
  if (schema.enum) return schema.enum.map(value => JSON.stringify(value)).join(", ");
  if (schema.type === "array") return `list of ${kind(schema.items)}`;
  return schema.type ?? "any";
}

function example(given, depth = 0) {
  const schema = resolved(given);
  if (schema.examples) return schema.examples[0];
  if (schema.default !== undefined) return schema.default;
  if (choices(schema)) return example(choices(schema)[0], depth);
  if (schema.enum) return schema.enum[0];
  if (schema.type === "array") return depth > 4 ? [] : [example(schema.items, depth + 1)];
  if (schema.type === "object") {
    const wanted = schema.required ?? Object.keys(schema.properties ?? {});
    return Object.fromEntries(wanted.map(name => [name, example(schema.properties[name], depth + 1)]));
  }
  return { string: "…", integer: 1, number: 1, boolean: false }[schema.type] ?? null;
}

function table(rows) {
  const made = element("table");
  made.append(...rows.map(cells => {
    const line = element("tr");
    line.append(...cells.map(text => element("td", text)));
    return line;
  }));
  return made;
}

function fieldsOf(given) {
  const schema = resolved(given);
  const inner = resolved(schema.type === "array" ? schema.items : choices(schema)?.[0] ?? schema);
  return Object.entries(inner.properties ?? {}).map(([name, field]) => {
    const must = (inner.required ?? []).includes(name) ? "required" : `default ${JSON.stringify(resolved(field).default ?? null)}`;
    return [name, kind(field), must, resolved(field).description ?? ""];
  });
}

function form(method, path, parameters, body) {
  const made = element("form");
  const inputs = parameters.map(one => {
    const label = element("label", `${one.name} `);
    const input = element("input", "", { name: one.name, placeholder: one.required ? "required" : JSON.stringify(one.schema?.default ?? "") });
    label.append(input);
    made.append(label);
    return [one, input];
  });
  const text = element("textarea", body ? JSON.stringify(example(body), null, 1) : "", { "aria-label": "Body" });
  if (body) made.append(text);
  const answer = element("pre", "", { class: "answer" });
  made.append(element("button", "Try it", { type: "submit" }), answer);
  made.addEventListener("submit", async event => {
    event.preventDefault();
    const query = new URLSearchParams();
    let place = path;
    for (const [one, input] of inputs) {
      if (one.in === "path") place = place.replace(`{${one.name}}`, encodeURIComponent(input.value));
      else if (input.value) query.set(one.name, input.value);
    }
    const asked = { method: method.toUpperCase(), ...(body ? { body: text.value, headers: { "content-type": "application/json" } } : {}) };
    try {
      const given = await fetch(`${place}${query.size ? `?${query}` : ""}`, asked);
      answer.textContent = `${given.status}\n${await given.text()}`;
    } catch (problem) {
      answer.textContent = problem.message;
    }
  });
  return made;
}

function call(path, method, told) {
  const made = element("details", "", { class: "card", id: `${method}${path}` });
  const head = element("summary");
  head.append(element("b", method.toUpperCase()), element("code", path), element("span", told.summary ?? ""));
  const body = told.requestBody?.content?.["application/json"]?.schema;
  made.append(head, element("p", told.description ?? ""));
  if (body) made.append(table(fieldsOf(body)));
  made.append(element("h3", "Answers"), table(Object.entries(told.responses).map(([status, one]) => [status, one.description])));
  made.append(form(method, path, told.parameters ?? [], body));
  return made;
}

async function start() {
  api = await (await fetch("/openapi.json")).json();
  const groups = new Map();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, told] of Object.entries(methods)) {
      const group = told.tags?.[0] ?? "other";
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push(call(path, method, told));
    }
  }
  for (const [group, calls] of groups) document.getElementById("calls").append(element("h2", group), ...calls);
  document.getElementById("status").textContent = `version ${api.info.version}. ${api.info.description}`;
}

start().catch(problem => { document.getElementById("status").textContent = problem.message; });
