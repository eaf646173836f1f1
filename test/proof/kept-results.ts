import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Result, type ResultName, type Results, resultSchemas, type WrittenResult } from './results.ts'

const repository = join(import.meta.dirname, '../..')
const folder = join(repository, 'docs/proof')

/** `make reliability` shows it. */
export function keepResult<Name extends ResultName>(name: Name, result: WrittenResult<Name>): void {
  const text = `${JSON.stringify(resultSchemas[name].parse(result), null, 2)}\n`
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.json`), text)
}

/** Of every proof; undefined where it was not run yet. */
export function keptResults(): Results {
  return {
    'fault-runs': keptResult('fault-runs'),
    exhaustive: keptResult('exhaustive'),
    preview: keptResult('preview'),
    why: keptResult('why'),
    'api-server': keptResult('api-server'),
    requests: keptResult('requests'),
    'requests-ha': keptResult('requests-ha'),
    bench: keptResult('bench'),
    'large-plan': keptResult('large-plan'),
  }
}

function keptResult<Name extends ResultName>(name: Name): Result<Name> | undefined {
  let text: string
  try {
    text = readFileSync(join(folder, `${name}.json`), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  return resultSchemas[name].parse(JSON.parse(text)) as Result<Name>
}

/** The short hash of HEAD, with a "+" where the tree is not what was committed. Ask before a long run, not after it. */
export function commitOfTree(): string {
  const head = git('rev-parse', '--short', 'HEAD')
  // Results of proofs that ran before this one change nothing in what is proven.
  const changes = git('status', '--porcelain', '--', '.', ':!docs/proof', ':!docs/reliability.md')
  return head === undefined ? 'unknown' : `${head}${changes === '' ? '' : '+'}`
}

/** Undefined where the tree was unpacked without its history, or there is no git. */
function git(...args: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd: repository, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

/** As results have it. */
export function today(): string {
  return new Date().toISOString().slice(0, 10)
}
