/** What answers are made of, by what is asked: what is of another shape is not shown as if nothing were there. */

/** Each item of a list is of this kind. @param {string} items @returns {(read: any) => boolean} */
const listOf = (items) => (read) => Array.isArray(read) && read.every((each) => kindOf(each) === items);

/** An object with members of these kinds, and others. @param {Record<string, string>} members @returns {(read: any) => boolean} */
const objectWith = (members) => (read) => kindOf(read) === "object" && Object.entries(members).every(([name, kind]) => kindOf(read[name]) === kind);

/** An object with one of these members at least. @param {string[]} members @returns {(read: any) => boolean} */
const objectWithAny = (...members) => (read) => kindOf(read) === "object" && members.some((name) => read[name] !== undefined);

const SCHEMA = objectWith({ schema: "string" });
const PART = objectWith({ found: "list" });
const OBJECTS = listOf("object");
const NAMES = listOf("string");

/** The first pattern that fits a path without its query counts. @type {[RegExp, (read: any) => boolean][]} */
const SHAPES = [
  [/^subjects$/, NAMES],
  [/^subjects\/[^/]+\/versions$/, listOf("number")],
  [/^subjects\/[^/]+\/versions\/[^/]+$/, objectWith({ schema: "string", version: "number" })],
  [/^subjects\/[^/]+\/history$/, OBJECTS],
  [/^subjects\/[^/]+\/usage$/, objectWith({ versions: "list", limits: "list" })],
  [/^subjects\/[^/]+\/diff\/[^/]+\/[^/]+$/, objectWith({ changes: "list", backward: "object", forward: "object" })],
  [/^schemas\/(ids|guids)\/[^/]+$/, SCHEMA],
  [/^schemas\/(ids|guids)\/[^/]+\/(versions|ids)$/, OBJECTS],
  [/^config(\/[^/]+)?$/, objectWithAny("compatibilityLevel", "alias", "normalize", "compatibilityGroup", "compatibilityPolicy", "validateFields", "validateRules", "defaultMetadata", "overrideMetadata", "defaultRuleSet", "overrideRuleSet", "aliasForDeks")],
  [/^mode(\/[^/]+)?$/, objectWith({ mode: "string" })],
  [/^settings$/, OBJECTS],
  [/^zones$/, OBJECTS],
  [/^associations\//, OBJECTS],
  [/^dek-registry\/v1\/keks\/[^/]+\/deks$/, NAMES],
  [/^v1\/metadata\/version$/, objectWith({ version: "string" })],
  [/^console\/api\/subjects$/, OBJECTS],
  [/^console\/api\/subjects\/[^/]+\/fields\/[^/]+$/, OBJECTS],
  [/^console\/api\/subjects\/[^/]+\/verdict$/, objectWith({ accepted: "boolean", problems: "list" })],
  [/^console\/api\/search$/, objectWith({ found: "list", searched: "number" })],
  [/^console\/api\/(contexts|settings|keks|associations|ids\/[^/]+)$/, PART],
  [/^console\/api\/graph$/, objectWith({ subject: "string", nodes: "list", edges: "list" })],
  [/^console\/api\/decode$/, objectWith({ bytes: "string" })],
  [/^console\/api\/(log|keys)$/, OBJECTS],
  [/^console\/api\/keys\/[^/]+\/use$/, objectWith({ key: "string" })],
  [/^console\/api\/regions$/, objectWith({ role: "string", waiting: "list" })],
  [/^console\/api\/regions\/other$/, objectWithAny("url", "region", "why", "lacking")],
];

/** @param {any} value */
function kindOf(value) {
  if (Array.isArray(value)) return "list";
  return value === null ? "null" : typeof value;
}

/** Whether an answer is what a page can show that has asked for a path. @param {string} path with its query @param {any} read */
export function isOfShape(path, read) {
  const asked = path.split("?")[0];
  const [, fits] = SHAPES.find(([pattern]) => pattern.test(asked)) ?? [];
  return fits ? fits(read) : true;
}
