// The layer table of docs/architecture.md is only worth what the linter refuses: each row is planted once, both ways.

import { beforeAll, describe, expect, test } from 'vitest'
import { type Finding, lint, lintPlanted, repository } from './planted-tree.ts'

const imports = 'lint/style/noRestrictedImports'
const globals = 'lint/style/noRestrictedGlobals'

interface Plant {
  readonly what: string
  readonly at: string
  readonly source: string
  readonly rule: string
}

function forbiddenImport(at: string, from: string): Plant {
  return {
    what: `${at} imports ${from}`,
    at,
    source: `import { x } from '${from}'\nexport const y = x\n`,
    rule: imports,
  }
}

const forbidden: readonly Plant[] = [
  forbiddenImport('src/api/a1.ts', '../core/x.ts'),
  forbiddenImport('src/api/a2.ts', 'yaml'),
  forbiddenImport('src/core/ledger/a1.ts', '../../kube/x.ts'),
  forbiddenImport('src/core/a2.ts', 'node:fs'),
  forbiddenImport('src/core/a3.ts', 'pino'),
  forbiddenImport('src/core/a4.ts', '../ports/x.ts'),
  forbiddenImport('src/ports/a1.ts', '../kube/x.ts'),
  forbiddenImport('src/ports/a2.ts', 'node:http'),
  forbiddenImport('src/kube/a1.ts', '../core/x.ts'),
  forbiddenImport('src/kube/a2.ts', 'node:http'),
  forbiddenImport('src/kube/a3.ts', './http/x.ts'),
  forbiddenImport('src/kube/http/a3.ts', 'pino'),
  forbiddenImport('src/kube/http/a4.ts', '../../adapters/clock/x.ts'),
  forbiddenImport('src/adapters/clock/a1.ts', '../../operator/x.ts'),
  forbiddenImport('src/operator/a1.ts', '../agent/x.ts'),
  forbiddenImport('src/operator/drain/a2.ts', '../../kube/http/x.ts'),
  forbiddenImport('src/operator/a3.ts', '../sim/x.ts'),
  forbiddenImport('src/operator/a4.ts', 'node:crypto'),
  forbiddenImport('src/agent/a1.ts', '../operator/x.ts'),
  forbiddenImport('src/agent/drivers/a2.ts', 'node:fs/promises'),
  forbiddenImport('src/agent/a3.ts', '../adapters/host/x.ts'),
  forbiddenImport('src/deployer/a1.ts', '../kube/x.ts'),
  forbiddenImport('src/hub/a1.ts', '../operator/x.ts'),
  forbiddenImport('src/web/a1.ts', '../hub/x.ts'),
  forbiddenImport('src/console/a1.ts', '../core/x.ts'),
  forbiddenImport('src/cli/a1.ts', '../kube/x.ts'),
  forbiddenImport('src/cli/a2.ts', 'node:fs'),
  forbiddenImport('src/sim/a1.ts', '../operator/x.ts'),
  forbiddenImport('src/sim/a2.ts', '../kube/http/x.ts'),
  forbiddenImport('src/main/a1.ts', '../../test/bed/x.ts'),
  {
    what: 'an import in the middle of the code',
    at: 'src/operator/b1.ts',
    source: `export const later = () => import('../cli/x.ts')\n`,
    rule: imports,
  },
  {
    what: 'a port uses a value of core',
    at: 'src/ports/b1.ts',
    source: `import { x } from '../core/x.ts'\nexport const y = x\n`,
    rule: 'plugin',
  },
  {
    what: 'the simulator borrows a decision of core',
    at: 'src/sim/b1.ts',
    source: `import { x } from '../core/x.ts'\nexport const y = x\n`,
    rule: 'plugin',
  },
  {
    what: 'a cycle',
    at: 'src/core/b1.ts',
    source: `import { two } from './b2.ts'\nexport const one = () => two\n`,
    rule: 'lint/suspicious/noImportCycles',
  },
  {
    what: 'a cycle of types',
    at: 'src/core/b3.ts',
    source: `import type { Four } from './b4.ts'\nexport interface Three { readonly four: Four }\n`,
    rule: 'lint/suspicious/noImportCycles',
  },
  { what: 'Date.now in core', at: 'src/core/c1.ts', source: 'export const now = () => Date.now()\n', rule: 'plugin' },
  { what: 'new Date() in core', at: 'src/core/c2.ts', source: 'export const now = () => new Date()\n', rule: 'plugin' },
  { what: 'chance in core', at: 'src/core/c3.ts', source: 'export const dice = () => Math.random()\n', rule: 'plugin' },
  {
    what: 'an async function in core',
    at: 'src/core/c4.ts',
    source: '/** Says one. */\nasync function one(): Promise<number> {\n  return 1\n}\nexport const two = one\n',
    rule: 'plugin',
  },
  {
    what: 'an async method in core',
    at: 'src/core/c5.ts',
    source: 'export class One {\n  static async two() {}\n}\n',
    rule: 'plugin',
  },
  { what: 'a promise in core', at: 'src/core/c6.ts', source: 'export const x = Promise.resolve(1)\n', rule: globals },
  { what: 'process in core', at: 'src/core/c7.ts', source: 'export const x = () => process.pid\n', rule: globals },
  { what: 'a timer in the operator', at: 'src/operator/c1.ts', source: 'setTimeout(() => 1, 5)\n', rule: globals },
  {
    what: 'env in the agent',
    at: 'src/agent/c1.ts',
    source: 'export const x = () => process.env.HOME\n',
    rule: globals,
  },
  { what: 'a hidden timer', at: 'src/kube/c1.ts', source: 'export const x = AbortSignal.timeout(1)\n', rule: 'plugin' },
  {
    what: 'a way round by globalThis',
    at: 'src/sim/c1.ts',
    source: 'globalThis.setTimeout(() => 1, 5)\n',
    rule: 'plugin',
  },
  {
    what: 'env in an adapter',
    at: 'src/adapters/clock/c1.ts',
    source: 'export const x = process.env\n',
    rule: 'lint/style/noProcessEnv',
  },
  {
    what: 'a promise nobody waits for',
    at: 'src/operator/d1.ts',
    source: 'async function work(): Promise<void> {}\nexport function start(): void {\n  work()\n}\n',
    rule: 'lint/nursery/noFloatingPromises',
  },
  {
    what: 'any',
    at: 'src/cli/d2.ts',
    source: 'export const x = (y: any) => y\n',
    rule: 'lint/suspicious/noExplicitAny',
  },
  {
    what: 'an error swallowed',
    at: 'src/cli/d3.ts',
    source: 'export function quiet(work: () => void): void {\n  try {\n    work()\n  } catch {}\n}\n',
    rule: 'plugin',
  },
  {
    what: 'a rejection swallowed',
    at: 'src/cli/d5.ts',
    source: 'export const quiet = (work: Promise<void>) => work.catch(() => {})\n',
    rule: 'plugin',
  },
  {
    what: 'a file named in another way',
    at: 'src/cli/camelCase.ts',
    source: 'export const x = 1\n',
    rule: 'lint/style/useFilenamingConvention',
  },
  { what: 'a barrel', at: 'src/cli/d4.ts', source: `export * from './x.ts'\n`, rule: 'lint/performance/noBarrelFile' },
]

/** What the table allows, folder by folder; `x.ts` of each layer stands for any file of it. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'src/api/ok.ts': ['zod', './x.ts'],
  'src/core/ledger/ok.ts': ['../../api/x.ts', '../x.ts', 'semver', 'yaml'],
  'src/kube/ok.ts': ['../api/x.ts', '../ports/x.ts', './x.ts'],
  'src/kube/http/ok.ts': ['../../api/x.ts', '../../ports/x.ts', '../x.ts', 'node:http', 'node:tls'],
  'src/adapters/clock/ok.ts': ['../../api/x.ts', '../../core/x.ts', '../../ports/x.ts', 'node:fs/promises', 'pino'],
  'src/operator/drain/ok.ts': ['../../api/x.ts', '../../core/x.ts', '../../ports/x.ts', '../../kube/x.ts', '../x.ts'],
  'src/agent/ok.ts': ['../api/x.ts', '../core/x.ts', '../ports/x.ts', '../kube/x.ts'],
  'src/cli/ok.ts': ['../api/x.ts', '../core/x.ts', '../ports/x.ts', 'commander'],
  'src/sim/ok.ts': ['../api/x.ts', '../ports/x.ts', '../kube/x.ts', 'zod'],
  'src/main/ok.ts': ['../cli/x.ts', '../sim/x.ts', '../operator/x.ts', '../kube/http/x.ts', 'pino', 'node:process'],
}

const inOrder: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(allowed).map(([at, sources]) => [
      at,
      `${sources.map((from, i) => `import { x as x${i} } from '${from}'\n`).join('')}export const y = [${sources.map((_, i) => `x${i}`).join(', ')}]\n`,
    ]),
  ),
  'src/ports/types.ts': `import type { X } from '../core/x.ts'\nexport type Y = X\n`,
  'src/sim/types.ts': `import type { X } from '../core/x.ts'\nexport type Y = X\n`,
  'src/core/instant.ts': 'export const later = (now: number) => new Date(now + 1)\n',
  'src/operator/hash.ts': `import { createHash } from 'node:crypto'\nexport const hash = createHash\n`,
  'src/cli/colour.ts': `import { styleText } from 'node:util'\nexport const colour = styleText\n`,
  'src/kube/x.test.ts': `import { x } from '../core/x.ts'\nsetTimeout(() => x, Date.now())\n`,
}

const layerFolders = [
  'api',
  'core',
  'ports',
  'kube',
  'kube/http',
  'agent',
  'operator',
  'cli',
  'sim',
  'hub',
  'adapters/clock',
  'adapters/host',
]

function targets(): Readonly<Record<string, string>> {
  const files = layerFolders.map((layer) => [`src/${layer}/x.ts`, 'export const x = 1\nexport type X = typeof x\n'])
  return {
    ...Object.fromEntries(files),
    'src/core/b2.ts': `import { one } from './b1.ts'\nexport const two = () => one\n`,
    'src/core/b4.ts': `import type { Three } from './b3.ts'\nexport interface Four { readonly three: Three }\n`,
    'test/bed/x.ts': 'export const x = 1\n',
  }
}

describe('the layer rules', () => {
  let findings: readonly Finding[] = []

  beforeAll(async () => {
    const planted = Object.fromEntries(forbidden.map(({ at, source }) => [at, source]))
    findings = await lintPlanted({ ...targets(), ...planted, ...inOrder })
  })

  test.each(forbidden)('refuse: $what', ({ at, rule }) => {
    expect(findings.filter(({ file }) => file === at).map((finding) => finding.rule)).toContain(rule)
  })

  test.each(Object.keys(inOrder))('accept what the table allows: %s', (at) => {
    expect(findings.filter(({ file }) => file === at)).toEqual([])
  })

  test('accept the house as it is', async () => {
    expect(await lint(repository, ['src', 'test'])).toEqual([])
  })
})
