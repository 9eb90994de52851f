import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseAst } from 'vite';
import manifest from '../../package.json' with { type: 'json' };

const root = resolve(import.meta.dirname, '../..');
const entries = Object.keys(manifest.exports)
  .filter((path) => !/\.(json|css)$/.test(path))
  .map((path) => path.slice(2) || 'index');

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** A source file, and where its documentation is looked up. */
interface Source {
  readonly text: string;
  readonly body: readonly Node[];
}

const sources = new Map<string, Source>();

function read(path: string): Source {
  let source = sources.get(path);
  if (!source) {
    const text = readFileSync(join(root, path), 'utf8');
    const { body } = parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }, path);
    sources.set(path, (source = { text, body: body as unknown as readonly Node[] }));
  }
  return source;
}

const isNode = (value: unknown): value is Node =>
  Object(value) === value && 'type' in Object(value);
const nodesOf = (value: unknown): readonly Node[] =>
  Array.isArray(value) ? value.filter(isNode) : [];
const nameOf = (value: unknown): string => {
  const { name, value: text } = value as { name?: string; value?: string };
  return name ?? text ?? '';
};

/** The documentation right before a place, without its stars; undefined where there is none. */
function docBefore(text: string, start: number): string | undefined {
  const before = text.slice(0, start).replace(/[\s|(]*$/, '');
  if (!before.endsWith('*/')) return undefined;
  const comment = before.slice(before.lastIndexOf('/*'), -2);
  if (!comment.startsWith('/**')) return undefined;
  return comment
    .slice(3)
    .replaceAll(/^[ \t]*\* ?/gm, '')
    .trim();
}

/** Code on as few lines as it has meaning for, without its comments. */
const codeOf = (text: string): string =>
  text
    .replaceAll(/\/\*\*.*?\*\//gs, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replaceAll(/\breadonly (?=\w+\??:)/g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/([(<[]) /g, '$1')
    .replaceAll(/,? ([)>\]])/g, '$1')
    .replaceAll(/([=:]) \| /g, '$1 ')
    .trim();

interface Doc {
  readonly text: string;
  readonly tags: readonly (readonly [tag: string, text: string])[];
}

function parseDoc(doc = ''): Doc {
  const [text = '', ...rest] = doc.split(/(?:^|\s)@(?=(?:param|returns|throws|default|example)\b)/);
  const tags = rest.map((tag): [string, string] => {
    const [, name = '', value = ''] = /^(\w+)\s*(.*)$/s.exec(tag) ?? [];
    return [name, clean(value)];
  });
  return { text: clean(text), tags };
}

const clean = (text: string): string => text.replaceAll(/\{@link (\w+)\}/g, '`$1`').trim();

const kinds: Readonly<Record<string, string>> = {
  param: 'Parameter',
  returns: 'Returns',
  throws: 'Throws',
  default: 'Default',
};

/** Samples of one page compile together; those of the types compile with what they take as given, elsewhere. */
const fence = (text: string): string =>
  text
    .split(/(```.*?```)/s)
    .map((part) => (part.startsWith('```') ? part : unwrap(part)))
    .join('')
    .replaceAll('```tsx\n', '```jsx\n')
    .replaceAll('```ts\n', '```typescript\n');

/** Paragraphs on one line each. */
const unwrap = (text: string): string => text.replaceAll(/(?<=[^\n|])\n(?=[^\n|-])/g, ' ');

function renderDoc({ text, tags }: Doc): string[] {
  const said = tags.map(([tag, value]) =>
    tag === 'example' ? value : `${kinds[tag]}: ${value.replace(/^(\w+) - /, '`$1`: ')}`,
  );
  return [text, ...said].filter(Boolean).map(fence);
}

const indent = (text: string): string => text.replaceAll(/\n(?=.)/g, '\n  ');

/** A member of an interface or a class, as an item of a list. */
function renderMember(member: Node, { text }: Source): string[] {
  const { accessibility, key, static: isStatic, kind, override: isOverride } = member;
  const isHidden = accessibility === 'private' || isStatic || kind === 'constructor';
  if (isHidden || (isNode(key) && key.type === 'PrivateIdentifier')) return [];
  const doc = docBefore(text, member.start);
  if (!doc && isOverride) return [];
  const value = member['value'];
  // Of a class, without what is in it.
  const end = isNode(value) ? bodyStart(value) : member.end;
  const code = codeOf(text.slice(member.start, end))
    .replace(/^(?:declare |override |readonly )+/, '')
    .replace(/^get (\w+)\(\)/, '$1')
    .replace(/ ?[;=]? ?$/, '')
    .replace(/^(\w+\?: .*) \| undefined$/, '$1');
  const { text: said, tags } = parseDoc(doc);
  const isDefault = ([tag]: readonly [string, string]): boolean => tag === 'default';
  const standard = tags.find(isDefault)?.[1];
  const [first = '', ...more] = renderDoc({
    text: said,
    tags: tags.filter((tag) => !isDefault(tag)),
  });
  const told = standard === undefined ? first : `${first} Default: ${asCode(standard)}.`.trim();
  return [indent([`- \`${code}\`${told && `: ${told}`}`, ...more].join('\n\n'))];
}

/** A default is a value, or words. */
const asCode = (text: string): string =>
  /^[\w'.-]+$|^\[\]$/.test(text) && text !== 'none' ? `\`${text}\`` : text;

const bodyStart = (node: Node): number => (isNode(node['body']) ? node['body'].start : node.start);

/** A member of a union that has documentation of its own: a value, or an event by its type. */
function renderCase(part: Node, { text }: Source): string[] {
  const doc = docBefore(text, part.start);
  if (doc === undefined) return [];
  const code = codeOf(text.slice(part.start, part.end));
  const { type, fields } =
    /type: (?<type>'[\w:-]+');? ?(?<fields>.*?);? \}/.exec(code)?.groups ?? {};
  const label = type ?? code;
  const others = (fields ?? '').split('; ').filter(Boolean);
  const has = others.length > 0 ? ` It has ${others.map((one) => `\`${one}\``).join(', ')}.` : '';
  return [indent(`- \`${label}\`: ${fence(clean(doc))}${has}`)];
}

/** What is exported under a name, in the words of its source. */
function renderExport(name: string, path: string): string {
  const source = read(path);
  const declarations = source.body.filter(({ type, declaration }) => {
    if (type !== 'ExportNamedDeclaration' || !isNode(declaration)) return false;
    const [variable] = nodesOf(declaration['declarations']);
    return nameOf(variable?.['id'] ?? declaration['id']) === name;
  });
  const [first] = declarations;
  if (!first) throw new Error(`${path} does not declare ${name}`);
  const doc = declarations.map(({ start }) => docBefore(source.text, start)).find(Boolean);
  if (doc === undefined) throw new Error(`${name} in ${path} has no documentation`);
  const parts = [`## \`${name}\``, ...renderDoc(parseDoc(doc))];
  const declared = declarations.map(({ declaration }) => declaration as Node);
  // The implementation of an overloaded function is not one of its signatures.
  const overloads = declared.filter(({ type }) => type === 'TSDeclareFunction');
  const shown = overloads.length > 0 ? overloads : declared;
  const signature = shown.map((one) => signatureOf(one, source)).filter(Boolean);
  if (signature.length > 0) parts.splice(1, 0, `\`\`\`typescript\n${signature.join('\n')}\n\`\`\``);
  const [declaration] = shown;
  const annotation = declaration?.['typeAnnotation'];
  const body = declaration?.['body'];
  const members = isNode(body) ? nodesOf(body['body']) : [];
  const isType = declaration?.type !== 'FunctionDeclaration';
  if (isType) parts.push(members.flatMap((member) => renderMember(member, source)).join('\n'));
  if (isNode(annotation) && annotation.type === 'TSUnionType')
    parts.push(
      nodesOf(annotation['types'])
        .flatMap((one) => renderCase(one, source))
        .join('\n'),
    );
  if (isNode(annotation) && annotation.type === 'TSTypeLiteral')
    parts.push(
      nodesOf(annotation['members'])
        .flatMap((one) => renderMember(one, source))
        .join('\n'),
    );
  return parts.filter(Boolean).join('\n\n');
}

function signatureOf(declaration: Node, { text }: Source): string {
  const { type, start, end, body, declarations } = declaration;
  const [variable] = nodesOf(declarations);
  if (isNode(variable?.['id']))
    return codeOf(`const ${text.slice(variable['id'].start, variable['id'].end)}`);
  const annotation = declaration['typeAnnotation'];
  const hasList = isNode(annotation) && annotation.type !== 'TSTypeLiteral';
  const hasCases = hasList && /\/\*\*/.test(text.slice(annotation.start, annotation.end));
  if (type === 'TSTypeAliasDeclaration')
    return hasList && !hasCases ? codeOf(text.slice(start, end)) : '';
  const code = codeOf(text.slice(start, isNode(body) ? body.start : end)).replace(/;$/, '');
  // What is told of an interface or a class is its members.
  if (type === 'FunctionDeclaration' || type === 'TSDeclareFunction') return code;
  return code.includes(' extends ') ? code : '';
}

/** The pages of docs/reference, by entry: made from the documentation of all that they export. */
export function makeReference(): ReadonlyMap<string, string> {
  // An export of several entries is on the page of the first.
  const documented = new Set<string>();
  const pages = entries.map((entry): [page: string, text: string] => {
    const path = `src/${entry}.ts`;
    const exported = read(path).body.flatMap(({ source, specifiers }) =>
      nodesOf(specifiers).map(({ exported: own }): [string, string] => [
        nameOf(own),
        join(dirname(path), nameOf(source)),
      ]),
    );
    const fresh = exported.filter(([name, file]) => !documented.has(`${name} ${file}`));
    for (const [name, file] of fresh) documented.add(`${name} ${file}`);
    const texts = fresh
      .toSorted(([one], [other]) => one.localeCompare(other, 'en'))
      .map(([name, file]) => renderExport(name, file));
    const id = entry === 'index' ? 'steadfetch' : `steadfetch/${entry}`;
    return [pageOf(entry), `${[`# \`${id}\``, ...texts].join('\n\n')}\n`];
  });
  const lists = pages.map(([page, text]) => {
    const [entry, ...names] = [...text.matchAll(/^##? `(.*)`$/gm)].map(([, name = '']) => name);
    const links = names.map((name) => `[\`${name}\`](${page}#${name.toLowerCase()})`);
    return `## [\`${entry}\`](${page})\n\n${links.join(', ')}`;
  });
  return new Map([['README.md', `${[head, ...lists].join('\n\n')}\n`], ...pages]);
}

const pageOf = (entry: string): string =>
  `${entry === 'index' ? 'steadfetch' : entry.replace('/', '-')}.md`;

const head = `# Reference

Everything that the package exports, by the entry it is imported from. \`npm run reference\` makes these pages from the documentation in the types, which your editor shows, too. Where an option can be given, and which value counts, is on the page about [default options](../retry/default-options.md#where-an-option-is-given); what a request belongs to on that about [APIs](../apis.md).`;

const stopRulesSection =
  /(?<=<!-- npm run reference writes this table -->\n\n).*?(?=\n\n<!-- end -->)/s;

/** docs/retry/rules.md with its table of stop rules, made from their list in the code. */
export function makeRulesPage(): string {
  const { text, body } = read('src/core/policy/decide.ts');
  const lists = body.flatMap(({ declarations }) => nodesOf(declarations));
  const list = lists.find(({ id }) => nameOf(id) === 'stopRules')?.['init'];
  const rules = isNode(list) ? nodesOf(list['elements']) : [];
  const rows = rules.map((rule, index) => {
    const [reason] = nodesOf(rule['elements']);
    const doc = unwrap(docBefore(text, rule.start) ?? '');
    const [, name, why] = /^(.*?): (.*)$/.exec(doc) ?? [];
    return `| ${index + 1} | ${name} | \`${nameOf(reason)}\` | ${why} |`;
  });
  const table = ['| no. | rule | `reason` | when |', '|---|---|---|---|', ...rows].join('\n');
  return readFileSync(join(root, 'docs/retry/rules.md'), 'utf8').replace(
    stopRulesSection,
    () => table,
  );
}

if (import.meta.main) {
  rmSync(join(root, 'docs/reference'), { recursive: true, force: true });
  mkdirSync(join(root, 'docs/reference'));
  for (const [page, text] of makeReference())
    writeFileSync(join(root, 'docs/reference', page), text);
  writeFileSync(join(root, 'docs/retry/rules.md'), makeRulesPage());
}
