// Asks `slipway why` in the middle of a story, as a person would at a terminal.

import { expect } from 'vitest'
import type { ReasonCode } from '../../src/api/reason.ts'
import type { Finding } from '../../src/cli/why/finding.ts'
import { cliFixture } from '../cli/cli-fixture.ts'
import { FakeKubeApi } from '../fakes/fake-kube-api.ts'
import type { Story, StoryOptions } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'
import { shop } from './story-person.ts'

/** Of whom, which code must be the cause, and what its sentence must name. */
export interface Question {
  readonly of: string | ((cluster: StoryCluster) => string)
  readonly code: ReasonCode
  readonly names: RegExp
}

export interface Situation {
  readonly name: string
  readonly options?: Partial<StoryOptions>
  readonly arrange: (story: Story) => Promise<unknown>
  readonly asked: readonly Question[]
}

export async function askAll(story: Story, { asked }: Situation): Promise<void> {
  for (const question of asked) await ask(story, question)
}

async function ask({ cluster }: Story, { of, code, names }: Question): Promise<void> {
  const { sim } = cluster
  const subject = typeof of === 'string' ? of : of(cluster)
  const api = sim.client('asker')
  const cli = cliFixture(new FakeKubeApi(), { connect: async () => api, clock: sim.clock })
  expect(await cli.run('why', subject, '--output', 'json'), cli.err.text).toBe(0)
  const [answer] = JSON.parse(cli.out.text) as readonly {
    readonly cause: Finding
    readonly findings: readonly Finding[]
  }[]
  expect(answer?.cause, JSON.stringify(answer?.findings, null, 1)).toMatchObject({ code })
  expect(answer?.cause.text).toMatch(names)
  expect(answer?.cause.advice).not.toBe('')
}

/** A pod of the shop whose name begins so, on that node where one is given. */
export function podOf(app: string, node?: string): (cluster: StoryCluster) => string {
  return (cluster) => {
    const places = node === undefined ? cluster.names : [node]
    const found = places
      .flatMap((name) => cluster.sim.podsOn(name))
      .find(({ metadata }) => metadata.namespace === shop && metadata.name.startsWith(app))
    if (!found) throw new Error(`no pod ${app} on ${node ?? 'any node'}`)
    return `${shop}/${found.metadata.name}`
  }
}
