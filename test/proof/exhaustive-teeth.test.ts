import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { type Edit, plant, project } from '../faults/plant.ts'
import { tellHistory } from './crash-history.ts'

/** The proof as it is, on sources with a bug in them. */
async function prove(edits: readonly Edit[], ...runs: readonly (readonly string[])[]) {
  const { flags, env } = await plant(edits)
  return runs.map((args) => {
    const all = [...flags, 'test/proof/exhaustive.ts', ...args]
    const { status, stdout, stderr } = spawnSync(process.execPath, all, { cwd: project, env, encoding: 'utf8' })
    return { status, text: stdout + stderr }
  })
}

describe('the proof has teeth', () => {
  it('a bug that one crash shows is caught', async () => {
    const [singles] = await prove(
      [
        {
          file: 'src/agent/step-runner.ts',
          find: 'let last: Attempt | undefined = begun && {',
          replace: 'let last: Attempt | undefined = begun && undefined && {',
        },
      ],
      ['--singles', 'agent/w2'],
    )
    expect(singles?.text).toMatch(/rule 4: .*\n {2}crashes: agent\/.*\n {2}tell it again: node .* --history \d+\n/)
    expect(singles?.status).toBe(1)
  })

  it('a bug that only a second crash shows is caught by the pairs, and its history can be told again', async () => {
    const { points } = await tellHistory({ crashes: [] })
    const begun = points.findIndex(
      ({ victim, what }) => victim === 'agent/w2' && /^after rename .*-script\.inprogress/.test(what),
    )
    const again: Edit = {
      file: 'src/agent/step-runner.ts',
      find: '    await folder.begin(index, begun)\n  } catch',
      replace: '    if (starts === 1) await folder.begin(index, begun)\n  } catch',
    }
    const [singles, pairs] = await prove([again], ['--singles', 'agent/w2'], ['--first', String(begun)])
    expect(singles).toMatchObject({ status: 0, text: expect.stringContaining('0 violations') })
    expect(pairs?.status).toBe(1)
    const history = /rule 4: .*\n {2}crashes: .*\n {2}tell it again: node .* --history (\d+,\d+)\n/.exec(
      pairs?.text ?? '',
    )
    expect(history, pairs?.text).not.toBeNull()
    const [told] = await prove([again], ['--history', history?.[1] ?? ''])
    expect(told?.text).toMatch(/killed at .*: agent\/w2 after rename .*\nkilled at .*: agent\/w2 /)
    expect(told?.text).toMatch(/rule 4: w2/)
    expect(told?.status).toBe(1)
  })
})
