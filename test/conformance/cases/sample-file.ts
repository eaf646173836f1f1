// Not a driver of the product: the smallest one that has everything, to prove the suite itself.

import { z } from 'zod'
import type { Driver, Step } from '../../../src/agent/drivers/driver.ts'
import { type ConformanceCase, contentOf } from '../conformance-case.ts'

const path = '/etc/sample.conf'
const wanted = 'after\n'
const attributes = { mode: 0o644, owner: 'root', group: 'root' }
const noteSchema = z.strictObject({ content: z.string().optional() })

const writeStep: Step = {
  name: 'write-file',
  disruptive: false,
  attempts: 1,
  holds: async ({ host }) => (await host.files.read(path)) === wanted,
  act: async ({ host, notes }) => {
    const content = await host.files.read(path)
    if (!(await notes.read('before', noteSchema)))
      await notes.write('before', { ...(content !== undefined && { content }) })
    await host.files.write(path, wanted, attributes)
  },
  missing: async ({ host }) => ((await host.files.read(path)) === wanted ? undefined : `${path} is not as wanted`),
}

const restoreStep: Step = {
  name: 'restore-file',
  disruptive: false,
  attempts: 1,
  act: async ({ host, notes }) => {
    const before = await notes.read('before', noteSchema)
    if (before?.content === undefined) await host.files.remove(path)
    else await host.files.write(path, before.content, attributes)
  },
}

const fileDriver: Driver = {
  name: 'script',
  concerns: ({ work }) => work.script !== undefined,
  inspect: async ({ host }) => ({ content: (await host.files.read(path)) ?? null }),
  steps: () => [writeStep],
  undo: { possible: true, steps: () => [restoreStep] },
}

export const conformanceCase: ConformanceCase = {
  name: 'sample file',
  driver: fileDriver,
  isSample: true,
  setUp: async (bed) => {
    const machine = await bed.machine()
    await machine.writeFile(path, 'before\n')
    return machine
  },
  order: () => Promise.resolve({ work: { script: contentOf('') } }),
  isDone: async (machine) => (await machine.readFile(path)) === wanted,
}
