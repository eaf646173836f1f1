// What the pretend machines really ran, from their own disks.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const executionSchema = z.object({ order: z.string(), step: z.string(), pid: z.int(), bootId: z.string() })

export interface RanStep {
  readonly node: string
  readonly order: string
  readonly step: string
  /** How many different processes ran it. */
  readonly times: number
}

/** Every step of every order on every node of these state folders, with how often it was really run. */
export function ranSteps(stateDirs: readonly string[]): readonly RanStep[] {
  return stateDirs.flatMap((dir) =>
    existsSync(dir) ? readdirSync(dir).flatMap((node) => stepsOf(node, join(dir, node, 'executions.jsonl'))) : [],
  )
}

function stepsOf(node: string, path: string): RanStep[] {
  const processes = new Map<string, Set<string>>()
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
  for (const line of lines) {
    const { order, step, pid, bootId } = executionSchema.parse(JSON.parse(line))
    const key = `${order} ${step}`
    processes.set(key, (processes.get(key) ?? new Set()).add(`${bootId} ${pid}`))
  }
  return [...processes].map(([key, pids]) => {
    const [order = '', step = ''] = key.split(' ')
    return { node, order, step, times: pids.size }
  })
}
