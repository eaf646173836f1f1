import { describe, expect, it } from 'vitest'
import { scriptOrder } from '../../../test/agent/agent-bench.ts'
import { StepBench } from '../../../test/agent/step-bench.ts'
import type { Content } from '../../api/work.ts'
import { sha256 } from '../journal/sealed-file.ts'
import { scriptDriver } from './script.ts'

const contentOf = (text: string): Content => ({
  configMap: 'tune',
  namespace: 'slipway-system',
  sha256: sha256(text),
})

async function stage(script: string, validate?: string) {
  const bench = new StepBench(
    scriptOrder({
      work: {
        script: { ...contentOf(script), ...(validate !== undefined && { validate: contentOf(validate) }) },
      },
    }),
  )
  for (const text of [script, validate ?? '']) await bench.context.content.keep(text)
  return scriptDriver.stage?.(bench.context, bench.signal)
}

describe('a script', () => {
  it.each(['#!/bin/sh\ntrue\n', 'true\n', '#!/bin/sh -e\nprintf "a\\r\\n"\n', '#!/usr/bin/env python3\nprint()\r\n'])(
    '%j is staged',
    async (script) => expect(await stage(script)).toBeUndefined(),
  )

  // The kernel takes the end of the line for a part of the interpreter's name.
  it('whose first line ends as on Windows is refused while the node still works', async () => {
    const refused = { code: 'ToolMissing', message: expect.stringContaining('"/bin/bash\\r"') }
    expect(await stage('#!/bin/bash\r\ntrue\r\n')).toMatchObject(refused)
    expect(await stage('#!/bin/sh\ntrue\n', '#!/bin/bash\r\ntrue\r\n')).toMatchObject(refused)
  })
})
